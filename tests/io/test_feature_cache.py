"""The cache: what is known is not opened, damage is passed over, processes do not disturb it."""

import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from enhg._npz import write_archive
from enhg.io import FeatureCache
from enhg.io.images import ReadImage

RECIPE = {"model": "hog", "version": 1}


def image_of(file, n_features=5):
    """Values that depend on the contents of a file only."""
    digest = sha256(file.read_bytes()).hexdigest()
    seed = int(digest[:8], 16)
    vector = np.random.default_rng(seed).normal(size=n_features).astype(np.float32)
    return ReadImage(vector, digest[: 10 + seed % 20].encode(), digest, (seed % 97, seed % 89))


def assert_same(cached, expected):
    np.testing.assert_array_equal(cached.value, expected.value)
    assert cached.value.dtype == np.float32
    assert cached.thumbnail == expected.thumbnail
    assert (cached.digest, cached.size) == (expected.digest, expected.size)


def fill(cache, files, recipe=RECIPE):
    """What a run does: look up, compute what is missing, add it; the number that was missing."""
    missing = [
        file
        for file, image in zip(files, cache.lookup(files, recipe), strict=True)
        if image is None
    ]
    cache.add(missing, [image_of(file) for file in missing], recipe)
    return len(missing)


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    paths = [folder / f"{i} é.jpg" for i in range(20)]
    for i, path in enumerate(paths):
        path.write_bytes(bytes([i]) * (100 + i // 2))
    return paths


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out" / "cache"


@pytest.fixture
def opened(monkeypatch):
    """Images that are opened."""
    paths = []
    original = Path.open

    def recording(path, *arguments, **options):
        if path.suffix == ".jpg":
            paths.append(path)
        return original(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", recording)
    return paths


def test_second_run_opens_nothing(files, folder, opened):
    assert fill(FeatureCache(folder), files) == 20
    opened.clear()
    images = FeatureCache(folder).lookup(files, RECIPE)
    assert not opened
    for cached, file in zip(images, files, strict=True):
        assert_same(cached, image_of(file))


def test_new_images_add_only_themselves(files, folder):
    assert fill(FeatureCache(folder), files[:10]) == 10
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert fill(FeatureCache(folder), files) == 10
    assert fill(FeatureCache(folder), files) == 0
    assert all((folder / name).read_bytes() == data for name, data in before.items())
    assert len(list(folder.iterdir())) == 2 * len(before)  # archives of many images


def test_another_recipe_shares_nothing_but_files(files, folder):
    fill(FeatureCache(folder), files)
    assert fill(FeatureCache(folder), files, {"model": "hog", "version": 2}) == 20
    moved = {"model": "onnx", "file": "/a/m.onnx", "sha256": "1"}
    fill(FeatureCache(folder), files, moved)
    assert fill(FeatureCache(folder), files, {**moved, "file": "/b/m.onnx"}) == 0


def test_rows_keep_their_types(files, folder):
    """Pixels of 8 bits beside deeper ones."""
    cache = FeatureCache(folder)
    cache.lookup(files, RECIPE)
    types = [np.uint8 if i % 3 else np.float32 for i in range(len(files))]
    images = [
        replace(image_of(file), value=np.arange(5, dtype=kind) + i)
        for i, (file, kind) in enumerate(zip(files, types, strict=True))
    ]
    cache.add(files, images, RECIPE)
    known = FeatureCache(folder).lookup(files, RECIPE)
    assert [image.value.dtype for image in known] == types
    np.testing.assert_array_equal(
        [image.value for image in known], [image.value for image in images]
    )


def test_moved_copied_and_touched_files_are_known_by_contents(files, folder, tmp_path, opened):
    fill(FeatureCache(folder), files)
    target = tmp_path / "moved"
    shutil.copytree(files[0].parent, target)
    os.utime(files[3], ns=(1, 1))
    paths = [*(target / file.name for file in files), *files]
    opened.clear()
    images = FeatureCache(folder).lookup(paths, RECIPE)
    assert len(opened) == 21
    FeatureCache(folder).lookup(paths, RECIPE)
    assert len(opened) == 21  # the index has the new paths
    for cached, path in zip(images, paths, strict=True):
        assert_same(cached, image_of(path))


def test_changed_contents_are_computed_again(files, folder):
    fill(FeatureCache(folder), files)
    files[0].write_bytes(b"other contents")
    files[1].write_bytes(b"x" * files[1].stat().st_size)
    os.utime(files[1], ns=(5, 5))
    images = FeatureCache(folder).lookup(files, RECIPE)
    assert [i for i, image in enumerate(images) if image is None] == [0, 1]
    fill(FeatureCache(folder), files)
    assert_same(FeatureCache(folder).lookup(files, RECIPE)[1], image_of(files[1]))


def test_file_that_changes_while_it_is_read(files, folder):
    """The stamp is that of the lookup: what changed later is seen by the next run."""
    cache = FeatureCache(folder)
    cache.lookup(files[:1], RECIPE)
    image = image_of(files[0])
    files[0].write_bytes(b"changed after it was read")
    cache.add(files[:1], [image], RECIPE)
    assert FeatureCache(folder).lookup(files[:1], RECIPE) == [None]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_special_files_are_not_opened(files, folder, opened):
    os.mkfifo(folder.parent.parent / "fifo.jpg")
    files[0].write_bytes(b"")  # as long as a FIFO
    fill(FeatureCache(folder), files)
    opened.clear()
    assert FeatureCache(folder).lookup([folder.parent.parent / "fifo.jpg"], RECIPE) == [None]
    assert not opened


def test_files_that_vanish(files, folder):
    fill(FeatureCache(folder), files)
    files[0].unlink()
    assert FeatureCache(folder).lookup(files[:2], RECIPE)[0] is None


@pytest.mark.parametrize("kind", ["index", "images", "features"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"not an archive",
        lambda data: data[:-400] + bytes(400),
        lambda data: data.replace(b"\x93NUMPY", b"\x93NUMPX"),
        lambda data: data.replace("enhg.FeatureCache".encode("utf-32-le"), b"e" * 68),
    ],
)
def test_damaged_archives_are_passed_over(files, folder, kind, damage):
    fill(FeatureCache(folder), files[:10])
    for path in folder.glob(f"{kind}-*"):
        path.write_bytes(damage(path.read_bytes()))
    fill(FeatureCache(folder), files)
    images = FeatureCache(folder).lookup(files, RECIPE)
    for cached, file in zip(images, files, strict=True):
        assert_same(cached, image_of(file))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_archives_that_are_no_regular_files_are_not_opened(files, folder):
    fill(FeatureCache(folder), files)
    for kind in ("index", "images"):
        os.mkfifo(folder / f"{kind}-0.npz")  # which a reader would wait for
    assert fill(FeatureCache(folder), files) == 0


def test_archive_whose_parts_do_not_fit(files, folder):
    fill(FeatureCache(folder), files[:10])
    state = {"paths": ["a"], "stamps": np.zeros((2, 2), dtype=np.int64), "digests": ["b", "c"]}
    write_archive(folder / "index-0.npz", "enhg.FeatureCache", 1, state, overwrite=False)
    assert fill(FeatureCache(folder), files) == 10


def test_rows_of_another_length_are_passed_over(files, folder):
    fill(FeatureCache(folder), files)
    assert FeatureCache(folder).lookup(files, RECIPE, 5) != [None] * 20
    assert FeatureCache(folder).lookup(files, RECIPE, 6) == [None] * 20


def test_no_pickle_is_loaded(files, folder):
    fill(FeatureCache(folder), files)
    (path,) = folder.glob("features-*")
    np.savez(path, format="enhg.FeatureCache", version=1, header=np.array([{}], dtype=object))
    assert fill(FeatureCache(folder), files) == 20


def test_folder_that_cannot_be_written(files, tmp_path):
    (tmp_path / "file").write_text("")
    cache = FeatureCache(tmp_path / "file" / "cache")
    with pytest.warns(UserWarning, match="pixels and features cannot be kept there") as caught:
        fill(cache, files)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fill(cache, files)


def test_no_temporary_files_stay(files, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fill(FeatureCache(folder), files)
    assert {path.name.split("-")[0] for path in folder.iterdir()} == {
        "features",
        "images",
        "index",
    }


WORKER = """
import sys
from pathlib import Path
from test_feature_cache import FeatureCache, fill
files = [Path(name) for name in sys.argv[2:]]
for start in range(0, len(files), 2):
    fill(FeatureCache(sys.argv[1]), files[start : start + 2])
"""


def test_processes_at_once(files, folder):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]),
    }
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, folder, *order], env=environment)
        for order in (files, files[::-1])
    ]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    images = FeatureCache(folder).lookup(files, RECIPE)
    for cached, file in zip(images, files, strict=True):
        assert_same(cached, image_of(file))


def test_archives_that_were_read_count_as_used(files, folder):
    fill(FeatureCache(folder), files)
    for file in folder.iterdir():
        os.utime(file, (1, 1))
    assert fill(FeatureCache(folder), files) == 0
    assert all(file.stat().st_mtime > 1 for file in folder.glob("*.npz"))
