"""A server for all tests, on a free port, found as a user's would be."""

from collections.abc import Iterator

import pytest

import tetrion


@pytest.fixture(scope="session")
def server() -> Iterator[tetrion.Server]:
    with tetrion.Server() as server:
        yield server


@pytest.fixture(scope="session")
def client(server: tetrion.Server) -> Iterator[tetrion.Client]:
    with tetrion.Client(server) as client:
        yield client
