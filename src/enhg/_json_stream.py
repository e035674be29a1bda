"""Reading of a large JSON object in blocks.

The two outer levels, an object whose values may be long lists of objects, are read here; every
value inside is decoded by the standard library. What is decoded at a time starts with ``{`` or
``"`` and thus shows where it ends, so that a block that ends inside of it is noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TextIO

from enhg.exceptions import InputError

Record = dict[str, Any]

_BLOCK = 1 << 20  # characters that are read at a time
_LARGEST_VALUE = 1 << 24  # characters of a value that is decoded at once
_WINDOW = 1 << 16  # characters at the end of a block in which a boundary of records is looked for
_SPACE = re.compile(r"[ \t\n\r]*")
_BOUNDARY = re.compile(r"\}(?=[ \t\n\r]*,[ \t\n\r]*\{)")


def _refuse_constant(constant: str) -> NoReturn:
    raise InputError(f"numbers must be finite, got {constant}")


class JsonStream:
    """A JSON object that is read from its start to its end.

    Parameters
    ----------
    stream : text stream
    on_block : callable
        Called without arguments when a block was read.
    """

    def __init__(self, stream: TextIO, on_block: Callable[[], None]) -> None:
        self._stream = stream
        self._on_block = on_block
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)
        self._text = ""
        self._at = 0
        self._before = 0  # characters of the file before `_text`

    def object_keys(self) -> Iterator[str]:
        """The keys of the object; the value of each must be read before the next."""
        self._take("{")
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            if self._peek() != '"':
                self._fail("a key in quotation marks")
            key = self.value()
            self._take(":")
            yield key
            if self._take(",}") == "}":
                return

    def records(self) -> Iterator[list[Record]]:
        """The entries of a list, some at a time; most are objects, which the caller checks."""
        self._take("[")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            batch = self._many()
            if batch is None:
                yield from self._one_by_one()
            else:
                yield batch
            if self._take(",]") == "]":
                return

    def value(self) -> Any:
        """An object or a text."""
        if self._peek() not in ("{", '"'):
            self._fail("an object or a text")
        while True:
            try:
                value, self._at = self._decoder.raw_decode(self._text, self._at)
                return value
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > _LARGEST_VALUE:
                    raise InputError(
                        f"a value must have at most {_LARGEST_VALUE} characters, got more at "
                        f"character {self._before + self._at}, or no end of it"
                    ) from error
                if not self._more():
                    raise InputError(
                        f"got text that is not JSON at character {self._before + error.pos} "
                        f"({error.msg})"
                    ) from error
            except RecursionError as error:
                raise InputError("values must not be nested deeply") from error
            except InputError:
                raise
            except ValueError as error:  # an integer of thousands of digits
                raise InputError(f"got a number that cannot be read ({error})") from error

    def require_end(self) -> None:
        """Require that nothing follows."""
        if self._peek():
            self._fail("the end of the file")

    def _many(self) -> list[Record] | None:
        """The records of this block but the last, or None if they cannot be decoded together.

        The text up to a supposed boundary is a list, with brackets around it, exactly if it is a
        boundary: inside of a text or of a nested value, the bracket does not end the list.
        """
        ends = _BOUNDARY.finditer(self._text, max(self._at, len(self._text) - _WINDOW))
        end = max((match.end() for match in ends), default=0)
        if not end:
            return None
        try:
            batch = self._decoder.decode(f"[{self._text[self._at : end]}]")
        except (ValueError, RecursionError):  # the reason is given where the record is read alone
            return None
        self._at = end
        return batch

    def _one_by_one(self) -> Iterator[list[Record]]:
        """The records of this block, and the one that reaches into the next."""
        before = self._before
        batch = []
        while True:
            if self._peek() != "{":
                self._fail("an object")
            batch.append(self.value())
            if self._before != before or self._peek() != ",":
                break
            self._at += 1
        yield batch

    def _take(self, marks: str) -> str:
        """Go past one of some characters."""
        mark = self._peek()
        if not mark or mark not in marks:
            self._fail(" or ".join(marks))
        self._at += 1
        return mark

    def _peek(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read another block, as long as what is left at least, so that the time is linear."""
        rest = self._text[self._at :]
        block = self._stream.read(max(_BLOCK, len(rest)))
        if not block:
            return False
        self._before += self._at
        self._text, self._at = rest + block, 0
        self._on_block()
        return True

    def _fail(self, expected: str) -> NoReturn:
        mark = self._text[self._at : self._at + 1]
        place = f"{mark!r} at character {self._before + self._at}" if mark else "the end of it"
        raise InputError(f"expected {expected}, got {place}")
