"""Run the commands of the README's section "On the command line", in its order.

    python .ci/readme.py README.md

runs the program `enhg` that is installed beside this Python, in the current folder, which must be
empty. The inputs that the commands name are made first. `enhg label` is stopped as soon as its
page has been opened.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images

ENHG = Path(sys.executable).parent / "enhg"
SIDE = 160  # of the photographs


def make_inputs() -> None:
    """Parts of scikit-learn's two photographs, a few in folders of their class; digits."""
    rng = np.random.default_rng(0)
    rows = ["name,label"]
    for name, image in zip(("temple", "flower"), load_sample_images().images, strict=True):
        for number in range(20):
            folder = Path("new") if number >= 15 else Path("photos")
            if number < 4:
                rows.append(f"{name}/{number}.jpg,{name}")
                folder /= name
            folder.mkdir(parents=True, exist_ok=True)
            top, left = rng.integers(0, np.array(image.shape[:2]) - SIDE)
            part = image[top : top + SIDE, left : left + SIDE]
            file = f"{number}.jpg" if number < 4 else f"{name}-{number}.jpg"
            Image.fromarray(part).save(folder / file)
    Path("some.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    np.save("embeddings.npy", load_digits().data[:500])


def commands(readme: Path) -> list[list[str]]:
    """Arguments of the commands in the first column of the section's table."""
    section = readme.read_text(encoding="utf-8").partition("## On the command line\n")[2]
    rows = re.findall(r"^\| `enhg ([^`]+)` \|", section, re.MULTILINE)
    return [shlex.split(row) for row in rows]


def open_page(words: list[str]) -> None:
    """Start the page of `enhg label`, open it, and stop the program."""
    with subprocess.Popen(
        [ENHG, *words, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout:
            if address := re.search(r"http://127\.0\.0\.1:\d+\S*", line):
                with urllib.request.urlopen(address[0]) as page:
                    if b"<html" not in page.read():
                        raise SystemExit(f"{address[0]} is not a page")
                process.terminate()  # SIGINT is ignored in the background of a shell
                break
        else:
            raise SystemExit("enhg label printed no address")
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"enhg label ended with code {process.returncode}")


def main() -> None:
    lines = [*commands(Path(sys.argv[1]).resolve()), ["demo", "-o", "digits"], ["--help"]]
    if not {"cluster", "classify", "label", "predict", "demo"} <= {words[0] for words in lines}:
        raise SystemExit("the README's section of commands was not found")
    make_inputs()
    for words in lines:
        start = time.perf_counter()
        if words[0] == "label":
            open_page(words)
        else:
            done = subprocess.run([ENHG, *words], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"enhg {shlex.join(words)}\n{done.stdout}{done.stderr}")
        print(f"{time.perf_counter() - start:6.1f} s  enhg {shlex.join(words)}", flush=True)


if __name__ == "__main__":
    main()
