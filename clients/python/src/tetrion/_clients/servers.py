"""Several equal servers as one client, without a scheduler and without a load balancer.

Calls without a session (`server_info`, `catalog`, `enumerate_placements`, `evaluate`) go to the servers in turn. All give
the same answer, so if one does not answer, another one does. A session lives on one server, which gets all its calls:
`create_session` creates each session on the next server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._evaluations.games import Estimates, Games, Part, joined
from tetrion._evaluations.progress import Progress, listener
from tetrion._evaluations.recordings import with_recordings, words_of
from tetrion._evaluations.request import EvaluationOptions, estimation_request, evaluation_request
from tetrion._evaluations.results import Estimation, Evaluation, estimation, evaluation
from tetrion._evaluations.run import EstimationRun, EvaluationRun, Run, describe
from tetrion._evaluations.sharding import IN_FLIGHT, ShardProgress, StoppedError, counts, cut
from tetrion._messages.policies import PoliciesLike
from tetrion._messages.tensors import from_numpy, to_numpy
from tetrion._pb import messages as pb
from tetrion._pb.records import EvaluationProgress
from tetrion._sessions.session import Session
from tetrion._transport.addresses import check, look_up, split
from tetrion._transport.balanced import Balanced
from tetrion._transport.connection import Connection, ConnectionSettings
from tetrion._transport.server import Server
from tetrion._transport.tls import Tls
from tetrion._transport.transport import Transport
from tetrion.errors import InvalidArgumentError, ServerUnavailableError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Servers(Client):
    """A `Client` of several servers of the same version. Threads may share it."""

    @keywords.checked
    def __init__(
        self,
        addresses: str | Sequence[str | Server],
        *,
        num_servers: int | None = None,
        **settings: Unpack[ConnectionSettings],
    ) -> None:
        """Connects to the servers, at the first call.

        Args:
            addresses: `host:port` of each server; or one name for all of them, such as `dns:///tetrion:50451`, which only
                takes calls without sessions. The client looks the name up again when it loses a server.
            num_servers: Number of servers behind a name; a guess is good enough.
            **settings: See `ConnectionSettings`. `patience` is the time to wait if no server answers any more.

        Raises:
            InvalidArgumentError: An address is malformed, or a setting does not exist or is out of range.
            ServerUnavailableError: A host in the list is unknown.
        """
        if num_servers is not None:
            num_servers = arguments.integer("num_servers", num_servers, 1)
        self._single: list[Connection] = []
        if isinstance(addresses, str):
            check(addresses)
            place = addresses
            connect = _connector(place, settings)
            connect(place)  # The settings are refused here, and not at the first call.
            transport = Balanced(lambda: look_up(place), connect)
        else:
            listed = arguments.items("addresses", addresses, "a list of addresses")
            if not listed:
                raise arguments.wrong("addresses", addresses, "at least one address")
            if None in listed:
                raise arguments.wrong("addresses", addresses, "addresses of servers")
            self._single = [Connection(address, **settings) for address in listed]
            transports = {connection.place: connection._transport for connection in self._single}
            for address in transports:
                look_up(address)
            addresses = [connection.place for connection in self._single]
            place = ", ".join(transports)
            transport = Balanced(lambda: transports, transports.__getitem__)
        self._num_servers = num_servers or len(self._single) or 4
        self._next = 0
        self._use(Connection(place, transport=transport, **settings))
        self._arguments = {"addresses": addresses, "num_servers": num_servers, **settings}

    def _create(self, request: pb.CreateSessionRequest, snapshot_every: int, copy: bool = True) -> Session:
        """Creates a session on the next server, or on the one after it if that server cannot be reached."""
        if not self._single:
            raise InvalidArgumentError(
                f"a session lives on one server, and {self.address!r} may be several; give their addresses"
            )
        first, self._next = self._next, self._next + 1
        failure: ServerUnavailableError | None = None
        for number in range(first, first + len(self._single)):
            connection = self._single[number % len(self._single)]
            try:
                return Session._create(connection, request, snapshot_every, copy=copy, patient=False)
            except ServerUnavailableError as error:
                failure = error
        assert failure is not None, "there is a server"
        raise failure

    def _connection_for(self, session: str | Session) -> Connection:
        if isinstance(session, str):
            raise arguments.wrong("session", session, "a session or an environment; a Client of its server takes names")
        return session._connection

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
        """Plays many games on all servers at once. Arguments and results are those of `Client.evaluate`, to the last bit.

        It cuts the evaluation into shards, one call each. `start_evaluation` is a single call to one server.
        """
        words = words_of(record, options)
        hears = listener(progress, on_progress)
        request = evaluation_request(policies, **options)
        started, games = self._share(EvaluationRun, Games, request, options, hears)
        result = evaluation(games, started, include_results=request.include_results)
        return with_recordings(self._connection, request, result, words)

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
        """Estimates on all servers at once. Arguments and results are those of `Client.estimate`, to the last bit."""
        hears = listener(progress, on_progress)
        request = estimation_request(policies, trials, **options)
        started, estimates = self._share(EstimationRun, Estimates, request, options, hears)
        return estimation(estimates, started, include_results=request.include_results)

    def _share(
        self,
        run: type[Run[Part]],
        kind: type[Part],
        request: pb.EvaluatePoliciesRequest,
        options: EvaluationOptions,
        on_progress: Progress | None,
    ) -> tuple[pb.EvaluationStarted, Part]:
        """Cuts a request into shards, one run each. Returns the request's description and all results."""
        request.rules_version = request.rules_version or self.server_info().rules_version
        started = describe(self._connection, request)
        pairs = to_numpy(request.pairs) if request.HasField("pairs") else None
        shards = dict(enumerate(cut(started, pairs, self._num_servers)))
        interval = options.get("progress_interval")
        watched = ShardProgress(started, 1.0 if interval is None else interval, on_progress)
        stop = threading.Event()

        def play(shard: int) -> Part:
            def hear(now: EvaluationProgress) -> None:
                watched.hear(shard, counts(now))
                if stop.is_set():
                    raise StoppedError

            if stop.is_set():
                raise StoppedError
            part = pb.EvaluatePoliciesRequest()
            part.CopyFrom(request)
            part.pairs.CopyFrom(from_numpy(shards[shard]))
            part.include_results = True
            results, _, _ = run(self._connection, part, hear)._finish()
            return results

        parts = []
        with ThreadPoolExecutor(IN_FLIGHT * self._num_servers) as pool:
            running = {pool.submit(play, shard): shard for shard in shards}
            try:
                while running:
                    done, _ = wait(running, timeout=watched.interval, return_when=FIRST_COMPLETED)
                    for future in done:
                        shard = running.pop(future)
                        parts.append(future.result())
                        watched.finish(shard, parts[-1])
                    watched.report_if_due(set(running.values()))
            except BaseException:
                stop.set()
                raise
        watched.end()
        return started, joined(parts, kind)

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._single:
            connection.close()
        super().close()


def _connector(name: str, settings: ConnectionSettings) -> Callable[[str], Transport]:
    """Connects to the servers that a name stands for. The name is that in their certificates, unless `tls` has another."""
    tls = Tls() if settings.get("tls") is True else settings.get("tls")
    if isinstance(tls, Tls) and tls.server_name is None:
        settings = {**settings, "tls": replace(tls, server_name=split(name)[0])}
    return lambda address: Connection(address, **settings)._transport
