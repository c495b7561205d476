"""A server for all tests, on a free port, found as users find theirs, and clients of it and of this process."""

import os
from collections.abc import Iterator

import pytest

# Read when grpcio is loaded, which some tests serve with. Other tests and Ray fork, and its preparations for a fork hang or
# abort some of the processes.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
# Tests start their servers.
os.environ.pop("TETRION_SERVER", None)

import tetrion


@pytest.fixture(scope="session")
def server() -> Iterator[tetrion.Server]:
    with tetrion.Server() as server:
        yield server


@pytest.fixture(scope="session")
def remote(server: tetrion.Server) -> Iterator[tetrion.Client]:
    """A client of the server."""
    with tetrion.Client(server) as client:
        yield client


@pytest.fixture(scope="session", params=["inside", "remote"])
def client(request: pytest.FixtureRequest) -> Iterator[tetrion.Client]:
    """A client of either kind: what holds for one holds for the other."""
    if request.param == "remote":
        yield request.getfixturevalue("remote")
    else:
        with tetrion.Client() as client:
            yield client
