"""Helpers of the tests of reading and writing, as fixtures."""

import pytest
from PIL import Image

from enhg import InputError


@pytest.fixture(scope="session")
def refuses():
    """Run an action; it must raise an InputError of one line that contains all parts."""

    def run(action, *parts, parameter=None):
        with pytest.raises(InputError) as caught:
            action()
        message = str(caught.value)
        assert "\n" not in message
        for part in parts:
            assert part in message
        if parameter is not None:
            assert caught.value.parameter == parameter
        return message

    return run


@pytest.fixture(scope="session")
def save_image():
    def save(path, array, **options):
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(array).save(path, **options)
        return path

    return save


@pytest.fixture(scope="session")
def cut():
    """Truncate a file."""

    def truncate(path, keep=0.6):
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * keep)])
        return path

    return truncate


@pytest.fixture(scope="session")
def write_csv():
    def write(folder, text, **options):
        path = folder / "a.csv"
        path.write_text(text, **options)
        return path

    return write
