"""Make the moving picture of the page of enhg label: python -m docs.make_capture.

Needs the extra dev, and Chromium with its driver.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from benchmarks.browser import chromium
from enhg.demo import make_photos

TARGET = Path(__file__).parent / "images" / "label.webp"
SIZE, WIDTH = (1200, 800), 900  # of the window, and of the picture
ANSWERS = 12
SHORT, LONG = 900, 2200  # milliseconds


class Camera:
    """Takes frames of a page."""

    def __init__(self, browser: Chrome) -> None:
        self.browser = browser
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        time.sleep(0.4)
        shot = Image.open(BytesIO(self.browser.get_screenshot_as_png())).convert("RGB")
        height = round(shot.height * WIDTH / shot.width)
        self.frames.append(shot.resize((WIDTH, height), Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def save(self, path: Path) -> None:
        first, *others = self.frames
        first.save(path, save_all=True, append_images=others, duration=self.times, loop=0,
                   quality=82, method=6)  # fmt: skip


@contextmanager
def served(photos: Path, out: Path) -> Iterator[str]:
    """The address of `enhg label`."""
    words = [sys.executable, "-m", "enhg", "label", str(photos), "-o", str(out), "--no-browser"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            match = None
            while match is None:
                match = re.search(r"http://\S+", process.stderr.readline())
            yield match[0]
        finally:
            process.terminate()


def show(browser: Chrome, view: str) -> None:
    """Change to a view of the page."""
    links = browser.find_elements(By.CSS_SELECTOR, "#views a, #views button")
    next(link for link in links if link.text.startswith(view)).click()


def asked(browser: Chrome) -> str:
    """The name of the image that the page asks about; "" for none."""
    script = "return document.querySelector('#asked figcaption')?.textContent ?? ''"
    return str(browser.execute_script(script))


def act_out(browser: Chrome, classes: dict[str, str]) -> Camera:
    """Label the core of a cluster, answer questions, accept predictions, look at the map."""
    camera, wait = Camera(browser), WebDriverWait(browser, 30)
    wait.until(lambda browser: browser.find_elements(By.CSS_SELECTOR, "#cluster-0 .thumb"))
    camera.take(LONG)
    browser.find_element(By.CSS_SELECTOR, "#cluster-0 .core").click()
    core = browser.execute_script("return [...selection.rows].map((i) => content.names[i])")
    field = browser.find_element(By.ID, "name")
    field.send_keys(Counter(classes[name] for name in core).most_common(1)[0][0])
    camera.take(LONG)
    field.send_keys(Keys.ENTER)
    camera.take(LONG)
    show(browser, "Questions")
    wait.until(lambda browser: browser.find_elements(By.ID, "asked"))
    camera.take(LONG)
    before = ""
    for number in range(ANSWERS):
        wait.until(lambda browser, name=before: asked(browser) not in ("", name))
        before = asked(browser)
        field.send_keys(classes[before], Keys.ENTER)
        if number < 2 or number == ANSWERS - 1:
            camera.take(SHORT)
    show(browser, "Predictions")
    camera.take(LONG)
    browser.find_element(By.ID, "accept").click()
    camera.take(SHORT)
    for view in ("Map", "Progress"):
        show(browser, view)
        camera.take(LONG)
    return camera


def main() -> None:
    with TemporaryDirectory() as home:
        photos = Path(home, "photos")
        classes = make_photos(photos, 0)
        window = f"window-size={SIZE[0]},{SIZE[1]}"
        with (
            served(photos, Path(home, "labeled")) as address,
            chromium("hide-scrollbars", window) as browser,
        ):
            browser.get(address)
            act_out(browser, classes).save(TARGET)


if __name__ == "__main__":
    main()
