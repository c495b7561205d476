"""Evaluations and training on all machines of a Ray cluster, with one server per node.

    import ray, tetrion.ray
    ray.init(address="auto")
    with tetrion.ray.Pool() as pool:
        result = pool.evaluate(weights=matrix, features="bcts8", seeds=tetrion.DrawnSeeds(1, 1000))
        weights = tetrion.cem(pool, generations=30).run()

A `Pool` puts an actor on every node, and each actor starts a server there and calls it over loopback. An evaluation is cut
into shards, sets of pairs of a policy and a seed, and each free node gets the next shard. A game depends only on its policy
and its seed. So if a node dies, its shard is simply sent to another node, and the results equal those of a single machine,
to the last bit of the summary.

Every node needs this package with its program, as in a wheel. Nodes need not reach each other's servers.
"""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import extras, keywords

try:
    import ray
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(extras.missing("tetrion.ray needs", "Ray", "ray"), name="ray") from error
from ray.exceptions import NodeDiedError, ObjectLostError, RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tetrion._clients.client import Client
from tetrion._evaluations.games import Estimates, Games, joined
from tetrion._evaluations.progress import Progress, listener
from tetrion._evaluations.recordings import with_recordings, words_of
from tetrion._evaluations.request import EvaluationOptions, estimation_request, evaluation_request
from tetrion._evaluations.results import Estimation, Evaluation, estimation, evaluation
from tetrion._evaluations.run import EstimationRun, EvaluationRun, describe
from tetrion._evaluations.sharding import IN_FLIGHT, Counts, ShardProgress, StoppedError, counts, cut
from tetrion._messages.policies import PoliciesLike
from tetrion._pb import messages as pb
from tetrion._pb.records import Catalog, EvaluationProgress, ServerInfo
from tetrion._recordings.recording import Recording
from tetrion._transport.server import Server
from tetrion.errors import ServerUnavailableError

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Errors that Ray raises if a node, or an object on it, is gone.
_LOST = (RayActorError, NodeDiedError, ObjectLostError)


class _Worker:
    """The actor on a node: a server, and the calls that the pool makes."""

    def __init__(self, args: Sequence[str]) -> None:
        self._args = args
        self._client: Client | None = None
        self._starting = threading.Lock()
        self._running: dict[int, Counts] = {}
        self._stopped = -1

    def server_info(self) -> ServerInfo:
        return self._started().server_info()

    def catalog(self, width: int | None = None) -> Catalog:
        return self._started().catalog(width)

    def started(self, request: dict[str, Any]) -> pb.EvaluationStarted:
        """The server's description of the whole request. The server checks it, and stops when the call ends."""
        client = self._started()
        client._connection.revive()
        return describe(client._connection, _request(request))

    def play(self, request: dict[str, Any], shard: int, pairs: npt.NDArray[np.int32]) -> Games | Estimates:
        """Plays a shard. If the server dies, the client starts it again and requests the missing games."""

        def on_progress(now: EvaluationProgress) -> None:
            self._running[shard] = counts(now)
            if shard <= self._stopped:
                raise StoppedError  # Which ends the games on the server.

        if shard <= self._stopped:
            raise StoppedError
        message = _request({**request, "pairs": pairs, "include_results": True})
        run = EstimationRun if message.HasField("loss_estimation") else EvaluationRun
        try:
            results, _, _ = run(self._started()._connection, message, on_progress)._finish()
        finally:
            self._running.pop(shard, None)
        return results

    def recordings(self, request: dict[str, Any], played: Evaluation, words: Sequence[str]) -> tuple[Recording, ...]:
        """The recordings that the words ask for, from an evaluation that all nodes have played."""
        client = self._started()
        client._connection.revive()
        message = _request(request)
        return with_recordings(client._connection, message, played, words).recordings

    def progress(self) -> dict[int, Counts]:
        """The progress of the running shards."""
        return dict(self._running)

    def stop(self, shard: int) -> None:
        """Stops the shards up to this one, because their games are no longer needed."""
        self._stopped = shard

    def _started(self) -> Client:
        """The client of this node's server, which starts on first use."""
        with self._starting:
            if self._client is None:
                self._client = Client(Server(args=self._args))
            return self._client


def _request(options: dict[str, Any]) -> pb.EvaluatePoliciesRequest:
    return estimation_request(**options) if "trials" in options else evaluation_request(**options)


class Pool:
    """The servers of a cluster, which evaluate like one `Client`, for one thread."""

    def __init__(self, *, num_cpus: int | None = None, args: Sequence[str] = (), patience: float = 60.0) -> None:
        """Starts a server on every node of the cluster that Ray is connected to. Connects Ray first if necessary.

        Args:
            num_cpus: Cores to claim from Ray on each node, and threads of its server; nodes with fewer cores are skipped.
                None claims nothing and lets servers use all cores, which suits a cluster that you have to yourself.
            args: Additional flags of `tetrion serve`.
            patience: Seconds to wait for a server to start, and for a node if all have died.

        Raises:
            ServerNotFoundError: No node has the server program.
        """
        if not ray.is_initialized():
            ray.init()
        self.patience = patience
        self.lost_shards = 0  # Sent again so far, because their node died.
        self._num_cpus = num_cpus
        self._args = [*args, *(["--threads", str(num_cpus)] if num_cpus else [])]
        self._workers: dict[str, Any] = {}  # by the id of their node
        self._unusable: set[str] = set()
        self._cores = 1
        self._num_shards = 0
        failure = self._find_nodes()
        if not self._workers:
            raise failure or ServerUnavailableError("no node of the cluster has cores to play on", code="UNAVAILABLE")

    @property
    def num_nodes(self) -> int:
        """Number of nodes that play. A node that joins the cluster plays from the next evaluation on."""
        return len(self._workers)

    def server_info(self) -> ServerInfo:
        """See `Client.server_info`."""
        info: ServerInfo = self._ask_any(lambda worker: worker.server_info.remote())
        return info

    def catalog(self, width: int | None = None) -> Catalog:
        """See `Client.catalog`."""
        catalog: Catalog = self._ask_any(lambda worker: worker.catalog.remote(width))
        return catalog

    @keywords.checked
    def evaluate(
        self,
        policies: PoliciesLike = (),
        *,
        progress: bool = False,
        on_progress: Progress | None = None,
        record: str | Sequence[str] | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> Evaluation:
        """Plays many games on all nodes. Arguments and results are those of `Client.evaluate`, to the last bit."""
        words = words_of(record, options)
        hears = listener(progress, on_progress)
        evaluation_request(policies, **options)  # for its checks
        shared, started, parts = self._share({"policies": policies, **options}, hears)
        result = evaluation(joined(parts, Games), started, include_results=options.get("include_results", True))
        if not words:
            return result
        played = ray.put(result)
        return replace(result, recordings=self._ask_any(lambda worker: worker.recordings.remote(shared, played, words)))

    @keywords.checked
    def estimate(
        self,
        policies: PoliciesLike = (),
        *,
        trials: int,
        progress: bool = False,
        on_progress: Progress | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> Estimation:
        """Estimates on all nodes. Arguments and results are those of `Client.estimate`, to the last bit."""
        hears = listener(progress, on_progress)
        estimation_request(policies, trials, **options)  # for its checks
        _, started, parts = self._share({"policies": policies, "trials": trials, **options}, hears)
        return estimation(joined(parts, Estimates), started, include_results=options.get("include_results", True))

    def _share(self, options: dict[str, Any], on_progress: Progress | None) -> tuple[Any, pb.EvaluationStarted, list[Any]]:
        """Plays a request on all nodes. Returns it in the nodes' form, its description and all results."""
        self._find_nodes()
        options["rules_version"] = options.get("rules_version") or self.server_info().rules_version
        interval = options.get("progress_interval")
        options["progress_interval"] = interval = 1.0 if interval is None else max(interval, 0.1)
        shared = ray.put(options)
        started: pb.EvaluationStarted = self._ask_any(lambda worker: worker.started.remote(shared))
        shards = cut(started, options.get("pairs"), max(len(self._workers), 1), self._cores)
        # Shards are numbered across all evaluations of this pool.
        numbered = dict(enumerate(shards, start=self._num_shards))
        self._num_shards += len(shards)
        watched = ShardProgress(started, interval, on_progress)
        try:
            parts = self._play(shared, numbered, watched, interval)
        except BaseException:
            for worker in self._workers.values():
                worker.stop.remote(self._num_shards - 1)
            raise
        watched.end()
        return shared, started, parts

    def _play(
        self, request: Any, shards: dict[int, npt.NDArray[np.int32]], progress: ShardProgress, interval: float
    ) -> list[Any]:
        """Hands out shards until all have returned."""
        waiting = deque(shards)
        running: dict[Any, tuple[str, int]] = {}
        asked: set[Any] = set()  # questions for their progress
        parts = []
        while waiting or running:
            if not self._workers:
                self._wait_for_nodes()
            load = Counter(dict.fromkeys(self._workers, 0))
            load.update(node for node, _ in running.values() if node in self._workers)
            while waiting and load[node := min(load, key=load.__getitem__)] < IN_FLIGHT:
                shard = waiting.popleft()
                running[self._workers[node].play.remote(request, shard, shards[shard])] = node, shard
                load[node] += 1
            done, _ = ray.wait([*running, *asked], num_returns=1, timeout=interval)
            for ref in done:
                if ref in asked:
                    with contextlib.suppress(*_LOST):  # The shards lost with it fail by themselves.
                        for shard, counted in _get(ref).items():
                            progress.hear(shard, counted)
                    asked.remove(ref)
                    continue
                node, shard = running.pop(ref)
                try:
                    parts.append(_get(ref))
                except _LOST:
                    self._lose(node)
                    waiting.append(shard)
                    self.lost_shards += 1
                else:
                    progress.finish(shard, parts[-1])
            if progress.report_if_due({shard for _, shard in running.values()}) and not asked:
                asked = {worker.progress.remote() for worker in self._workers.values()}
        return parts

    def _find_nodes(self) -> Exception | None:
        """Starts servers on nodes without one. Warns about nodes where that fails, and skips them.

        Returns:
            The last failure, if any.
        """
        wanted = self._num_cpus or 1
        alive = {node["NodeID"]: node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]}
        for node in self._workers.keys() - alive.keys():
            self._lose(node)
        new = [node for node, cores in alive.items() if cores >= wanted and node not in {*self._workers, *self._unusable}]
        starting = {}
        for node in new:
            here = NodeAffinitySchedulingStrategy(node, soft=False)
            # In addition to the shards: a question for their progress, and the request to stop.
            actor = ray.remote(num_cpus=self._num_cpus or 0, max_concurrency=IN_FLIGHT + 2, scheduling_strategy=here)
            worker = actor(_Worker).remote(self._args)
            starting[node] = worker, worker.server_info.remote()
        failure = None
        for node, (worker, ready) in starting.items():
            try:
                # If other jobs hold the cores to claim, an actor would wait forever.
                _get(ready, self.patience)
            except _LOST:
                continue
            except Exception as error:
                failure = error
                self._unusable.add(node)
                ray.kill(worker)
                warnings.warn(f"node {node} of the cluster plays no games: {error}", RuntimeWarning, stacklevel=3)
            else:
                self._workers[node] = worker
                self._cores = max(self._cores, self._num_cpus or int(alive[node]))
        return failure

    def _wait_for_nodes(self) -> None:
        deadline = time.monotonic() + self.patience
        while not self._workers:
            self._find_nodes()
            if not self._workers:
                if time.monotonic() > deadline:
                    raise ServerUnavailableError("every node of the cluster has died", code="UNAVAILABLE")
                time.sleep(0.5)

    def _ask_any(self, call: Callable[[Any], Any]) -> Any:
        """The answer of any living worker."""
        while True:
            if not self._workers:
                self._wait_for_nodes()
            node, worker = next(iter(self._workers.items()))
            try:
                return _get(call(worker))
            except _LOST:
                self._lose(node)

    def _lose(self, node: str) -> None:
        """Gives up a node. Ends its actor if it is alive after all, so that another one can be started there."""
        worker = self._workers.pop(node, None)
        if worker is not None:
            with contextlib.suppress(Exception):
                ray.kill(worker)

    def close(self) -> None:
        """Ends the servers."""
        for worker in self._workers.values():
            ray.kill(worker)
        self._workers.clear()

    def __enter__(self) -> Pool:
        """The pool itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the servers."""
        self.close()


def _get(ref: Any, timeout: float | None = None) -> Any:
    """The value that a task returned, or its exception without Ray's wrapping."""
    try:
        return ray.get(ref, timeout=timeout)
    except RayTaskError as error:
        raise error.cause from None
