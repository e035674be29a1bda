"""Running of the server: a port, an address with a random token, and the browser."""

from __future__ import annotations

import asyncio
import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

import uvicorn

from enhg.exceptions import InputError
from enhg.labeling.export import Exporter
from enhg.labeling.pictures import Pictures
from enhg.labeling.server import make_app
from enhg.labeling.session import LabelingSession

_HOST = "127.0.0.1"
_WRITING_SECONDS = 2.0  # between an action and the tables that follow from it


def serve(
    session: LabelingSession,
    pictures: Pictures,
    exporter: Exporter,
    *,
    port: int = 0,
    open_browser: bool = True,
    announce: Callable[[str, bool], None],
) -> None:
    """Serve the page of a session until the process is interrupted.

    Parameters
    ----------
    session : LabelingSession
    pictures : Pictures
    exporter : Exporter
        Writes the tables again some seconds after an action, and at the end.
    port : int, default=0
        0 for any that is free.
    open_browser : bool, default=True
    announce : callable
        Receives the address, and whether a browser was opened.
    """
    with open_port(port) as listening:
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = make_app(session, pictures, exporter, token, port)
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        address = f"http://{_HOST}:{port}/{token}/"
        with _Writer(session, exporter):  # from before the first moment of Ctrl-C on
            announce(address, open_browser and webbrowser.open(address))
            asyncio.run(server.serve(sockets=[listening]))


def open_port(port: int) -> socket.socket:
    """A socket on which only this machine can ask; 0 is any free port."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen()  # a browser may ask before the server has started
    except OSError as error:
        listening.close()
        raise InputError(
            f"port {port} is taken or not allowed; choose another one, or none for any that is "
            "free",
            parameter="port",
        ) from error
    return listening


class _Writer:
    """Writes the tables of a session soon after it has changed, and at the end."""

    def __init__(self, session: LabelingSession, exporter: Exporter) -> None:
        self._session, self._exporter = session, exporter
        self._written = -1
        self._ended = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._write()

    def _run(self) -> None:
        while not self._ended.wait(_WRITING_SECONDS):
            with suppress(InputError, OSError):  # tried again, and said at the end
                self._write()

    def _write(self) -> None:
        version = self._session.version
        if version != self._written:
            self._exporter.write_tables()
            self._written = version
