"""The page of a labeling session, served to a browser on the same machine."""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import Callable
from functools import partial
from hmac import compare_digest
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from enhg.exceptions import InputError
from enhg.labeling.actions import Action
from enhg.labeling.content import next_steps, session_content, session_state
from enhg.labeling.export import CLASSIFIER, Exporter
from enhg.labeling.pictures import Pictures
from enhg.labeling.session import LabelingSession

_PAGE = "label.html"
_TYPES = {"html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_UNKNOWN = (
    "This address is not valid, or no longer. Open the address that the last enhg label command "
    "printed."
)
_HTTP_PORT = 80
_MAX_BODY = 4_000_000  # bytes: an action on some hundred thousand images

Handler = Callable[[Request, Any], Response]


def make_app(
    session: LabelingSession, pictures: Pictures, exporter: Exporter, token: str, port: int
) -> ASGIApp:
    """The application that serves a session, under the path /TOKEN/.

    Parameters
    ----------
    session : LabelingSession
    pictures : Pictures
    exporter : Exporter
    token : str
        Without it in the address nothing is served.
    port : int
        Of the address that the browser asks; others are refused.
    """
    pages = _Pages(session, pictures, exporter)
    routes = [
        ("", pages.page, "GET"),
        ("static/{name}", pages.static, "GET"),
        ("content", pages.content, "GET"),
        ("state", pages.state, "GET"),
        ("next", pages.next, "GET"),
        ("picture/{row}", pages.picture, "GET"),
        ("preview/{row}", pages.preview, "GET"),
        ("act", pages.act, "POST"),
        ("export", pages.export, "POST"),
    ]
    app = Starlette(
        routes=[
            Route(f"/{token}/{path}", partial(_respond, handler), methods=[method])
            for path, handler, method in routes
        ]
    )
    return _Guard(app, token, port)


class _Guard:
    """Lets only pages of this server ask for anything, and adds the headers to every answer.

    It stands before the routes: their own errors, of an unknown path or method, have the headers
    too, and are seen only by those who know the token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        suffix = "" if port == _HTTP_PORT else f":{port}"  # which browsers leave out
        self.hosts = {f"127.0.0.1{suffix}", f"localhost{suffix}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # a websocket
            await send({"type": "websocket.close"})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        allowed = self._allows(Request(scope))
        app = self.app if allowed else PlainTextResponse(_UNKNOWN, 403)
        await app(scope, receive, send_with_headers)

    def _allows(self, request: Request) -> bool:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        allowed = host in self.hosts and origin in (None, f"http://{host}")
        if request.method == "POST":
            allowed &= origin is not None
            allowed &= request.headers.get("content-type", "").startswith("application/json")
        token = request.scope["path"].split("/")[1:2]
        return allowed and compare_digest("".join(token).encode(), self.token.encode())


async def _respond(handler: Handler, request: Request) -> Response:
    try:
        return await _answer(handler, request)
    except CancelledError:  # at the end of the server, of which uvicorn would print a traceback
        return _error("enhg label has ended", 503)


async def _answer(handler: Handler, request: Request) -> Response:
    body = None
    if request.method == "POST":
        try:
            body = await _body(request)
        except (ValueError, RecursionError, ClientDisconnect):
            return _error("the request is not JSON, too long, or not complete", 400)
    try:
        answer = await run_in_threadpool(handler, request, body)
    except InputError as error:
        return _error(str(error), 400)
    except FileNotFoundError as error:
        return _error(str(error), 404)
    return answer


async def _body(request: Request) -> Any:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _MAX_BODY:
            raise ValueError
        parts.append(part)
    return json.loads(b"".join(parts))


def _error(message: str, status: int) -> Response:
    return JSONResponse({"error": message}, status)


class _Pages:
    """Answers to requests."""

    def __init__(self, session: LabelingSession, pictures: Pictures, exporter: Exporter) -> None:
        self.session, self.pictures, self.exporter = session, pictures, exporter
        own = files("enhg.labeling").joinpath("page")
        shared = files("enhg.report")
        self.files = {name: shared.joinpath(name) for name in ("page.css", "tools.js")}
        self.files |= {file.name: file for file in own.iterdir()}

    def page(self, request: Request, body: None) -> Response:
        return self._file(_PAGE)

    def static(self, request: Request, body: None) -> Response:
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        if name not in self.files:
            raise FileNotFoundError(f"there is no {name}")
        kind = _TYPES[name.rpartition(".")[2]]
        return Response(self.files[name].read_bytes(), media_type=kind)

    def content(self, request: Request, body: None) -> Response:
        return JSONResponse(
            session_content(self.session)
            | {"source": self.exporter.samples.source.name, "sizes": self.pictures.sizes()}
        )

    def state(self, request: Request, body: None) -> Response:
        if request.query_params.get("since") == str(self.session.version):
            return Response(status_code=204)
        return JSONResponse(session_state(self.session))

    def next(self, request: Request, body: None) -> Response:
        return JSONResponse(next_steps(self.session))

    def picture(self, request: Request, body: None) -> Response:
        return self._picture(request, self.pictures.small)

    def preview(self, request: Request, body: None) -> Response:
        return self._picture(request, self.pictures.large)

    def _picture(self, request: Request, draw: Callable[[int], tuple[bytes, str]]) -> Response:
        given, count = request.path_params["row"], len(self.session.names)
        # As many digits as the largest row has: Python refuses thousands of them.
        row = int(given) if given.isdecimal() and len(given) <= len(str(count)) else count
        if row >= count:
            raise FileNotFoundError(f"there is no image {given[:20]}")
        content, kind = draw(row)
        return Response(
            content, media_type=kind, headers={"Cache-Control": "private, max-age=3600"}
        )

    def act(self, request: Request, body: Any) -> Response:
        self.session.act(Action.from_json(body, len(self.session.names)))
        return JSONResponse(session_state(self.session))

    def export(self, request: Request, body: Any) -> Response:
        wanted = body.get("folders") if isinstance(body, dict) else None
        names, notes = self.exporter.write_tables(), []
        try:
            names.append(self.exporter.write_classifier())
        except InputError as error:  # the tables and folders do not depend on it
            notes.append(f"{CLASSIFIER} was not written: {error}")
        if wanted in ("links", "copies"):
            name, missing = self.exporter.write_folders(wanted)
            names.append(name)
            if missing:
                notes.append(f"images that are gone, and in no folder: {missing}")
        return JSONResponse(
            {"folder": str(self.exporter.folder.resolve()), "files": names, "notes": notes}
        )
