"""Addresses, and that no proxy of the environment is used."""

import contextlib
import socket
import sys
import threading

import pytest

import tetrion

VARIABLES = ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy")


@pytest.fixture
def environ(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:1",
        "localhost:1",
        "lab.example.org:1",
        "my_host:1",
        "[::1]:1",
        "unix:/run/tetrion.sock",
        "unix:tetrion.sock",
        "dns:///lab.example.org:1",
    ],
)
def test_addresses(address):
    with tetrion.Client(address) as client:
        assert client.address == address
    with tetrion.Servers(address) as servers:
        assert servers.address == address


@pytest.mark.parametrize("address", ["unix-abstract:tetrion", "vsock:2:50451", "ipv4:127.0.0.1:1,127.0.0.2:2", "xds:///a"])
def test_addresses_of_other_schemes_are_refused(address):
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^address is .*, expected 'host:port' without a scheme"):
        tetrion.Client(address)


@pytest.mark.parametrize("tls", [True, tetrion.Tls()])
def test_a_unix_socket_is_not_encrypted(tls):
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^tls is given for 'unix:/run/tetrion.sock', expected no"):
        tetrion.Client("unix:/run/tetrion.sock", tls=tls)


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


def test_no_proxy_is_used(environ, server):
    proxy = Refusing()
    for variable in ("http_proxy", "https_proxy", "grpc_proxy"):
        environ.setenv(variable, proxy.url)
    port = server.address.rpartition(":")[2]
    for address in (server.address, f"localhost:{port}", f"dns:///localhost:{port}"):
        with tetrion.Client(address) as client, client.create_session(2) as session, session.stream() as stream:
            assert stream.reset().infos["pieces"].tolist() == [0, 0]
    for address in ("tetrion.test:50451", "dns:///tetrion.test:50451"):
        with tetrion.Client(address) as client, pytest.raises(tetrion.ServerUnavailableError):
            client.server_info()
    assert proxy.asked == []
    proxy.close()


class Relay:
    """Passes on what a socket gets, for a server that does not listen there."""

    def __init__(self, listener, address):
        self._listener = listener
        host, port = address.split(":")
        self._upstream = (host, int(port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._upstream)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source, sink):
        with contextlib.suppress(OSError):  # Either end may have left.
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self):
        self._listener.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
@pytest.mark.parametrize("slashes", ["", "//"])
def test_unix_sockets(tmp_path, server, slashes):
    path = f"{tmp_path}/tetrion.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    relay = Relay(listener, server.address)
    with tetrion.Client(f"unix:{slashes}{path}") as client, client.create_session(2) as session:
        assert session.reset().infos["pieces"].tolist() == [0, 0]
    relay.close()
    with tetrion.Client(f"unix:{path}.none") as client, pytest.raises(tetrion.ServerUnavailableError, match="No such file"):
        client.server_info()


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6")
def test_ipv6(server):
    relay = Relay(listener := socket.create_server(("::1", 0), family=socket.AF_INET6), server.address)
    with tetrion.Client(f"[::1]:{listener.getsockname()[1]}") as client, client.create_session(2) as session:
        assert session.reset().infos["pieces"].tolist() == [0, 0]
    relay.close()


def test_names_of_this_machine(server):
    with tetrion.Client(server.address.replace("127.0.0.1", "localhost")) as client, client.create_session(2) as session:
        assert session.reset().infos["pieces"].tolist() == [0, 0]


@pytest.mark.parametrize("address", ["user@127.0.0.1:1", "user:secret@127.0.0.1:1", "user@[::1]:1", "host?a:1", "host#a:1"])
def test_an_address_with_more_than_a_host_and_a_port_is_refused(address):
    """A user would be dropped silently."""
    for make in (lambda: tetrion.Client(address), lambda: tetrion.Servers([address])):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^address is .*, expected 'host:port' without a scheme"):
            make()
