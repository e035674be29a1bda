"""Ctrl-C, SIGTERM, SIGHUP: one line, nothing left, and a prompt end also within compiled code.

Python handles a signal between two instructions of its main thread, which may be minutes away: the
thread may be in compiled code, or wait for threads that are. The signal is therefore also written
to a pipe, from which a thread reads it. If the process has not ended soon after, the thread removes
what is temporary and ends the process.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import sleep
from typing import Any, NoReturn

from enhg._atomic import is_completing, remove_unfinished

_SECONDS_TO_END = 2.0
_SECONDS_TO_RAISE = 0.05
_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_HANGUP = getattr(signal, "SIGHUP", None)  # of a terminal that is closed; not on Windows
if _HANGUP is not None:
    _WORDS[_HANGUP] = _WORDS[signal.SIGTERM]

_outcomes: list[Callable[[], str | None]] = []  # of the command, at most one
_hurried = Event()
_received: list[signal.Signals] = []  # those that end the process
_ending = Lock()


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, the number `signal`, was sent to the process."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = signal.Signals(number)


def watch_signals() -> None:
    """Treat SIGTERM and SIGHUP as Ctrl-C, and end the process soon after any of them."""
    signal.signal(signal.SIGTERM, _raise)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background
        signal.signal(signal.SIGINT, _raise)
    if _HANGUP is not None and signal.getsignal(_HANGUP) == signal.SIG_DFL:  # not under nohup
        signal.signal(_HANGUP, _raise)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    _hurried.set()
    sys.unraisablehook = _pass_on
    Thread(target=_watch, args=(reading,), daemon=True).start()


@contextmanager
def unhurried() -> Iterator[None]:
    """Let the process take its time to end: it has more to do than to remove temporary files."""
    was_hurried = _hurried.is_set()
    _hurried.clear()
    try:
        yield
    finally:
        if was_hurried:
            _hurried.set()


def set_outcome(*describe: Callable[[], str | None]) -> None:
    """Set what the line of an interruption says from now on, or that there are no results."""
    _outcomes[:] = describe


def say_results_are_complete() -> None:
    """Let the line of an interruption say this from now on."""
    set_outcome(lambda: "the results are complete")


def message_of(error: KeyboardInterrupt) -> tuple[str, int]:
    """The line of an interruption, and the exit status."""
    number = _number_of(error)
    return _message(number), 128 + number


def _message(number: signal.Signals) -> str:
    outcome = next((describe() for describe in _outcomes), None)
    return f"{_WORDS[number]}: {outcome or 'no results were written'}"


def _number_of(error: KeyboardInterrupt) -> signal.Signals:
    return error.signal if isinstance(error, Terminated) else signal.SIGINT


def end_interrupted() -> None:
    """End the process if a signal has led here, by whatever error, with its line and status.

    Between the start of the program and that of a command, typer makes an exit of an interruption,
    and a library may make any error of it. Threads may still be in compiled code, which must not be
    removed under them: the interpreter is not shut down.
    """
    if _received:
        _end(_received[0])


def end_in_order() -> None:
    """Make this thread the one that prints the last line, unless another one is at it."""
    if _hurried.is_set() and not _ending.acquire(blocking=False):
        sleep(60)  # the process ends meanwhile


def _receive(number: int) -> None:
    _received.append(signal.Signals(number))
    logging.disable()  # of libraries that are cut off, such as Dask


def _raise(number: int, _: object) -> NoReturn:
    _receive(number)  # here, too: the thread that watches may be later than what is cut off
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def _pass_on(unraisable: Any) -> None:
    """Raise an interruption again that came where it could not be raised, such as in ``__del__``.

    Other errors of this kind are printed, except in a process that ends: they follow from its end.
    """
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        number = _number_of(unraisable.exc_value)
        Thread(target=_interrupt_again, args=(number,), daemon=True).start()
    elif not _received:
        sys.__unraisablehook__(unraisable)


def _interrupt_again(number: signal.Signals) -> None:
    sleep(_SECONDS_TO_RAISE)
    interrupt_main(number)


def _watch(reading: int) -> None:
    while True:
        for number in filter(_WORDS.__contains__, os.read(reading, 64)):
            _receive(number)
            if _hurried.is_set():
                sleep(_SECONDS_TO_END)
                while is_completing():
                    while is_completing():
                        sleep(_SECONDS_TO_RAISE)
                    sleep(_SECONDS_TO_END)  # the line of what is complete now
                _end(signal.Signals(number))


def _end(number: signal.Signals) -> None:
    """End the process without unwinding the other threads."""
    if not _hurried.is_set():
        return
    said = not _ending.acquire(blocking=False)
    remove_unfinished()
    with suppress(Exception):  # of a terminal that is gone
        if not said:
            if sys.stderr.isatty():
                sys.stderr.write("\r\x1b[K\x1b[?25h")  # the bar that hides the cursor
            sys.stderr.write(_message(number) + "\n")
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(128 + number)
