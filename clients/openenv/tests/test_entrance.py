"""What careless and hostile clients send, over real sockets."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from conftest import serving
from openenv.core.generic_client import GenericEnvClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tetrion_openenv.app import configured, make_app
from tetrion_openenv.entrance import MAX_BYTES

EVIL = "http://evil.example"


def socket_of(url, path="/ws", **options):
    return connect(url.replace("http", "ws") + path, **options)


def said(websocket, message):
    """The answer to a message, which is a JSON text or what one is made from."""
    websocket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    return json.loads(websocket.recv(timeout=60))


def rpc(url, method, **params):
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx.post(f"{url}/mcp", json=request).json()


def eventually(result, seconds=60):
    """Waits until a call has a result."""
    deadline = time.monotonic() + seconds
    while not (value := result()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.1)
    return value


@pytest.fixture(scope="module")
def small():
    """A server of four places for clients that are never silent for more than a few seconds."""
    with serving(make_app(4, idle_timeout=3)) as url:
        yield url


def test_careless_clients_of_mcp_do_not_close_the_server_for_everyone(small):
    sessions = []
    while "result" in (answer := rpc(small, "openenv/session/create")):
        sessions.append(answer["result"]["session_id"])
    assert answer["error"]["data"] == {"active_sessions": 4, "max_sessions": 4}
    created = eventually(lambda: rpc(small, "openenv/session/create").get("result"))
    assert created["session_id"] not in sessions
    called = rpc(small, "tools/call", name="show", arguments={}, session_id=sessions[0])
    assert called["error"]["message"] == f"Unknown session_id: {sessions[0]}"


def test_silent_clients_are_told_why_their_connection_is_closed_and_give_their_places_back(small):
    eventually(lambda: rpc(small, "openenv/session/create").get("result"))
    with ExitStack() as stack:
        for websocket in [eventually(lambda path=path: place_of(small, path, stack)) for path in ("/ws", "/mcp")]:
            with pytest.raises(ConnectionClosed) as closed:
                websocket.recv(timeout=60)
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (3008, "no message for 3 s")
        for _ in range(3):
            eventually(lambda: place_of(small, "/ws", stack))


def place_of(url, path, stack):
    """A WebSocket with a place; None if the server has none left."""
    websocket = stack.enter_context(socket_of(url, path))
    first = {"type": "state"} if path == "/ws" else {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    try:
        answer = said(websocket, first)
    except ConnectionClosed:
        return None
    return None if "error" in answer or answer.get("type") == "error" else websocket


def test_an_environment_whose_place_was_given_away_plays_no_more(small):
    with ExitStack() as stack:
        websocket = eventually(lambda: place_of(small, "/ws", stack))
        assert said(websocket, {"type": "reset", "data": {"seed": 1}})["type"] == "observation"

        # What is refused keeps the connection, but not the place.
        def refusal():
            return said(websocket, {"type": "reset", "data": {"level": "x"}})["data"]["message"]

        eventually(lambda: refusal() == "the environment was closed after a long silence, connect again")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}, 400),
        ({"Origin": EVIL}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Origin": "http://localhost:x"}, 403),
        ({"Origin": "http://localhost:5173"}, 200),
        ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200),
        ({"Host": "[::1]:8000"}, 200),
        ({}, 200),
    ],
)
def test_pages_and_hosts_of_others_are_refused(url, headers, status):
    assert httpx.post(f"{url}/reset", json={"seed": 1}, headers=headers).status_code == status
    for path in ("/ws", "/mcp"):
        if status != 200:
            with pytest.raises(InvalidStatus) as refused:
                raw_handshake(url, path, headers)
            assert refused.value.response.status_code == status
        else:
            with raw_handshake(url, path, headers):
                pass


def raw_handshake(url, path, headers):
    """A handshake with these headers. `connect` takes the host from the address."""
    host = headers.get("Host")
    where = url.replace("http", "ws") + path
    if host is None:
        return connect(where, additional_headers=headers)
    port = int(url.rsplit(":", 1)[1])
    return connect(
        f"ws://{host}{path}",
        sock=socket.create_connection(("127.0.0.1", port)),
        additional_headers={name: value for name, value in headers.items() if name != "Host"},
    )


def test_hosts_and_origins_can_be_allowed():
    with serving(make_app(2, 600, ["tetris.example"], ["https://pages.example"])) as url:
        for headers, status in [
            ({"Host": "tetris.example"}, 200),
            ({"Host": "tetris.example", "Origin": "http://tetris.example"}, 200),
            ({"Origin": "https://pages.example"}, 200),
            ({"Origin": "http://pages.example"}, 403),
            ({"Host": "evil.example"}, 400),
        ]:
            assert httpx.get(f"{url}/health", headers=headers).status_code == status, headers


def test_bodies_and_messages_have_a_bound(url):
    large = {"seed": 1, "rules": {"preset": "a" * MAX_BYTES}}
    answer = httpx.post(f"{url}/reset", json=large)
    assert (answer.status_code, answer.json()) == (413, {"detail": "the body has more than 65536 bytes"})

    def endless():
        for _ in range(1000):
            yield b" " * 1024

    # Either the answer arrives, or the connection ends while the rest is sent.
    with suppress(httpx.WriteError):
        assert httpx.post(f"{url}/mcp", content=endless()).status_code == 413
    with socket_of(url) as websocket:
        websocket.send(json.dumps({"type": "reset", "data": large}))
        with pytest.raises(ConnectionClosed) as closed:
            websocket.recv(timeout=60)
        assert closed.value.rcvd.code == 1009


def test_a_body_that_does_not_come_is_given_up(small):
    port = int(small.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
        slow.sendall(b"POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert slow.recv(4096).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "message",
    [
        '{"type": "step", "data": {"text": "\\ud800"}}',
        '{"type": "step", "data": {"text": "\\\\ud800 \\uD83D\\uDE00 \\udc00"}}',
        '{"type": "\\ud800"}',
        '{"type": "reset", "data": {"rules": {"\\udfff": 1}}}',
        '{"type": "reset", "data": {"episode_id": "\\ud800"}}',
        '{"type": "mcp", "data": {"jsonrpc": "2.0", "id": "\\ud800", "method": "tools/list", "params": {}}}',
        '{"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", '
        '"params": {"name": "place", "arguments": {"action": "\\ud800"}}}}',
        "[1]",
        "5",
        "null",
        "{",
        "[" * 20_000,
        '{"type": ' + "9" * 5000 + "}",
        b"\xff",
    ],
)
def test_no_message_closes_the_websocket(url, message):
    with socket_of(url) as websocket:
        said(websocket, {"type": "reset", "data": {"seed": 1}})
        assert said(websocket, message)["type"] in ("observation", "error", "mcp")
        assert said(websocket, {"type": "step", "data": {"text": "a"}})["type"] == "observation"


def test_no_message_closes_the_websocket_of_mcp(url):
    with socket_of(url, "/mcp") as websocket:
        for message in ['{"id": "\\ud800"}', "[1]", "5", "[" * 20_000]:
            assert "error" in said(websocket, message), message
        assert said(websocket, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})["result"]["tools"]


def test_a_lone_surrogate_in_a_body_is_answered(url):
    for path in ("/reset", "/step", "/mcp", "/tetrion/task"):
        body = b'{"action": {"text": "\\ud800"}, "split": "\\ud800", "index": 1}'
        answer = httpx.post(url + path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (200, 400, 422), (path, answer.text)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"split": "train", "idx": 3}, "idx: is no argument of reset, expected one of seed, episode_id, split, index,"),
        ({"options": {"lines": 2}}, "options: is no argument of reset"),
        ({"level": "all"}, "level: is 'all', expected one of board, actions"),
        ({"level": ["board"]}, "level: is ['board'], expected one of"),
        ({"split": "train", "index": "3"}, "index: is '3', expected 0 to 10499"),
        ({"split": "train", "index": 1.5}, "index: is 1.5, expected 0 to 10499"),
        ({"split": "train", "index": True}, "index: is True, expected 0 to 10499"),
        ({"split": 5}, "split: is 5, expected one of train, test"),
        ({"seed": 2**64}, "seed: is 18446744073709551616, expected 0 to 18446744073709551615"),
        ({"rules": "lab"}, "rules: is 'lab', expected an object"),
        ({"rules": {"widht": 6}}, "widht"),
        ({"rules": {"width": 99}}, "width is 99, expected 4 to 32"),
        ({"rules": {"action_model": "keypress", "width": [6]}}, "width"),
        ({"lines": 0}, "lines: is 0, expected 1 to 1000"),
        ({"max_refusals": "x"}, "max_refusals: is 'x', expected 1 to 1000"),
        ({"episode_id": "x" * 256}, "at most 255 characters"),
    ],
)
def test_wrong_fields_get_their_sentence_over_http_and_over_a_websocket(url, body, sentence):
    answer = httpx.post(f"{url}/reset", json=body)
    assert answer.status_code == 422, answer.text
    assert sentence in str(answer.json()["detail"])
    with socket_of(url) as websocket:
        refused = said(websocket, {"type": "reset", "data": body})
        assert sentence in refused["data"]["message"]


def test_a_step_without_a_reset_gets_its_sentence(url):
    answer = httpx.post(f"{url}/step", json={"action": {"text": "a"}})
    assert (answer.status_code, answer.json()) == (422, {"detail": "there is no episode, reset the environment"})


def test_plays_by_tools_are_steps(url):
    with GenericEnvClient(base_url=url).sync() as env, socket_of(url) as websocket:
        env.reset(seed=1)
        env.step({"text": "a"})
        env.step({"text": "no"})
        assert env.state()["step_count"] == 2
        said(websocket, {"type": "reset", "data": {"seed": 1}})
        for action in ("a", "no"):
            params = {"name": "place", "arguments": {"action": action}}
            said(websocket, {"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}})
        state = said(websocket, {"type": "state"})["data"]
        assert (state["step_count"], state["actions"]) == (2, ["a"])


def test_a_wrong_environment_variable_is_one_line():
    program = Path(sys.executable).with_name("tetrion-openenv")
    environment = os.environ | {"TETRION_OPENENV_ENVIRONMENTS": "abc"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120, check=False)
    expected = "tetrion-openenv: TETRION_OPENENV_ENVIRONMENTS is 'abc', expected an integer from 1 to 10000\n"
    assert (done.returncode, done.stderr) == (1, expected)


@pytest.mark.parametrize("name", ["TETRION_OPENENV_ENVIRONMENTS", "TETRION_OPENENV_IDLE_TIMEOUT"])
@pytest.mark.parametrize("value", ["abc", "0", "-1", "1.5", "\u0663", "9" * 5000])
def test_a_number_in_the_environment_is_checked(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=f"{name} is .*, expected an integer from 1 to "):
        configured()
