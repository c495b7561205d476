"""Which servers the package accepts, and its errors about others."""

import itertools
import re
import socket
import subprocess
import sys
import threading
from concurrent import futures
from pathlib import Path

import grpc
import pytest

import tetrion
from tetrion._pb import messages as pb
from tetrion._transport.versions import PROTOCOL_REVISION, RULES_VERSION, VERSION

ROOT = Path(__file__).parents[3]


def serve(answer=None):
    """The address of a gRPC server that answers GetServerInfo with this, or knows no call at all; and the server."""
    server = grpc.server(futures.ThreadPoolExecutor(1))
    if answer is not None:
        call = grpc.unary_unary_rpc_method_handler(
            lambda request, context: answer, response_serializer=lambda message: message.encode()
        )
        handler = grpc.method_handlers_generic_handler("tetrion.v1.EnvironmentService", {"GetServerInfo": call})
        server.add_generic_rpc_handlers((handler,))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    return address, server


def info(revision=PROTOCOL_REVISION, rules=RULES_VERSION):
    return pb.GetServerInfoResponse(server_version="7.0.0", rules_version=rules, protocol_revision=revision)


def test_the_versions_of_the_package_are_those_of_the_checkout():
    assert tetrion.__version__ == VERSION
    project = (ROOT / "clients/python/pyproject.toml").read_text()
    crate = (ROOT / "Cargo.toml").read_text()
    for text in (project, crate):
        assert re.search(r'^version = "(.*)"$', text, re.M)[1] == VERSION
    for package, licence in itertools.product(("python", "dm_env_rpc"), ("LICENSE-MIT", "LICENSE-APACHE")):
        assert (ROOT / "clients" / package / licence).read_bytes() == (ROOT / licence).read_bytes()


def test_whatever_its_version_a_server_of_this_revision_or_a_higher_one_will_do():
    for revision in (PROTOCOL_REVISION, PROTOCOL_REVISION + 1):
        address, server = serve(info(revision))
        with tetrion.Client(address) as client:
            assert client.server_info().protocol_revision == revision
        server.stop(None)


@pytest.mark.parametrize(
    "first",
    [
        lambda client: client.server_info(),
        lambda client: client.create_session(),
        lambda client: client.evaluate("bcts", seeds=[1]),
        lambda client: next(iter(client.start_evaluation("bcts", seeds=[1]))),
        lambda client: client.enumerate_placements(tetrion.Drawing([], "I"), features="bcts8"),
    ],
)
def test_a_lower_revision_is_refused_at_the_first_call(first):
    address, server = serve(info(PROTOCOL_REVISION - 1))
    with tetrion.Client(address) as client, pytest.raises(tetrion.errors.IncompatibleServerError) as caught:
        first(client)
    assert str(caught.value).startswith(
        f"the server at {address} is Tetrion 7.0.0 with protocol_revision 0, and this package, Tetrion {VERSION}, needs 1"
    )
    assert "any_version=True" in str(caught.value)
    server.stop(None)


def test_any_version_will_do():
    address, server = serve(info(PROTOCOL_REVISION - 1))
    with tetrion.Client(address, any_version=True) as client:
        assert client.server_info().server_version == "7.0.0"
    server.stop(None)


def test_requests_name_the_revision_that_they_need(server):
    with tetrion.Client(server) as client, client.create_session() as session:
        session.reset()
        client._connection.min_revision = PROTOCOL_REVISION + 1
        for use in (
            client.create_session,
            session.enumerate_placements,
            lambda: client.enumerate_placements(tetrion.Drawing([], "I")),
            lambda: client.evaluate("bcts", seeds=[1]),
        ):
            with pytest.raises(
                tetrion.errors.IncompatibleServerError, match="min_revision is 2, expected at most 1"
            ) as caught:
                use()
            assert caught.value.reason == "REVISION_TOO_OLD"
            assert caught.value.metadata == {"expected": "1", "got": "2"}


def test_a_field_that_the_server_does_not_know_is_refused(server):
    with tetrion.Client(server) as client:
        rules = pb.Rules.decode(b"\xe0\x03\x01")
        request = pb.CreateSessionRequest(config=pb.SessionConfig(rules=rules))
        with pytest.raises(tetrion.errors.IncompatibleServerError) as caught:
            client._connection.call("CreateSession", request)
        assert caught.value.reason == "UNKNOWN_FIELD"
        assert caught.value.metadata == {"message": "tetrion.v1.Rules", "number": "60"}


def test_other_rules_are_warned_of_once():
    address, server = serve(info(rules="tetrion-rules-99"))
    with tetrion.Client(address) as client:
        with pytest.warns(
            tetrion.errors.VersionWarning, match=f"tetrion-rules-99, and this package is made for {RULES_VERSION}"
        ):
            client.server_info()
        client.server_info()  # a second warning would be an error
    server.stop(None)


def test_a_grpc_server_of_another_kind_is_recognised():
    address, server = serve()
    with tetrion.Client(address) as client:
        for first in (client.server_info, client.create_session, lambda: client.evaluate("bcts", seeds=[1])):
            with pytest.raises(
                tetrion.errors.ForeignServerError, match=f"{address} is not a Tetrion server: it speaks gRPC, but has no"
            ):
                first()
    server.stop(None)


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_a_port_that_speaks_no_grpc_is_recognised(said):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(said)
                while connection.recv(1024):
                    pass

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with (
            tetrion.Client(address) as client,
            pytest.raises(
                tetrion.errors.ForeignServerError, match=f"{address} is not a Tetrion server: it does not speak gRPC"
            ),
        ):
            client.server_info()
        thread.join(60)


def test_the_version_is_said_with_a_server_and_without_one(monkeypatch):
    def said():
        done = subprocess.run([sys.executable, "-m", "tetrion", "--version"], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    ours = f"tetrion {VERSION}, the Python package, made for {RULES_VERSION}"
    first, second = said()
    assert first == ours
    assert second.startswith(f"tetrion {VERSION}, the program /")
    monkeypatch.setenv("TETRION_BINARY", "/nowhere/tetrion")
    assert said() == [ours, "TETRION_BINARY is '/nowhere/tetrion', which is not a program that can run"]
    monkeypatch.setenv("TETRION_BINARY", "/bin/false")
    assert said()[1].startswith("the program does not print its version: ")
