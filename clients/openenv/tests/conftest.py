"""The app on a free port of the loopback interface, served as `uvicorn` serves it."""

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

os.environ.pop("TETRION_SERVER", None)

from tetrion_openenv.app import make_app

PLACES = 128


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(PLACES), log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
