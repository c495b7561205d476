"""Evaluations and training on all machines of a Ray cluster, with one server per node.

    import ray, tetrion.ray
    ray.init(address="auto")
    with tetrion.ray.Pool() as pool:
        result = pool.evaluate(weights=matrix, features="bcts8", seeds=tetrion.DrawnSeeds(1, 1000))
        weights = tetrion.cem(pool, generations=30).run()

A `Pool` puts an actor on every node, and each actor starts a server there and calls it over loopback. An evaluation is cut
into calls, and each free node gets the next one. A game depends only on its policy and its seed. So if a node dies, its
calls are simply made to another node, and the results equal those of a single machine, to the last bit of the summary.

Every node needs this package with its program, as in a wheel. Nodes need not reach each other's servers.
"""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tetrion._checks import extras, keywords

try:
    import ray
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(extras.missing("tetrion.ray needs", "Ray", "ray"), name="ray") from error
from ray.exceptions import NodeDiedError, ObjectLostError, RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tetrion import _native
from tetrion._checks.arguments import duration, seconds
from tetrion._clients.client import Client
from tetrion._evaluations.games import Estimates, Games, Part
from tetrion._evaluations.progress import Progress, listener
from tetrion._evaluations.recordings import with_recordings, words_of
from tetrion._evaluations.request import EvaluationOptions, estimation_request, evaluation_request
from tetrion._evaluations.results import Estimation, Evaluation, estimation, evaluation
from tetrion._evaluations.run import Outcome, outcome
from tetrion._messages.policies import PoliciesLike
from tetrion._messages.records import record as read
from tetrion._pb import messages as pb
from tetrion._pb.records import Catalog, EvaluationProgress, ServerInfo
from tetrion._recordings.recording import Recording
from tetrion._transport.native import translated
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
        self._running: dict[int, bytes] = {}
        self._stopped = -1

    def server_info(self) -> ServerInfo:
        return self._started().server_info()

    def catalog(self, width: int | None = None) -> Catalog:
        return self._started().catalog(width)

    def play(self, request: bytes, call: int) -> list[bytes]:
        """Plays a call of an evaluation, again if the server dies. Returns its messages without its progress."""

        def hear(message: pb.EvaluatePoliciesResponse) -> None:
            if message.which("event") == "progress":
                self._running[call] = message.progress.encode()
            if call <= self._stopped:
                raise _StoppedError  # Which ends the games on the server.

        try:
            asked = pb.EvaluatePoliciesRequest.decode(request)
            messages = self._started()._connection.evaluate_patiently(asked, hear)
        finally:
            self._running.pop(call, None)
        return [message.encode() for message in messages if message.which("event") != "progress"]

    def recordings(self, request: bytes, played: Evaluation, words: Sequence[str]) -> tuple[Recording, ...]:
        """The recordings that the words ask for, from an evaluation that all nodes have played."""
        client = self._started()
        client._connection.revive()
        message = pb.EvaluatePoliciesRequest.decode(request)
        return with_recordings(client._connection, message, played, words).recordings

    def progress(self) -> dict[int, bytes]:
        """The progress of the calls in progress."""
        return dict(self._running)

    def stop(self, call: int) -> None:
        """Stops the calls up to this one, because their games are no longer needed."""
        self._stopped = call

    def _started(self) -> Client:
        """The client of this node's server, which starts on first use."""
        with self._starting:
            if self._client is None:
                self._client = Client(Server(args=self._args))
            return self._client


class _StoppedError(Exception):
    """Raised in a call whose games are no longer wanted."""


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
        self._num_calls = 0
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
        request = evaluation_request(policies, **options)
        result = evaluation(*self._play(request, hears, Games), include_results=request.include_results)
        if not words:
            return result
        played, encoded = ray.put(result), request.encode()
        return replace(result, recordings=self._ask_any(lambda worker: worker.recordings.remote(encoded, played, words)))

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
        request = estimation_request(policies, trials, **options)
        return estimation(*self._play(request, hears, Estimates), include_results=request.include_results)

    def _play(self, request: pb.EvaluatePoliciesRequest, on_progress: Progress | None, kind: type[Part]) -> Outcome[Part]:
        """Plays a request on all nodes."""
        self._find_nodes()
        interval = seconds(request.progress_interval) if request.has("progress_interval") else 1.0
        request.progress_interval = duration("progress_interval", max(interval, 0.1))
        # A call comes back as a whole, so even one node gets several.
        spread = _native.Spread(request.encode(), max(len(self._workers), 2), self.patience)
        try:
            with translated():
                self._hand_out(spread, on_progress, max(interval, 0.1))
                if on_progress is not None:
                    on_progress(_progress(spread.report()))
                return outcome(spread.result(), kind)
        except BaseException:
            for worker in self._workers.values():
                worker.stop.remote(self._num_calls)
            raise

    def _hand_out(self, spread: _native.Spread, on_progress: Progress | None, interval: float) -> None:
        """Hands out calls until all have come back."""
        first = self._num_calls  # Calls are numbered across all evaluations of this pool.
        running: dict[Any, tuple[str, int]] = {}
        asked: set[Any] = set()  # questions for their progress
        while not spread.is_over():
            if not self._workers:
                self._wait_for_nodes()
            spread.set_servers(list(self._workers))
            while (call := spread.hand_out()) is not None:
                number, node, message = call
                self._num_calls = max(self._num_calls, first + number)
                running[self._workers[node].play.remote(message, first + number)] = node, number
            if not running:
                time.sleep(0.05)  # A node that has just died and come back rests.
                continue
            done, _ = ray.wait([*running, *asked], num_returns=1, timeout=interval)
            for ref in done:
                if ref in asked:
                    asked.remove(ref)
                    with contextlib.suppress(*_LOST):  # The calls lost with it fail by themselves.
                        going = {number for _, number in running.values()}
                        for number, progress in _get(ref).items():
                            if number - first in going:
                                spread.hear(number - first, progress)
                    if not asked and on_progress is not None:
                        on_progress(_progress(spread.report()))
                    continue
                node, number = running.pop(ref)
                try:
                    messages = _get(ref)
                except _LOST:
                    self._lose(node)
                    spread.end(number, is_lost=True)
                    self.lost_shards += 1
                else:
                    for answer in messages:
                        spread.take(number, answer)
                    spread.end(number, is_lost=False)
            if on_progress is not None and not asked and spread.is_report_due():
                asked = {worker.progress.remote() for worker in self._workers.values()}

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
            # Two calls at a time, a question for their progress, and the request to stop.
            actor = ray.remote(num_cpus=self._num_cpus or 0, max_concurrency=4, scheduling_strategy=here)
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


def _progress(encoded: bytes) -> EvaluationProgress:
    progress: EvaluationProgress = read(pb.EvaluationProgress.decode(encoded))
    return progress


def _get(ref: Any, timeout: float | None = None) -> Any:
    """The value that a task returned, or its exception without Ray's wrapping."""
    try:
        return ray.get(ref, timeout=timeout)
    except RayTaskError as error:
        raise error.cause from None
