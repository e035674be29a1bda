"""Running of the server: a port, an address with a random token, and the browser."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
_GRACE_SECONDS = 3  # for requests that are under way at the end


def serve(
    session: LabelingSession,
    pictures: Pictures,
    exporter: Exporter,
    listening: socket.socket,
    *,
    open_browser: bool = True,
    announce: Callable[[str], None],
) -> None:
    """Serve the page of a session until the process is interrupted.

    Parameters
    ----------
    session : LabelingSession
    pictures : Pictures
    exporter : Exporter
        Writes the tables again some seconds after an action, and at the end.
    listening : socket
        From `open_port`.
    open_browser : bool, default=True
    announce : callable
        Receives the address.
    """
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    app = make_app(session, pictures, exporter, token, port)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )  # fmt: skip
    server = uvicorn.Server(config)
    address = f"http://{_HOST}:{port}/{token}/"
    # In another thread uvicorn handles no signals: they end the wait for it, at any moment.
    with _Writer(session, exporter), ThreadPoolExecutor(1) as pool:
        serving = pool.submit(server.run, [listening])
        try:
            announce(address)
            Thread(target=_find_copies, args=[session, pictures], daemon=True).start()
            if open_browser:  # a browser in the terminal returns when it is closed
                Thread(target=webbrowser.open, args=[address], daemon=True).start()
            serving.result()
        finally:
            server.should_exit = True


def _find_copies(session: LabelingSession, pictures: Pictures) -> None:
    session.copies = pictures.copies()


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
            f"port {port} is in use or not permitted; give another one, or 0 for any free port",
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
