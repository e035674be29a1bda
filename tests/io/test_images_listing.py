"""The files that count as images of a folder: names, links, and what must not be opened."""

from __future__ import annotations

import os
import socket
import sys

import numpy as np
import pytest

from enhg.io import read_samples
from enhg.io.images import IMAGE_SUFFIXES, list_images, natural_key, survey

PIXELS = np.zeros((4, 3), dtype=np.uint8)
posix = pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs of POSIX")


@pytest.fixture
def photo(tmp_path, save_image):
    """Write an image of the given name into the folder `photos`."""

    def write(name):
        return save_image(tmp_path / "photos" / name, PIXELS, format="PNG")

    return write


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "photos"
    path.mkdir()
    return path


def reasons(listing):
    return {image.name: image.reason for image in listing.skipped}


def test_natural_order():
    names = ["b10/a2", "b2/a10", "b2/a9", "A1", "a01", "a1x", "7", "10"]
    ordered = sorted(names, key=natural_key)
    assert ordered == ["7", "10", "A1", "a01", "a1x", "b2/a9", "b2/a10", "b10/a2"]


def test_names_and_counts(folder, photo):
    for name in ("img10.png", "img2.JPG", "sub/deep/a.webp", ".hidden.png", ".cache/b.png"):
        photo(name)
    for name in ("notes.txt", "sub/movie.mp4", "README"):
        (folder / name).write_text("?")
    listing = list_images(folder)
    assert listing.folder == folder
    assert listing.names == ("img2.JPG", "img10.png", "sub/deep/a.webp")
    assert listing.files == tuple(folder / name for name in listing.names)
    assert listing.skipped == ()
    assert listing.n_ignored == 3


def test_suffixes():
    kinds = "jpg jpeg jpe jfif png webp tif tiff bmp gif pgm ppm pbm heic heif avif"
    assert {f".{kind}" for kind in kinds.split()} == IMAGE_SUFFIXES


def test_folder_named_like_an_image(folder, photo):
    photo("x.jpg/a.png")
    assert list_images(folder).names == ("x.jpg/a.png",)


def test_folder_without_images(folder, refuses):
    refuses(lambda: list_images(folder), str(folder), "no images in this folder; known kinds")
    (folder / "a.mov").touch()
    message = refuses(lambda: list_images(folder), "but 1 other file (1 .mov)", "heic")
    assert "  " not in message
    for name in ("b.mov", "c.txt", "Makefile"):
        (folder / name).touch()
    refuses(lambda: list_images(folder), "but 4 other files (2 .mov, 1 ", "1 without suffix")


def test_missing_folder(tmp_path, refuses):
    refuses(lambda: list_images(tmp_path / "none"), "none: no such file or folder")


# --- links --------------------------------------------------------------------------------------


@posix
def test_links_to_files_and_folders_are_followed(tmp_path, folder, photo, save_image):
    outside = save_image(tmp_path / "elsewhere" / "sub" / "b.png", PIXELS)
    save_image(tmp_path / "elsewhere" / ".hidden" / "c.png", PIXELS)
    (folder / "a.png").symlink_to(outside)
    (folder / "holidays").symlink_to(tmp_path / "elsewhere")
    photo("c.png")
    listing = list_images(folder)
    assert listing.names == ("a.png", "c.png", "holidays/sub/b.png")
    assert listing.skipped == ()
    assert len(read_samples(folder).X) == 3


@posix
def test_links_that_lead_outside_can_be_left_out(tmp_path, folder, photo, save_image):
    save_image(tmp_path / "elsewhere" / "b.png", PIXELS)
    (folder / "a.png").symlink_to(tmp_path / "elsewhere" / "b.png")
    (folder / "holidays").symlink_to(tmp_path / "elsewhere")
    (folder / "inside.png").symlink_to(photo("sub/c.png"))
    listing = list_images(folder, outside=False)
    assert listing.names == ("inside.png", "sub/c.png")
    assert set(reasons(listing).values()) == {"link to a file outside of the folder"}
    assert set(reasons(listing)) == {"a.png", "holidays/b.png"}
    (tmp_path / "link").symlink_to(folder)  # the folder itself may be a link
    assert list_images(tmp_path / "link", outside=False).names == listing.names


@posix
def test_loops_of_links_end(folder, photo):
    photo("a.png")
    photo("sub/b.png")
    (folder / "again").symlink_to(folder)
    (folder / "sub" / "up").symlink_to("..")
    (folder / "sub" / "self").symlink_to(".")
    (folder / "aa").symlink_to("sub")  # sorts before the folder that it names
    listing = list_images(folder)
    assert listing.names == ("a.png", "sub/b.png")
    assert listing.skipped == ()


@posix
def test_loop_through_linked_folders(tmp_path, folder, photo, save_image):
    photo("a.png")
    for here, other in (("one", "two"), ("two", "one")):
        save_image(tmp_path / here / f"{here}.png", PIXELS)
        (tmp_path / here / "other").symlink_to(tmp_path / other)
    (folder / "linked").symlink_to(tmp_path / "one")
    names = ("a.png", "linked/one.png", "linked/other/two.png")
    assert list_images(folder).names == names


@posix
def test_links_to_outer_folders_are_not_followed(tmp_path, folder, photo, save_image):
    photo("a.png")
    save_image(tmp_path / "private.png", PIXELS)
    (folder / "up").symlink_to("..")
    (folder / "root").symlink_to("/")
    listing = list_images(folder)
    assert listing.names == ("a.png",)
    reason = "link to a folder that contains this one"
    assert reasons(listing) == {"root": reason, "up": reason}


@posix
def test_links_to_nothing(folder, photo, refuses):
    (folder / "gone.jpg").symlink_to(folder / "nowhere.jpg")
    (folder / "gone.txt").symlink_to(folder / "nowhere.txt")
    refuses(
        lambda: list_images(folder), "no images", "gone.jpg: link to a file that does not exist"
    )
    (folder / "b.png").symlink_to("c.png")
    (folder / "c.png").symlink_to("b.png")
    photo("a.png")
    listing = list_images(folder)
    assert listing.names == ("a.png",)
    assert listing.n_ignored == 1
    assert list(reasons(listing)) == ["b.png", "c.png", "gone.jpg"]
    assert "levels of symbolic links" in reasons(listing)["b.png"]


# --- what must not be opened ----------------------------------------------------------------------


@posix
def test_special_files_are_not_opened(folder, photo, monkeypatch):
    os.mkfifo(folder / "pipe.jpg")
    (folder / "zero.png").symlink_to("/dev/zero")
    monkeypatch.chdir(folder)  # paths of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.gif")
        photo("a.png")
        listing = list_images(folder)
    assert listing.names == ("a.png",)
    assert reasons(listing) == dict.fromkeys(
        ("pipe.jpg", "socket.gif", "zero.png"), "not a regular file"
    )


# --- names and permissions ------------------------------------------------------------------------


def test_long_names(folder, photo):
    name = f"{'x' * 120}/{'é' * 100}1.png"
    photo(name)
    assert list_images(folder).names == (name,)
    assert read_samples(folder).names == [name]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes on Linux only")
def test_names_that_are_not_utf8(folder, photo):
    photo("b.png")
    original = photo("c.png")
    os.rename(original, os.fsencode(folder) + b"/caf\xe9.png")
    os.mkfifo(os.fsencode(folder) + b"/\xff.png")
    listing = list_images(folder)
    assert listing.names == ("b.png", "caf\\xe9.png")
    assert [image.name for image in listing.skipped] == ["\\xff.png"]
    samples = read_samples(folder)
    assert len(samples.X) == 2
    "".join(samples.names).encode()
    assert os.fsencode(samples.photos.files[1]).endswith(b"/caf\xe9.png")


def test_subfolder_without_permission(folder, photo, monkeypatch, refuses):
    photo("a.png")
    photo("private/b.png")
    scandir = os.scandir

    def forbidden(path):
        if os.path.basename(path) == "private":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", forbidden)  # the tests may run as root, who may do all
    listing = list_images(folder)
    assert listing.names == ("a.png",)
    assert reasons(listing) == {"private": "Permission denied"}
    refuses(lambda: list_images(folder / "private"), "private: no permission to read it")
    refuses(lambda: read_samples(folder, on_unreadable="raise"), "private (Permission denied)")


def test_survey_reports_progress(tmp_path, save_image):
    for i in range(5):
        save_image(tmp_path / f"{i}.png", np.zeros((8, 8), np.uint8))
    calls = []
    survey(list_images(tmp_path), progress=lambda *call: calls.append(call))
    assert calls == [(i, 5) for i in range(1, 6)]


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="no paths relative to a folder")
def test_folders_whose_path_is_too_long(tmp_path, save_image):
    save_image(tmp_path / "a.png", np.zeros((8, 8), np.uint8))
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=folder)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    listing = list_images(tmp_path)
    assert listing.names == ("a.png",)
    assert [image.reason for image in listing.skipped] == ["File name too long"]
