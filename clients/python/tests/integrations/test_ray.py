"""Evaluations and training on a Ray cluster of several nodes on this machine, one of which is killed on the way."""

import os
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import tetrion

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# A node is several processes, which on a busy machine take longer to start than Ray has patience for.
os.environ["RAY_raylet_start_wait_time_s"] = "180"  # noqa: SIM112

from ray.cluster_utils import Cluster  # noqa: E402

import tetrion.ray  # noqa: E402

# Ray leaves sockets and files to the garbage collector, which warns.
pytestmark = pytest.mark.filterwarnings("default")

NUM_NODES = 3
# Seconds for what comes at last on the busiest machine: a node, or the end of games that were left.
PATIENCE = 300.0
RULES = {"width": 10, "height": 10}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The head plays as well; it is the others that die.
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            for _ in range(NUM_NODES - 1):
                cluster.add_node(num_cpus=1)
            cluster.connect()
            cluster.wait_for_nodes()
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def make_pool(**options) -> tetrion.ray.Pool:
    return tetrion.ray.Pool(patience=PATIENCE, **options)


def games(seed: int, **options) -> dict:
    """Some seconds of games, whose mean needs every bit of every game."""
    return {
        "policies": ["dt-20", "bcts", "dellacherie"],
        "seeds": tetrion.DrawnSeeds(seed, 150),
        "rules": RULES,
        "max_pieces": 20_000,
        **options,
    }


def assert_same(ours: tetrion.Evaluation, theirs: tetrion.Evaluation) -> None:
    for name, column in vars(theirs).items():
        if isinstance(column, np.ndarray):
            assert getattr(ours, name).dtype == column.dtype
            assert getattr(ours, name).tobytes() == column.tobytes(), name
        else:
            assert getattr(ours, name) == column, name


def test_as_on_one_machine_though_a_node_dies(cluster, client):
    expected = client.evaluate(**games(1))
    seen, killed = [], []

    def on_progress(now) -> None:
        # In the middle, with work in hand: the first reports may come before the first pieces.
        if now.pieces_done > 0 and not killed:
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
            killed.append(now.games_done)
        seen.append((now.games_done, now.pieces_done, now.lines_done))

    with make_pool() as pool:
        assert pool.num_nodes == NUM_NODES
        result = pool.evaluate(**games(1), on_progress=on_progress, progress_interval=0.2)
        assert_same(result, expected)
        assert killed[0] < 450
        assert pool.lost_shards > 0
        assert pool.num_nodes == NUM_NODES - 1
        # Reports only grow, and end with all games.
        assert seen == sorted(seen)
        for column in zip(*seen, strict=True):
            assert list(column) == sorted(column)
        assert seen[-1] == (450, expected.pieces.sum(), expected.lines.sum())

        # A node that joins plays from the next evaluation on.
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        again = pool.evaluate(**games(1, episodes_per_seed=2, include_results=False, max_pieces=50))
        assert_same(again, client.evaluate(**games(1, episodes_per_seed=2, include_results=False, max_pieces=50)))
        assert pool.num_nodes == NUM_NODES


def test_every_kind_of_request(cluster, client):
    weights = np.random.default_rng(1).normal(size=(7, 9))
    with make_pool(num_cpus=1) as pool:
        for request in (
            {"weights": weights, "features": "thiery9", "seeds": [1, 2, 3], "rules": RULES},
            {"weights": weights, "features": "thiery9", "seeds": np.arange(21).reshape(7, 3)},
            {"policies": "bcts", "piece_sequences": ["OOIJ", "SZLT" * 5]},
            {"policies": ["bcts"] * 4, "seeds": [1, 2, 3], "pairs": [[3, 2], [0, 0], [1, 1], [1, 0]], "max_pieces": 9},
        ):
            request = {"max_pieces": 2000, **request}
            expected = client.evaluate(**request)
            result = pool.evaluate(**request)
            if "pairs" in request:
                assert result.started.num_games == 4
            assert_same(result, expected)
        estimates = {"policies": "bcts", "seeds": [1, 2, 3], "rules": RULES, "trials": 16}
        assert_same(pool.estimate(**estimates), client.estimate(**estimates))
        assert pool.catalog(7).feature_sets == client.catalog(7).feature_sets


def test_recordings_are_those_of_a_client(cluster, client):
    request = {
        "policies": ["bcts", "random"],
        "seeds": tetrion.DrawnSeeds(1, 15),
        "rules": {"width": 6, "height": 8},
        "max_pieces": 200,
        "record": "best,median,all=2",
    }
    expected = client.evaluate(**request)
    assert {recording.player for recording in expected.recordings} == {"bcts", "random"}

    def on_progress(now) -> None:
        # All games are done, and the first node is the one that would record them.
        if now.games_done == now.num_games:
            node = next(iter(pool._workers))
            ray.kill(pool._workers[node])
            killed.append(node)

    killed: list[str] = []
    with make_pool() as pool:
        result = pool.evaluate(**request)
        assert_same(result, expected)
        assert [recording.check() for recording in result.recordings] == [None] * len(expected.recordings)
        assert_same(pool.evaluate(**request, on_progress=on_progress), expected)
        assert len(killed) == 1
        assert killed[0] not in pool._workers


def test_refusals_are_those_of_a_client(cluster):
    with make_pool() as pool:
        for wrong in ({"record": "least"}, {"record": "best", "include_results": False}):
            with pytest.raises(tetrion.InvalidArgumentError, match="record"):
                pool.evaluate("bcts", seeds=[1], **wrong)
        with pytest.raises(tetrion.InvalidRequestError) as caught:
            pool.evaluate("no-such-controller", seeds=[1])
        assert caught.value.reason == "UNKNOWN_NAME"
        with pytest.raises(ValueError, match="policies are not given"):
            pool.evaluate()
        with pytest.raises(tetrion.errors.VersionMismatchError):
            pool.evaluate("bcts", seeds=[1], rules_version="another")


def test_nodes_without_a_server_are_reported(cluster):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(tetrion.errors.ServerNotStartedError, match="no-such-flag"):
            make_pool(args=["--no-such-flag"])
    assert sum("plays no games" in str(warning.message) for warning in caught) == NUM_NODES


def test_leaving_an_evaluation_ends_its_games(cluster):
    class EnoughError(Exception):
        pass

    def on_progress(now) -> None:
        raise EnoughError

    with make_pool() as pool:
        # Few of these games ever end, so the evaluation would take a very long time.
        with pytest.raises(EnoughError):
            pool.evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 30), on_progress=on_progress, progress_interval=0.2)
        assert pool.evaluate("bcts", seeds=[1], max_pieces=10).pieces.tolist() == [10]
        deadline = time.monotonic() + PATIENCE
        while any(ray.get([worker.progress.remote() for worker in pool._workers.values()])):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_server_that_died_is_started_again(cluster, client):
    with make_pool() as pool:
        first = pool.evaluate(**games(2, max_pieces=500))
        for worker in pool._workers.values():
            ray.get(worker.__ray_call__.remote(lambda self: self._client._connection.server._process.kill()))
        assert_same(pool.evaluate(**games(2, max_pieces=500)), first)
        assert_same(first, client.evaluate(**games(2, max_pieces=500)))


def test_training_is_that_of_one_machine(cluster, client):
    arguments = {"population": 20, "generations": 3, "games": 3, "check_games": 20, "max_pieces": 2000, "seed": 4}
    expected = [trained.to_json() for trained in tetrion.cem(client, **arguments)]
    with make_pool() as pool:
        states = []
        ours = []
        training = tetrion.cem(pool, **arguments)
        for trained in training:
            if not ours:
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
            ours.append(trained.to_json())
            states.append(training.state())
        assert ours == expected
        # And from any generation on.
        (last,) = tetrion.cem(pool, **arguments, state=states[1])
        assert last.to_json() == expected[2]
