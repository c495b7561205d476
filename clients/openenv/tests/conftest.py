"""The app on a free port of the loopback interface, served as `uvicorn` serves it."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn

os.environ.pop("TETRION_SERVER", None)

from tetrion_openenv.app import make_app
from tetrion_openenv.entrance import MAX_BYTES

PLACES = 128


@contextmanager
def serving(app) -> Iterator[str]:
    """Serves an app as `tetrion-openenv` does, and gives its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws_max_size=MAX_BYTES))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with serving(make_app(PLACES, idle_timeout=600)) as url:
        yield url
