"""Tokens with names, certificates of both sides, and that no error shows them."""

import collections
import os
import pickle
from pathlib import Path

import pytest

import tetrion
from tetrion._pb import messages as pb

ALICE, BOB = "needle-of-alice-1234", "needle-of-bob-567890"
TLS = Path(__file__).parents[3] / "tests/data/tls"
CA, CLIENT, CLIENT_KEY = TLS / "ca.pem", TLS / "client.pem", TLS / "client-key.pem"


@pytest.fixture
def tokens(tmp_path):
    file = tmp_path / "tokens.toml"
    file.touch(0o600)
    file.write_text(f"""
[[token]]
name = "alice"
secret = "{ALICE}"

[[token]]
name = "bob"
secret = "{BOB}"
max_sessions = 1
max_evaluations = 0
""")
    return str(file)


def listed(client):
    """The names of the sessions that a client can see."""
    return [session.name for session in client._connection.call_patiently("ListSessions", pb.ListSessionsRequest()).sessions]


def test_two_tokens_do_not_see_each_other(tokens):
    with (
        tetrion.Server(args=["--tokens", tokens]) as server,
        tetrion.Client(server, token=ALICE) as alice,
        tetrion.Client(server, token=BOB) as bob,
    ):
        hers, his = alice.create_session(num_envs=2), bob.create_session(num_envs=3)
        assert listed(alice) == [hers.name]
        assert listed(bob) == [his.name]
        assert bob.server_info().limits.sessions.max_sessions_per_caller == 1
        limits = alice.server_info().limits.sessions
        assert limits.max_sessions_per_caller == limits.max_sessions
        with pytest.raises(tetrion.SessionNotFoundError):
            bob._connection.call("DeleteSession", pb.DeleteSessionRequest(name=hers.name))
        with pytest.raises(tetrion.errors.ServerFullError, match='the token "bob" has reached its limit on sessions, 1'):
            bob.create_session()
        with pytest.raises(tetrion.errors.ServerFullError, match='the token "bob" may run no evaluations'):
            bob.evaluate("bcts", seeds=[1])
        with (
            tetrion.Client(server, token="needle-of-eve") as eve,
            pytest.raises(tetrion.errors.UnauthenticatedError) as caught,
        ):
            eve.server_info()
        assert "the server does not know the call's token" in str(caught.value)
        assert "needle" not in str(caught.value) + repr(caught.value)


def test_a_removed_token_ends_a_stream(tokens):
    with tetrion.Server(args=["--tokens", tokens]) as server, tetrion.Client(server, token=BOB, patience=0) as client:
        session = client.create_session()
        with session.stream() as stream:
            stream.reset()
            file = Path(tokens)
            file.write_text(file.read_text().replace(BOB, "needle-that-is-new"))
            with pytest.raises(tetrion.errors.UnauthenticatedError, match="has been removed"):
                collections.deque(iter(stream.reset, None), maxlen=0)
        with tetrion.Client(server, token="needle-that-is-new") as client:
            assert listed(client) == [session.name]


def test_mutual_tls(tokens):
    certificates = ["--tls-cert", str(TLS / "cert.pem"), "--tls-key", str(TLS / "key.pem")]
    args = [*certificates, "--tls-client-ca", str(TLS / "client-ca.pem"), "--tokens", tokens]
    with tetrion.Server(args=args) as server:
        tls = tetrion.Tls(CA, CLIENT, CLIENT_KEY)
        with tetrion.Client(server, token=ALICE, tls=tls) as client:
            assert client.server_info().rules_version
            with pickle.loads(pickle.dumps(client)) as again:
                assert again.server_info() == client.server_info()
        stranger = tetrion.Tls(CA, TLS / "stranger.pem", TLS / "stranger-key.pem")
        for outside in (tetrion.Tls(CA), stranger, True, False):
            with (
                tetrion.Client(server, token=ALICE, tls=outside, patience=0) as client,
                pytest.raises(tetrion.ServerUnavailableError, match="tls="),
            ):
                client.server_info()


def test_a_certificate_has_the_name_that_is_expected():
    args = ["--tls-cert", str(TLS / "cert.pem"), "--tls-key", str(TLS / "key.pem")]
    with tetrion.Server(args=args) as server:
        for name, is_its in ((None, True), ("localhost", True), ("tetrion.test", False)):
            with tetrion.Client(server, tls=tetrion.Tls(CA, server_name=name), patience=0) as client:
                if is_its:
                    assert client.server_info().rules_version
                else:
                    with pytest.raises(tetrion.ServerUnavailableError, match="certificate not valid for name"):
                        client.server_info()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"client_cert": CLIENT}, "tls needs client_cert and client_key, or neither"),
        ({"ca_cert": "/nowhere.pem"}, "tls.ca_cert cannot be read: "),
        ({"ca_cert": CLIENT_KEY}, f"tls.ca_cert is {os.fspath(CLIENT_KEY)!r}, which holds no CERTIFICATE in PEM form"),
        ({"client_cert": CLIENT, "client_key": CLIENT}, "tls.client_key is "),
    ],
)
def test_wrong_files(given, said):
    with pytest.raises(tetrion.InvalidArgumentError) as caught:
        tetrion.Client("localhost:1", tls=tetrion.Tls(**given))
    assert str(caught.value).startswith(said)


def test_a_file_that_holds_no_key(tmp_path):
    file = tmp_path / "client-key.pem"
    file.write_text("-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n")
    with pytest.raises(tetrion.InvalidArgumentError, match="tls cannot be used: "):
        tetrion.Client("localhost:1", tls=tetrion.Tls(CA, CLIENT, file))


def test_a_server_that_does_not_start_shows_no_token():
    with pytest.raises(tetrion.errors.ServerNotStartedError) as caught:
        tetrion.Server(args=["--token", ALICE, f"--token={ALICE}", "--no-such-flag"])
    assert "--token ... --token=... --no-such-flag" in str(caught.value)
    assert "needle" not in str(caught.value)
