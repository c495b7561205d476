"""Three servers as one client: calls go to all of them, and no result changes when one is killed on the way."""

import os
import pickle
import signal
import socket
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import tetrion

CA, CERT, KEY = (Path(__file__).parents[3] / "tests/data/tls" / name for name in ("ca.pem", "cert.pem", "key.pem"))
RULES = {"width": 10, "height": 10}
# Counters that servers keep.
INFO = 'tetrion_calls_total{method="tetrion.v1.EnvironmentService/GetServerInfo",code="OK"}'
PLACEMENTS = 'tetrion_calls_total{method="tetrion.v1.EnvironmentService/EnumeratePlacements",code="OK"}'
GAMES = "tetrion_evaluation_games_total"


@pytest.fixture
def three():
    servers = [tetrion.Server() for _ in range(3)]
    yield servers
    for server in servers:
        server.close()


def count(server, counter):
    """The value of a counter of the server, by the beginning of its line."""
    with urllib.request.urlopen(f"http://{server.address}/metrics") as response:
        lines = response.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(counter))


def connect(servers, three):
    """Calls until every server has answered a call."""
    while 0 in [count(server, INFO) for server in three]:
        servers.server_info()


def games(**options):
    return {"policies": ["dt-20", "bcts", "dellacherie"], "seeds": tetrion.DrawnSeeds(1, 40), "rules": RULES, **options}


def assert_same(ours, theirs):
    for name, column in vars(theirs).items():
        same = ours.__dict__[name] == column
        assert same.all() if isinstance(column, np.ndarray) else same, name


def test_evaluations_are_played_by_all(client, three):
    with tetrion.Servers(three) as servers:
        connect(servers, three)
        seen = []
        result = servers.evaluate(**games(max_pieces=2000), progress_interval=0.05, on_progress=seen.append)
        assert_same(result, client.evaluate(**games(max_pieces=2000)))
        shares = [count(server, GAMES) for server in three]
        assert min(shares) >= 10, shares
        done = [(now.games_done, now.pieces_done, now.lines_done) for now in seen]
        for column in zip(*done, strict=True):
            assert list(column) == sorted(column)
        assert done[-1] == (120, result.pieces.sum(), result.lines.sum())


@pytest.mark.parametrize(
    "request_",
    [
        {"seeds": [[1, 2], [3, 4], [5, 6]]},
        {"seeds": [1, 2, 3], "episodes_per_seed": 2, "pairs": [[2, 2], [0, 1], [1, 1]], "baseline": 1},
        {"seeds": None, "piece_sequences": ["OOIJ", "SZLT" * 5]},
        {"include_results": False},
    ],
    ids=lambda request: ",".join(request),
)
def test_every_kind_of_evaluation(client, three, request_):
    request = games(max_pieces=300, **{**request_})
    with tetrion.Servers(three) as servers:
        assert_same(servers.evaluate(**request), client.evaluate(**request))


def test_estimates_are_made_by_all(client, three):
    for include_results in (True, False):
        request = {**games(), "rules": {"height": 6}, "trials": 16, "include_results": include_results}
        with tetrion.Servers(three) as servers:
            assert_same(servers.estimate(**request), client.estimate(**request))


def test_an_evaluation_loses_a_server(client, three):
    killed = []

    def on_progress(now):
        if now.pieces_done > 0 and not killed:
            three[1]._process.kill()
            killed.append(now.games_done)

    expected = client.evaluate(**games(max_pieces=30_000))
    with tetrion.Servers(three) as servers:
        result = servers.evaluate(**games(max_pieces=30_000), progress_interval=0.05, on_progress=on_progress)
        assert killed
        assert killed[0] < 120
        assert not three[1].running
        assert_same(result, expected)
        # And with one that was gone from the beginning.
        assert_same(servers.evaluate(**games(max_pieces=200)), client.evaluate(**games(max_pieces=200)))


def test_training_is_that_of_one_server(client, three):
    arguments = {"population": 16, "generations": 3, "games": 2, "check_games": 10, "max_pieces": 2000, "seed": 4}
    expected = [trained.to_json() for trained in tetrion.cem(client, **arguments)]
    with tetrion.Servers(three) as servers:
        ours = []
        for trained in tetrion.cem(servers, **arguments):
            ours.append(trained.to_json())
            if len(ours) < 3:
                three[len(ours)]._process.kill()  # until one is left
    assert ours == expected


def test_placements_are_listed_by_all_and_by_those_that_are_left(client, three):
    drawing = tetrion.Drawing(["##.######."], "I")
    expected = client.enumerate_placements(drawing, features="bcts8").features
    with tetrion.Servers(three) as servers:
        connect(servers, three)
        for index in range(60):
            if index == 30:
                three[0]._process.kill()
            np.testing.assert_array_equal(servers.enumerate_placements(drawing, features="bcts8").features, expected)
    # While there were three, each got one call in three; from then on the others got all.
    shares = [count(server, PLACEMENTS) for server in three[1:]]
    assert min(shares) >= 20, shares
    assert 48 <= sum(shares) <= 54, shares


def test_a_session_lives_on_one_server(three):
    with tetrion.Servers([server.address for server in three]) as servers:
        sessions = [servers.create_session(2, seed=seed) for seed in range(3)]
        assert [session._connection.address for session in sessions] == [server.address for server in three]
        for session in sessions:
            for _ in range(3):
                assert session.reset().action_mask.shape == (2, 40)
        # The next ones avoid a server that is gone.
        three[0].close()
        others = [servers.create_session().address for _ in range(3)]
        assert set(others) == {server.address for server in three[1:]}


def test_servers_pickle_as_their_arguments(three):
    with tetrion.Servers(three, timeout=7) as servers, pickle.loads(pickle.dumps(servers)) as again:
        assert type(again) is tetrion.Servers
        assert again.timeout == 7
        addresses = [again.create_session().address for _ in range(3)]
        assert addresses == [server.address for server in three]


class Names:
    """What a name stands for: servers that may change."""

    def __init__(self, monkeypatch):
        self.servers, self.asked, usual = [], 0, socket.getaddrinfo

        def look_up(host, port, *args, **kwargs):
            if host != "tetrion.test":
                return usual(host, port, *args, **kwargs)
            self.asked += 1
            if not self.servers:
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return [usual(*server.address.split(":"), *args, **kwargs)[0] for server in self.servers]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.fixture
def names(monkeypatch):
    return Names(monkeypatch)


def test_a_name_is_looked_up_again_when_a_server_is_lost(client, three, names):
    names.servers = three[:2]
    with tetrion.Servers("dns:///tetrion.test:50451", num_servers=2) as servers:
        assert names.asked == 0
        connect(servers, three[:2])
        assert_same(servers.evaluate(**games(max_pieces=300)), client.evaluate(**games(max_pieces=300)))
        assert names.asked == 1
        assert min(count(server, GAMES) for server in three[:2]) >= 10
        names.servers = three[1:]
        three[0]._process.kill()
        three[0]._process.wait()
        connect(servers, three[1:])
        assert names.asked >= 2
        # If the name has gone, those that are left are kept.
        names.servers = []
        three[1]._process.kill()
        three[1]._process.wait()
        assert_same(servers.evaluate(**games(max_pieces=300)), client.evaluate(**games(max_pieces=300)))


def test_a_name_that_is_not_known(names):
    with tetrion.Servers("dns:///tetrion.test:50451", patience=0) as servers:
        with pytest.raises(tetrion.ServerUnavailableError, match=r"^the host of 'dns:///tetrion\.test:50451' is not"):
            servers.server_info()
        with pytest.raises(tetrion.ServerUnavailableError, match="is not known"):
            servers.evaluate("bcts", seeds=[1])


def test_certificates_have_the_name_of_all(names):
    args = ["--tls-cert", str(CERT), "--tls-key", str(KEY)]
    with tetrion.Server(args=args) as server:
        names.servers = [server]
        tls = tetrion.Tls(CA)
        with tetrion.Servers(f"dns:///localhost:{server.address.rpartition(':')[2]}", tls=tls) as servers:
            assert servers.server_info().rules_version
        with (
            tetrion.Servers("dns:///tetrion.test:50451", tls=tls, patience=0) as servers,
            pytest.raises(tetrion.ServerUnavailableError, match="certificate not valid for name"),
        ):
            servers.server_info()
        with tetrion.Servers("dns:///tetrion.test:50451", tls=tetrion.Tls(CA, server_name="localhost")) as servers:
            assert servers.server_info().rules_version


def test_a_server_that_comes_back_gets_calls_again(three):
    with tetrion.Servers(three) as servers:
        connect(servers, three)
        three[0]._process.kill()
        three[0]._process.wait()
        for _ in range(10):
            servers.server_info()
        with pytest.warns(RuntimeWarning, match="started again"):
            three[0].revive()
        deadline = time.monotonic() + 30
        while count(three[0], INFO) < 5:
            assert time.monotonic() < deadline
            servers.server_info()


def test_a_frozen_server_delays_few_calls(three):
    with tetrion.Servers(three, patience=5) as servers:
        connect(servers, three)
        three[0]._process.send_signal(signal.SIGSTOP)
        os.waitpid(three[0]._process.pid, os.WUNTRACED)
        try:
            # The first call to it notices, within 10 seconds.
            for _ in range(3):
                servers.server_info()
            times = []
            while sum(times) < 10:
                began = time.monotonic()
                servers.server_info()
                times.append(time.monotonic() - began)
            assert max(times) < 3
            assert len(times) > 200
        finally:
            three[0]._process.send_signal(signal.SIGCONT)


def test_a_name_may_stand_for_all(server, client):
    port = server.address.rpartition(":")[2]
    with tetrion.Servers(f"dns:///localhost:{port}", num_servers=1) as servers:
        assert_same(servers.evaluate(**games(max_pieces=100)), client.evaluate(**games(max_pieces=100)))
        with pytest.raises(ValueError, match="a session lives on one server"):
            servers.create_session()


def test_a_list_may_have_every_kind_of_address():
    with tetrion.Servers(["127.0.0.1:1", "unix:/tmp/tetrion.sock", "[::1]:50451"]) as servers:
        assert servers.address == "127.0.0.1:1, unix:/tmp/tetrion.sock, [::1]:50451"


def test_a_host_that_is_not_known():
    with pytest.raises(tetrion.ServerUnavailableError, match=r"^the host of 'no\.such\.host\.invalid:1' is not known: "):
        tetrion.Servers(["127.0.0.1:1", "no.such.host.invalid:1"])


def test_no_server_at_all(three):
    for server in three:
        server.close()
    with tetrion.Servers(three) as servers:
        with pytest.raises(tetrion.ServerUnavailableError):
            servers.evaluate("bcts", seeds=[1])
        with pytest.raises(tetrion.ServerUnavailableError):
            servers.create_session()


def test_leaving_an_evaluation_ends_its_games(three):
    class EnoughError(Exception):
        pass

    def on_progress(now):
        raise EnoughError

    with tetrion.Servers(three) as servers:
        # Few of these games ever end, so the evaluation would take a very long time.
        with pytest.raises(EnoughError):
            servers.evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 30), progress_interval=0.05, on_progress=on_progress)
        assert servers.evaluate("bcts", seeds=[1], max_pieces=10).pieces.tolist() == [10]
