"""What the server refuses, and that it goes on after that."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from conftest import Server


def test_page_and_headers(server: Server) -> None:
    status, headers, body = server.ask("/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "blob:" not in headers["Content-Security-Policy"]
    assert b"msprobe" in body
    tag = headers["ETag"]
    assert server.ask("/", If_None_Match=tag)[0::2] == (304, b"")
    assert server.ask("/", "HEAD")[0::2] == (200, b"")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
def test_other_hosts_are_refused(server: Server, host: str) -> None:
    for target in ("/", "/api/files"):
        status, _, body = server.ask(target, Host=host)
        assert status == 403, body


@pytest.mark.parametrize("host", ["localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:8080"])
def test_own_names_are_served(server: Server, host: str) -> None:
    assert server.ask("/api/files", Host=host)[0] == 200


def test_the_address_that_is_printed_is_served(written: Path) -> None:
    # It means another address than it says, as the name of a machine does.
    server = Server(written, "--host", "127.257")
    try:
        assert server.host == "127.0.1.1"
        assert server.ask("/api/files")[0] == 200, server.url
        assert server.ask("/api/files", Host="127.0.0.1.evil.example")[0] == 403
    finally:
        server.stop()


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null", "http://127.0.0.1:1"])
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_changes_from_other_sites_are_refused(
    server: Server, method: str, origin: str | None
) -> None:
    headers = {} if origin is None else {"Origin": origin}
    status, _, body = server.ask("/api/matches?file=x&u=0", method, "{}", **headers)
    assert status == 403, body


def test_own_origin_may_change(server: Server) -> None:
    origin = server.url.rstrip("/")
    status, _, _ = server.ask("/api/open?file=none.vis", "DELETE", Origin=origin)
    assert status == 404
    assert server.ask("/viewer.js", "POST", "", Origin=origin)[0] == 405


@pytest.mark.parametrize(
    "target",
    [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/index.html/..",
        "/api", "/api/", "/api/../files", "/.", "/viewer.js%00",
    ],
)  # fmt: skip
def test_paths_outside_are_not_found(server: Server, target: str) -> None:
    status, _, body = server.ask(target)
    assert status == 404, body
    assert b"root:" not in body


def test_too_much_is_refused(server: Server) -> None:
    origin = server.url.rstrip("/")
    status, _, _ = server.ask("/api/files", X_Long="x" * 20_000)
    assert status == 431
    status, _, _ = server.ask("/api/matches", "POST", "x" * (1 << 21), Origin=origin)
    assert status == 413
    assert server.ask("/api/rows?file=" + "x" * 15_000)[0] in (400, 404, 431)
    assert server.ask("/api/files")[0] == 200


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n", b"G" * 99]
)
def test_garbage_ends_the_connection(server: Server, garbage: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(4096):
            answer += part
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert server.ask("/api/files")[0] == 200


def exchange(server: Server, request: str) -> tuple[int, bytes]:
    """Sends bytes as they are; how many answers come until the server closes, and all of their text."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode())
        answer = b""
        while part := connection.recv(4096):  # times out where the connection stays open
            answer += part
    return answer.count(b"HTTP/1.1 "), answer


SECOND = "GET /api/files HTTP/1.1\nHost: localhost\nConnection: close\n\n"


@pytest.mark.parametrize(
    "encoding", ["gzip", "gzip, chunked", "chunked, gzip", "identity", "xchunked", ""]
)
def test_unknown_transfer_encodings_are_refused(server: Server, encoding: str) -> None:
    # Its body must never be taken for the next request.
    request = f"POST /api/matches HTTP/1.1\nHost: localhost\nTransfer-Encoding: {encoding}\n\n0\n\n"
    answers, text = exchange(server, request + SECOND)
    assert answers == 1 and text.startswith(b"HTTP/1.1 501 "), text
    assert b"Connection: close" in text
    assert b"transfer encoding that is not known" in text and b"send it chunked" in text


def test_chunked_bodies_are_read(server: Server) -> None:
    origin = server.url.rstrip("/")
    request = (
        f"DELETE /api/open?file=none.vis HTTP/1.1\nHost: {origin.removeprefix('http://')}\n"
        f"Origin: {origin}\nTransfer-Encoding: Chunked\n\n2\n{{}}\n0\n\n"
    )
    answers, text = exchange(server, request + SECOND)
    assert answers == 2 and text.startswith(b"HTTP/1.1 404 ") and b"HTTP/1.1 200 " in text, text


@pytest.mark.parametrize(
    ("doubled", "said"),
    [
        ("Host: localhost\nHost: evil.example", b"more than one header Host"),
        ("Host: evil.example\nHost: localhost", b"more than one header Host"),
        ("Host: localhost\nHost: localhost", b"more than one header Host"),
        ("Host: localhost\nOrigin: http://localhost\norigin: null", b"more than one header Origin"),
        ("Host: localhost\nContent-Length: 0\nContent-Length: 2", b"not a valid HTTP request"),
        ("Host: localhost\nContent-Length: 0, 2", b"not a valid HTTP request"),
        ("Host: localhost\nContent-Length: 0\nTransfer-Encoding: chunked", b"not a valid HTTP"),
        ("Host: localhost\nTransfer-Encoding: chunked\nContent-Length: 0", b"not a valid HTTP"),
    ],
)  # fmt: skip
def test_headers_that_contradict_are_refused(server: Server, doubled: str, said: bytes) -> None:
    answers, text = exchange(server, f"GET /api/files HTTP/1.1\n{doubled}\n\n" + SECOND)
    assert answers == 1 and text.startswith(b"HTTP/1.1 400 "), text
    assert said in text and b"Connection: close" in text


def test_slow_requests_are_dropped(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        begin = time.monotonic()
        try:
            while time.monotonic() - begin < 50:
                connection.sendall(b"X-Slow: 1\r\n")
                time.sleep(1)
            raise AssertionError("the connection stays open")
        except (BrokenPipeError, ConnectionResetError):
            pass


def test_a_connection_serves_many_requests(server: Server) -> None:
    connection = server.connect()
    for _ in range(50):
        connection.request("GET", "/api/files")
        response = connection.getresponse()
        assert response.status == 200
        response.read()
    connection.close()


def test_idle_connections_do_not_keep_others_out(server: Server) -> None:
    idle = []
    try:
        for _ in range(400):
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        # Those that were too many are closed; when the idle ones time out there is room again.
        for attempt in range(60):
            try:
                assert server.ask("/api/files")[0] == 200
                break
            except (ConnectionError, OSError):
                time.sleep(1)
        else:
            raise AssertionError("no room")
    finally:
        for connection in idle:
            connection.close()
