"""Addresses, and the proxy of the environment: never for this machine, and named in the errors of other addresses."""

import socket
import sys
import threading

import pytest

import tetrion
from tetrion._transport import addresses

VARIABLES = ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy")
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def environ(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:1", "127.8.9.10:1", "localhost:1", "LOCALHOST:1", "localhost.:1", "lab.localhost:1", "[::1]:1",
        "0.0.0.0:1", "[::]:1", "[::ffff:127.0.0.1]:1", "unix:/run/tetrion.sock", "unix:///run/tetrion.sock",
        "unix:tetrion.sock", "unix-abstract:tetrion", "vsock:2:50451", "dns:localhost:1", "dns:///localhost:1",
        "dns://8.8.8.8/localhost:1", "ipv4:127.0.0.1:1,127.0.0.2:2", "ipv6:[::1]:1",
    ],
)  # fmt: skip
def test_addresses_of_this_machine(address):
    assert addresses.is_local(address)


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1:1", "tetrion:1", "localhost.example.org:1", "notlocalhost:1", "128.0.0.1:1", "[2001:db8::1]:1",
        "dns:tetrion:1", "dns:///tetrion:1", "dns://127.0.0.1/tetrion:1", "ipv4:127.0.0.1:1,10.0.0.1:1", "xds:///tetrion:1",
    ],
)  # fmt: skip
def test_addresses_of_others(address):
    assert not addresses.is_local(address)


@pytest.mark.parametrize(
    ("variables", "address", "expected"),
    [
        ({}, "tetrion:1", ""),
        ({"http_proxy": "http://proxy:3128"}, "tetrion:1", "'http://proxy:3128' in http_proxy"),
        ({"http_proxy": "http://one:1", "https_proxy": "http://two:2"}, "tetrion:1", "'http://two:2' in https_proxy"),
        ({"https_proxy": "http://two:2", "grpc_proxy": "http://3:3"}, "tetrion:1", "'http://3:3' in grpc_proxy"),
        ({"http_proxy": "http://one:1", "grpc_proxy": ""}, "tetrion:1", ""),
        ({"http_proxy": "http://me:secret@proxy:3128/"}, "tetrion:1", "'http://proxy:3128' in http_proxy"),
        ({"http_proxy": "socks5://proxy:1080"}, "tetrion:1", ""),
        ({"http_proxy": "proxy:3128"}, "tetrion:1", ""),
        ({"http_proxy": "http://[::1"}, "tetrion:1", ""),
        ({"http_proxy": NOWHERE, "no_proxy": "example.org, tetrion"}, "lab.Tetrion:1", ""),
        ({"http_proxy": NOWHERE, "no_proxy": "tetrion"}, "dns:///tetrion:1", ""),
        ({"http_proxy": NOWHERE, "no_proxy": "10.0.0.0/8"}, "10.1.2.3:1", ""),
        ({"http_proxy": NOWHERE, "no_proxy": "10.0.0.0/8"}, "11.1.2.3:1", f"'{NOWHERE}' in http_proxy"),
        ({"http_proxy": NOWHERE, "no_proxy": "nonsense/8,,"}, "11.1.2.3:1", f"'{NOWHERE}' in http_proxy"),
        ({"http_proxy": NOWHERE, "no_proxy": "tetrion", "no_grpc_proxy": ""}, "tetrion:1", f"'{NOWHERE}' in http_proxy"),
    ],
)  # fmt: skip
def test_the_proxy_of_an_address(environ, variables, address, expected):
    for name, value in variables.items():
        environ.setenv(name, value)
    assert addresses.proxy(address) == expected


@pytest.mark.parametrize("variable", ["http_proxy", "https_proxy", "grpc_proxy"])
def test_a_proxy_is_not_for_our_own_server(environ, variable, server):
    environ.setenv(variable, NOWHERE)
    with tetrion.Server() as own, tetrion.Client(own) as client:
        assert client.server_info().server_version
    port = server.address.rpartition(":")[2]
    for address in (f"localhost:{port}", f"dns:///localhost:{port}", f"ipv4:127.0.0.1:{port}"):
        with tetrion.Client(address) as client, client.create_session(2) as session, session.stream() as stream:
            assert stream.reset().infos["pieces"].tolist() == [0, 0]


class Refusing:
    """A proxy that answers every request with 403."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.asked = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with peer:
                self.asked.append(peer.recv(4096).decode().splitlines()[0])
                peer.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")

    def close(self):
        self._listener.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
def test_a_proxy_is_not_for_unix_sockets(environ, tmp_path):
    proxy = Refusing()
    environ.setenv("http_proxy", proxy.url)
    for address in (f"unix:{tmp_path}/none.sock", f"unix://{tmp_path}/none.sock", "unix-abstract:tetrion-none"):
        with tetrion.Client(address) as client, pytest.raises(tetrion.ServerUnavailableError) as caught:
            client.server_info()
        assert "http_proxy" not in str(caught.value)
    assert proxy.asked == []
    proxy.close()


def test_an_error_names_the_variable_of_the_proxy(environ):
    proxy = Refusing()
    url = proxy.url.replace("http://", "http://me:secret@")
    for variable in ("http_proxy", "https_proxy", "grpc_proxy"):
        environ.setenv(variable, url)
        with tetrion.Client("tetrion.test:50451") as client, pytest.raises(tetrion.ServerUnavailableError) as caught:
            client.server_info()
        assert f"to tetrion.test:50451 went through the proxy '{proxy.url}' in {variable}" in str(caught.value)
        assert "no_proxy" in str(caught.value)
        assert "secret" not in str(caught.value)
    # Channels to one address share their attempts to connect.
    assert set(proxy.asked) == {"CONNECT tetrion.test:50451 HTTP/1.1"}
    proxy.close()
    environ.setenv("no_proxy", ".test")
    with tetrion.Client("tetrion.test:50451") as client, pytest.raises(tetrion.ServerUnavailableError) as caught:
        client.server_info()
    assert "proxy" not in str(caught.value)
