"""Check the links of the built site without a network: python docs/check_links.py [FOLDER].

Every href and src inside the site must name a file, and its fragment an id or a name in it. Nothing
may be loaded from elsewhere; links of the text to other sites are counted and not followed.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).parent / "_build" / "html"
_LOADED = {"script", "img", "iframe", "source", "video", "audio"}
_LOADED_RELATIONS = {"stylesheet", "preload", "icon", "modulepreload", "preconnect"}


class Page(HTMLParser):
    """The links and the targets of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.targets |= {values[name] for name in ("id", "name") if name in values}
        loads = tag in _LOADED or bool(_LOADED_RELATIONS & set(values.get("rel", "").split()))
        links = [values[name] for name in ("href", "src", "poster") if name in values]
        links += [part.split()[0] for part in values.get("srcset", "").split(",") if part.split()]
        (self.loaded if loads else self.links).extend(links)


def problems(site: Path) -> tuple[list[str], int]:
    """What is wrong with the links of a site, and how many links lead to other sites."""
    files = [file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts]
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    wrong, outside = [], 0
    for file, page in pages.items():
        where = file.relative_to(site).as_posix()
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme == "data" or link in ("", "#"):
                continue
            if parts.scheme or parts.netloc:
                outside += 1
                if link in page.loaded:
                    wrong.append(f"{where}: {link} would be loaded from another site")
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_relative_to(site.resolve()) or not target.is_file():
                wrong.append(f"{where}: {link} names no file of the site")
            elif target in pages and parts.fragment:
                targets = pages[target].targets
                if not {parts.fragment, unquote(parts.fragment)} & targets:
                    wrong.append(f"{where}: {link} names no place on that page")
    return wrong, outside


def main() -> int:
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    site = site.resolve()
    wrong, outside = problems(site)
    for line in wrong:
        print(line, file=sys.stderr)
    n_pages = len(list(site.rglob("*.html")))
    print(
        f"{n_pages} pages, {len(wrong)} broken links; {outside} links to other sites not followed"
    )
    return bool(wrong) or not n_pages


if __name__ == "__main__":
    sys.exit(main())
