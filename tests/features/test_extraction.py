"""Features of a folder: order, images that cannot be read, progress, cache, memory."""

import threading
import time
import tracemalloc
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sklearn.exceptions import NotFittedError

from enhg import InputError
from enhg.features import ImageFeatures, extract, extraction
from enhg.features._batches import computed
from enhg.features._hog import HOG
from enhg.io import FeatureCache, image_samples
from enhg.io.images import list_images, read_images


@pytest.fixture(scope="module")
def hog():
    return ImageFeatures("hog", batch_size=2).fit()


def test_rows_are_those_of_the_transformer(pictures, network):
    listing = list_images(pictures)
    samples = extract(listing, network)
    assert samples.names == [f"{i}.png" for i in range(7)]
    assert samples.X.dtype == np.float32
    np.testing.assert_allclose(samples.X, network.transform(listing.files), atol=1e-5)
    assert (samples.image_shape, samples.labels, samples.source) == (None, None, pictures)
    assert samples.photos.files == list(listing.files)
    assert samples.photos.sizes == [(30, 20 + i) for i in range(7)]
    assert all(Image.open(BytesIO(data)).format == "JPEG" for data in samples.photos.thumbnails)
    assert len(set(samples.photos.digests)) == 7


@pytest.mark.parametrize("n_broken", [1, 3, 6])
def test_unreadable_images_are_left_out(pictures, hog, n_broken):
    expected = extract(list_images(pictures), hog)
    (pictures / "notes.txt").write_text("no image")
    for i in range(n_broken):
        file = pictures / f"{i}.png"
        file.write_bytes(file.read_bytes()[:100])
    listing = list_images(pictures)
    samples = extract(listing, hog)
    assert samples.names == [f"{i}.png" for i in range(n_broken, 7)]
    np.testing.assert_array_equal(samples.X, expected.X[n_broken:])
    assert samples.photos.digests == expected.photos.digests[n_broken:]
    assert [image.name for image in samples.skipped] == [f"{i}.png" for i in range(n_broken)]
    assert all(image.reason for image in samples.skipped)
    assert samples.n_ignored == 1


def test_skipped_images_are_in_natural_order(pictures, hog):
    (pictures / "2.png").unlink()
    (pictures / "2.png").symlink_to("absent.png")
    for name in ("0.png", "5.png"):
        (pictures / name).write_bytes(b"damaged")
    samples = extract(list_images(pictures), hog)
    assert [image.name for image in samples.skipped] == ["0.png", "2.png", "5.png"]


def test_unreadable_images_are_an_error_on_demand(pictures, hog):
    (pictures / "3.png").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"1 image cannot be read: 3.png \(not an image\)"):
        extract(list_images(pictures), hog, on_unreadable="raise")


def test_no_readable_image(pictures, hog):
    for file in pictures.iterdir():
        file.write_bytes(b"damaged")
    with pytest.raises(InputError, match="7 images, of which none can be read: not an"):
        extract(list_images(pictures), hog)


def test_progress_per_image(pictures, hog, tmp_path):
    calls = []
    (pictures / "3.png").write_bytes(b"damaged")
    cache = FeatureCache(tmp_path / "cache")
    listing = list_images(pictures)
    extract(listing, hog, cache=cache, progress=lambda *call: calls.append(call))
    assert calls == [(i, 7) for i in range(8)]
    calls.clear()
    extract(listing, hog, cache=cache, progress=lambda *call: calls.append(call))
    assert calls == [(6, 7), (7, 7)]


def test_second_run_reads_only_what_is_new(pictures, hog, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    first = extract(list_images(pictures), hog, cache=FeatureCache(cache))
    Image.new("RGB", (9, 9), "red").save(pictures / "10.png")
    read = []
    original = extraction.read_images

    def recording(files, *arguments, **options):
        read.extend(files)
        return original(files, *arguments, **options)

    monkeypatch.setattr(extraction, "read_images", recording)
    second = extract(list_images(pictures), hog, cache=FeatureCache(cache))
    assert read == [pictures / "10.png"]
    assert second.names == [*first.names, "10.png"]
    np.testing.assert_array_equal(second.X[:7], first.X)
    assert second.photos.thumbnails[:7] == first.photos.thumbnails
    assert second.photos.sizes == [*first.photos.sizes, (9, 9)]
    np.testing.assert_array_equal(second.X, extract(list_images(pictures), hog).X)


def test_interrupted_run_keeps_what_was_done(pictures, hog, tmp_path):
    def interrupt(done, total):
        if done == 4:
            raise KeyboardInterrupt

    cache = tmp_path / "cache"
    with pytest.raises(KeyboardInterrupt):
        extract(list_images(pictures), hog, cache=FeatureCache(cache), progress=interrupt)
    calls = []
    extract(
        list_images(pictures),
        hog,
        cache=FeatureCache(cache),
        progress=lambda *call: calls.append(call),
    )
    assert calls[0] == (4, 7)


def test_cache_is_written_in_steps(pictures, hog, tmp_path, monkeypatch):
    monkeypatch.setattr(image_samples, "_CACHE_STEP", 3)
    extract(list_images(pictures), hog, cache=FeatureCache(tmp_path / "cache"))
    assert len(list((tmp_path / "cache").glob("features-*"))) == 3


def test_not_fitted(pictures):
    with pytest.raises(NotFittedError):
        extract(list_images(pictures), ImageFeatures())


class Recorder(HOG):
    """An extractor that waits until images have been read ahead of the running batch."""

    size = (8, 8)
    n_features = 1

    def __init__(self):
        self.prepared = self.taken = 0
        self.ahead = []
        self.changed = threading.Condition()

    def prepare(self, image):
        with self.changed:
            self.prepared += 1
            self.changed.notify_all()
        return np.zeros(250_000, dtype=np.float32)

    def features(self, batch):
        self.taken += len(batch)
        with self.changed:
            if self.taken < 100:
                self.changed.wait_for(lambda: self.prepared > self.taken, timeout=10)
        self.ahead.append(self.prepared - self.taken)
        return np.zeros((len(batch), 1), dtype=np.float32)


def test_images_are_read_while_the_network_runs_and_memory_is_bounded(tmp_path):
    for i in range(120):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{i}.png")
    features = ImageFeatures("hog", batch_size=4).fit()
    features.extractor_ = recorder = Recorder()
    tracemalloc.start()
    extract(list_images(tmp_path), features, n_jobs=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(ahead > 0 for ahead in recorder.ahead[:10])
    # Of 120 MB: at most four batches of 4 MB, and the images that the threads hold.
    assert peak < 40_000_000


def test_a_batch_counts_as_soon_as_it_is_computed(pictures, hog):
    """Where reading is what takes the time, the count does not fall behind it."""
    listed = list_images(pictures).files
    yielded, seen = [], []

    def slowly():
        for image in read_images(listed, hog.extractor_.prepare, min_side=1):
            seen.append(len(yielded))
            time.sleep(0.2)
            yield image

    at_once = SimpleNamespace(features=lambda batch: np.zeros((len(batch), 1), np.float32))
    for image in computed(slowly(), at_once, 2):
        yielded.append(image)
    assert all(count > at - 4 for at, count in enumerate(seen)), seen
    assert len(yielded) == 7


@pytest.mark.parametrize("cached", [False, True])
def test_memory_is_checked_before_reading(pictures, hog, tmp_path, monkeypatch, cached):
    cache = FeatureCache(tmp_path / "cache")
    listing = list_images(pictures)
    if cached:  # features that are known take as much memory
        extract(listing, hog, cache=cache)
    in_flight = 4 * 2 * 3 * 128**2 * 4  # batches of two images of 128×128 pixels in color
    needed = 7 * (7 * 4 * hog.n_features_out_ + 12_288) + in_flight
    monkeypatch.setattr(image_samples, "free_memory", lambda: needed)
    assert extract(listing, hog, cache=cache).X.shape == (7, hog.n_features_out_)
    monkeypatch.setattr(image_samples, "free_memory", lambda: needed - 1)
    monkeypatch.setattr(extraction, "read_images", lambda *_, **__: pytest.fail("read"))
    with pytest.raises(InputError) as error:
        extract(listing, hog, cache=cache)
    assert f"{pictures}: 7 images as 1892 features need about 0.00203 GB" in str(error.value)
    assert "0.00203 GB are free; use fewer images: sort a part of them" in str(error.value)
