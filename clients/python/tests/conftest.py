"""A server for all tests, on a free port, found as a user's would be."""

import os
from collections.abc import Iterator

import pytest

# Read when gRPC is loaded. Ray forks its processes from the test's, and what gRPC does before a fork hangs or aborts some.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import tetrion


@pytest.fixture(scope="session")
def server() -> Iterator[tetrion.Server]:
    with tetrion.Server() as server:
        yield server


@pytest.fixture(scope="session")
def client(server: tetrion.Server) -> Iterator[tetrion.Client]:
    with tetrion.Client(server) as client:
        yield client
