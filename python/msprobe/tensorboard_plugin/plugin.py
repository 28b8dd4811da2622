"""A tab of TensorBoard that shows the files below its logdir with msprobe's viewer.

The page and its API are those of `msprobe view`; only the transport is TensorBoard's.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard.plugins import base_plugin
from werkzeug import Request, Response
from werkzeug.exceptions import RequestEntityTooLarge

NAME = "msprobe"
MAX_BODY = 1 << 20
HERE = Path(__file__).resolve().parent
# Beside the package when it is installed; in a checkout where the front end's build puts it.
WEB_FOLDERS = (HERE / "web", HERE.parents[2] / "web" / "dist")
CONTENT_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


def tab_name() -> str:
    """The known viewer's name when that viewer is not there, so that habits and links hold."""
    try:
        importlib.metadata.distribution("tb-graph-ascend")
    except importlib.metadata.PackageNotFoundError:
        return "GRAPH_ASCEND"
    return "MSPROBE"


def _error(status: int, fact: str, advice: str = "") -> Response:
    body = {"error": {"fact": fact, "advice": advice, "path": ""}}
    return _answer(status, "application/json", json.dumps(body).encode())


def _answer(status: int, content_type: str, body: bytes) -> Response:
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
    return Response(body, status=status, content_type=content_type, headers=headers)


class MsprobePlugin(base_plugin.TBPlugin):
    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._logdir = context.logdir or ""
        self._lock = threading.Lock()
        self._api: Any = None

    def get_plugin_apps(self) -> dict[str, Callable[..., Any]]:
        return {
            "/index.js": self._file("index.js", (HERE,)),
            "/viewer.js": self._file("viewer.js", WEB_FOLDERS),
            "/viewer.css": self._file("viewer.css", WEB_FOLDERS),
            "/api/*": self._serve_api,
        }

    def is_active(self) -> bool:
        """True if there is something to show, so that the tab does not stand in the way."""
        try:
            _, _, body = self._viewer().handle("GET", "files", "", b"")
        except RuntimeError:
            return False
        return bool(json.loads(body).get("files"))

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js", tab_name=tab_name(), disable_reload=True
        )

    def _viewer(self) -> Any:
        """The API object; RuntimeError while the logdir does not exist."""
        with self._lock:
            if self._api is None:
                from msprobe import _viewer  # not needed until TensorBoard runs

                self._api = _viewer.ViewerApi(os.path.abspath(self._logdir))
            return self._api

    def _file(self, name: str, folders: tuple[Path, ...]) -> Callable[..., Any]:
        @Request.application
        def serve(_request: Request) -> Response:
            for folder in folders:
                path = folder / name
                if path.is_file():
                    return _answer(200, CONTENT_TYPES[path.suffix], path.read_bytes())
            return _error(404, f"{name} is missing: this msprobe has no front end")

        return serve

    @property
    def _serve_api(self) -> Callable[..., Any]:
        @Request.application
        def serve(request: Request) -> Response:
            reads = request.method in ("GET", "HEAD")
            # Of a body that does not say how long it is, no more is read.
            request.max_content_length = MAX_BODY + 1
            try:
                viewer = self._viewer()
                origin = request.headers.get("Origin", "")
                if not reads and not viewer.allows_change(origin, request.host):
                    return _error(403, "the request comes from another site",
                                  "open TensorBoard by an address or by the name of its machine")  # fmt: skip
                body = b"" if reads else request.get_data()
                if len(body) > MAX_BODY:
                    raise RequestEntityTooLarge
            except RequestEntityTooLarge:
                return _error(413, "the request's body is too long")
            except RuntimeError as error:
                return _error(404, str(error))
            route = request.path.rpartition(f"/plugin/{NAME}/api/")[2]
            query = request.query_string.decode("ascii", "replace")
            method = "GET" if request.method == "HEAD" else request.method
            return _answer(*viewer.handle(method, route, query, body))

        return serve
