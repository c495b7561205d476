"""The client: a channel to a server, and the calls that need no session."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import grpc
import numpy.typing as npt

from tetrion import arguments
from tetrion._pb import environment_service_pb2 as pb
from tetrion._pb import evaluation_service_pb2 as evaluation_pb
from tetrion._pb.environment_service_pb2_grpc import EnvironmentServiceStub
from tetrion._pb.evaluation_service_pb2_grpc import EvaluationServiceStub
from tetrion.errors import ForkedClient, InvalidArgument, ServerUnavailable, TetrionError, from_rpc_error
from tetrion.evaluation import Controllers, Evaluation, Seeds, evaluation_request
from tetrion.evaluation_run import Bar, EvaluationRun, Progress
from tetrion.placements import Placements
from tetrion.recovery import Journal, Patience
from tetrion.requests import (
    FeaturesLike,
    PositionsLike,
    RulesLike,
    enum_value,
    features_message,
    positions_message,
    rules_message,
)
from tetrion.server import Server, shared_server
from tetrion.session import Session
from tetrion.tls import Tls
from tetrion.versions import check, stranger

_OPTIONS: list[tuple[str, Any]] = [
    # Over a Unix socket or a list of addresses gRPC would send an authority that HTTP/2 servers refuse.
    ("grpc.default_authority", "localhost"),
    # The server has limits of its own, and tells them.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # Error details come as metadata.
    ("grpc.max_metadata_size", 32 << 10),
    # A peer that vanished is noticed after 40 seconds, in a long evaluation too. The server takes these pings.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # A server that comes back is found within a second; gRPC's own pauses grow to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # What is lost is asked for again by us, who also know how to make it again; gRPC's own way costs every call 10 us.
    ("grpc.enable_retries", 0),
]


class Client:
    """A connection to a server. Threads may share one; sessions made from it belong to one thread each."""

    def __init__(
        self,
        address: str | Server | None = None,
        *,
        token: str | None = None,
        tls: Tls | grpc.ChannelCredentials | bool = False,
        timeout: float = 60.0,
        patience: float = 60.0,
        options: Sequence[tuple[str, Any]] = (),
        any_version: bool = False,
    ) -> None:
        """Connects to a server, at the first call, and compares versions.

        Versions of the program fit if they have the same major number, and while that is 0 the same minor number. A server
        with another `rules_version` than this package is made for is used, after a `VersionWarning`.

        Args:
            address: `host:port`, `unix:/path`, or a `Server`. Left out: a server is started, one for this process.
            token: The bearer token that the server wants.
            tls: Encrypt: True to trust the system's certificates, `Tls` with files of your own, or credentials of gRPC.
            timeout: Seconds that a call may take; evaluations and streams have no limit.
            patience: Seconds to wait for a server that went away to come back. What it has lost is made again, sessions
                from snapshots and evaluations by asking for the missing games, so that a server may be killed and
                started again in the middle of everything. 0: give up at once. A server that never answered is given up
                at once as well.
            options: Further options of the gRPC channel; they go before ours.
            any_version: Use the server whatever its version is.

        Raises:
            InvalidArgument: The address cannot be one, or a number is none.
        """
        self._owner = os.getpid()
        # What makes another client like this one, in another process too.
        self.arguments: dict[str, Any] = {
            "address": address.address if isinstance(address, Server) else address,
            "token": token,
            "tls": tls,
            "timeout": timeout,
            "patience": patience,
            "options": tuple(options),
            "any_version": any_version,
        }
        if address is None:
            address = shared_server()
        elif not isinstance(address, Server):
            _check_address(address)
        if token is not None and not (isinstance(token, str) and token.isascii() and token.isprintable()):
            raise InvalidArgument("token", "cannot be sent, expected printable ASCII characters")
        if not isinstance(tls, (Tls, grpc.ChannelCredentials, bool)):
            raise arguments.wrong("tls", tls, "True, False, a tetrion.Tls or credentials of gRPC")
        self._server = address if isinstance(address, Server) else None
        self.address = address.address if isinstance(address, Server) else address
        self.timeout = arguments.number("timeout", timeout, 0, "seconds, 0 or more")
        self.patience = arguments.number("patience", patience, 0, "seconds, 0 or more")
        self.any_version = arguments.flag("any_version", any_version)
        self.connected = False
        ours = dict(_OPTIONS)
        if tls:
            # The name that certificates are checked against must be the server's own.
            del ours["grpc.default_authority"]
        merged = list({**ours, **dict(options)}.items())
        if tls:
            credentials = tls if isinstance(tls, grpc.ChannelCredentials) else (Tls() if tls is True else tls).credentials()
            self._channel = grpc.secure_channel(self.address, credentials, merged)
        else:
            self._channel = grpc.insecure_channel(self.address, merged)
        self._token = (("authorization", f"Bearer {token}"),) if token is not None else ()
        self._request_id = ""
        self._environment: Any = EnvironmentServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._evaluation: Any = EvaluationServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._info: pb.GetServerInfoResponse | None = None

    @property
    def request_id(self) -> str:
        """The id of this client's calls from now on: the server's log, its traces and `TetrionError.request_id` show it.

        At most 128 visible ASCII characters. Empty, as it is at first: the server makes an id for each call.

        Raises:
            InvalidArgument: It is set to what cannot be an id.
        """
        return self._request_id

    @request_id.setter
    def request_id(self, request_id: str) -> None:
        fits = isinstance(request_id, str) and len(request_id) <= 128 and all("!" <= letter <= "~" for letter in request_id)
        if not fits:
            raise InvalidArgument("request_id", f"is {request_id!r}, expected at most 128 visible ASCII characters")
        self._request_id = request_id

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        """What all calls send."""
        return (*self._token, ("x-request-id", self._request_id)) if self._request_id else self._token

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that made the client, which alone can use it."""
        return os.getpid() != self._owner

    def check_process(self) -> None:
        """Refuses to use a connection whose threads are in another process: it would wait for ever.

        Raises:
            ForkedClient: This process is a fork of the client's.
        """
        if self.forked:
            raise ForkedClient(
                f"process {os.getpid()} was forked from {self._owner} and cannot use its connection to {self.address}",
                code="FAILED_PRECONDITION",
                reason="FORKED",
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle keeps: the arguments, the token among them. Without an address it starts a server where it wakes."""
        if isinstance(self.arguments["tls"], grpc.ChannelCredentials):
            raise TypeError("a Client with credentials of gRPC cannot be pickled; give it tls=tetrion.Tls(...) instead")
        return _client, (self.arguments,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Client:
        """The client itself: copies of what uses a connection share it."""
        return self

    def _call(self, method: str, request: Any, metadata: Sequence[tuple[str, str]] = ()) -> Any:
        self.check_process()
        if self._info is None and method != "GetServerInfo":
            self.server_info()
        try:
            response = getattr(self._environment, method)(
                request, timeout=self.timeout, metadata=(*self._metadata, *metadata)
            )
        except grpc.RpcError as error:
            raise from_rpc_error(error) from None
        self.connected = True
        return response

    def _read(self, method: str, request: Any) -> Any:
        """A call that changes nothing, or that has a name of its own: repeated until it is answered."""
        patience = Patience(self)
        while True:
            try:
                return self._call(method, request)
            except ServerUnavailable as error:
                patience.wait(error)

    @property
    def may_come_back(self) -> bool:
        """Whether to wait for a server that does not answer: it has answered before, and nobody here has ended it."""
        return self.connected and not (self._server is not None and self._server.closed)

    def revive(self) -> None:
        """Starts the server again if it is a `Server` of this process and has died."""
        if self._server is not None:
            self._server.revive()

    def _stream(
        self, requests: Iterator[pb.StepStreamRequest], metadata: Sequence[tuple[str, str]]
    ) -> Iterator[pb.StepStreamResponse]:
        self.check_process()
        responses: Iterator[pb.StepStreamResponse] = self._environment.StepStream(
            requests, metadata=(*self._metadata, *metadata)
        )
        return responses

    def server_info(self, width: int = 0) -> pb.GetServerInfoResponse:
        """Says what the server is, can and allows: presets, features, controllers, limits.

        Args:
            width: The width at which the columns of feature sets are written out; 0 is 10.

        Raises:
            ServerUnavailable: Nothing answers at the address.
            ForeignServer: Something else than a Tetrion server answers there.
            IncompatibleServer: The server is of a version that this package is not made for.
        """
        width = arguments.integer("width", width)
        if self._info is None:
            try:
                info: pb.GetServerInfoResponse = self._read("GetServerInfo", pb.GetServerInfoRequest())
            except TetrionError as error:
                raise stranger(self.address, error) from None
            check(self.address, info, self.any_version)
            # It answers the same while it runs.
            self._info = info
        if width:
            response: pb.GetServerInfoResponse = self._read("GetServerInfo", pb.GetServerInfoRequest(width=width))
            return response
        return self._info

    def create_session(
        self,
        num_envs: int = 1,
        *,
        rules: RulesLike = None,
        observations: Sequence[str] = (),
        infos: Sequence[str] = (),
        features: FeaturesLike = None,
        autoreset: str = "next_step",
        invalid_action: str = "reject",
        invalid_action_reward: float = 0.0,
        seed: int | None = None,
        env_seeds: Sequence[int] = (),
        piece_sequences: Sequence[str] = (),
        max_episode_steps: int = 0,
        action_mask: bool = True,
        ttl: float | None = None,
        snapshot_every: int = 256,
    ) -> Session:
        """Makes a session of environments that step together. Reset it first.

        Args:
            num_envs: How many environments.
            rules: A preset's name, or fields of the message `Rules` by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields wanted, in order; none: the server's default.
            infos: The info fields wanted, in order; none: all.
            features: A feature set's name or a list of features, for the observation `features` and for placements.
            autoreset: `next_step`, `same_step` or `disabled`.
            invalid_action: What becomes of an action that the mask forbids: `reject` the call, `terminate` the episode, or
                `ignore` it, which takes a step and leaves the game as it is.
            invalid_action_reward: The reward of an action that is ignored, usually below 0; with `ignore` only.
            seed: The session seed; left out, drawn by the server, and told in `Session.message.config.seed`.
            env_seeds: A seed for each environment in its place.
            piece_sequences: Explicit pieces in its place: strings of IOTZSJL, one for each environment or one for all.
            max_episode_steps: Truncates episodes after so many steps; 0: never.
            action_mask: Whether answers hold action masks.
            ttl: Seconds that the session is kept when nobody calls; left out, the server's default.
            snapshot_every: Should the server be lost, the session goes on from snapshots that the client takes after so
                many calls, and from its own calls since. 0: the session is lost with its server.
        """
        config = pb.SessionConfig(
            num_envs=arguments.integer("num_envs", num_envs),
            rules=rules_message(rules),
            observation_fields=arguments.names("observations", observations, "board"),
            info_fields=arguments.names("infos", infos, "lines"),
            features=features_message(features),
            autoreset_mode=enum_value(pb.AutoresetMode, autoreset, "autoreset"),
            invalid_action_policy=enum_value(pb.InvalidActionPolicy, invalid_action, "invalid_action"),
            invalid_action_reward=arguments.number("invalid_action_reward", invalid_action_reward),
            seed=arguments.integer("seed", seed, 0, arguments.U64) if seed is not None else None,
            env_seeds=arguments.seeds("env_seeds", env_seeds),
            piece_sequences=arguments.pieces("piece_sequences", piece_sequences),
            max_episode_steps=arguments.integer("max_episode_steps", max_episode_steps),
            action_mask=arguments.flag("action_mask", action_mask),
        )
        snapshot_every = arguments.integer("snapshot_every", snapshot_every)
        lease = arguments.duration("ttl", ttl) if ttl is not None else None
        config.max_response_bytes = self.server_info().limits.max_response_bytes
        return self._create(pb.CreateSessionRequest(config=config, ttl=lease), snapshot_every)

    def _create(self, request: pb.CreateSessionRequest, snapshot_every: int, *, patient: bool = True) -> Session:
        request.request_id = str(uuid.uuid4())
        session = (self._read if patient else self._call)("CreateSession", request).session
        journal = Journal(request, session, snapshot_every) if snapshot_every else None
        return Session(self, session, journal=journal)

    def enumerate_placements(
        self,
        positions: PositionsLike,
        *,
        rules: RulesLike = None,
        features: FeaturesLike = None,
        afterstates: bool = False,
        position_features: bool = False,
    ) -> Placements:
        """Lists every placement in positions of the caller's own; for a session's, see `Session.enumerate_placements`.

        Args:
            positions: Snapshots, `Drawing`s or `Packed` playfields.
            rules: Their rules; snapshots have their own, and others are `simplified` if this is left out.
            features: The features wanted, a set's name or a list of names.
            afterstates: Whether the playfields after the placements are wanted.
            position_features: Whether the features of the positions as they stand are wanted.
        """
        request = pb.EnumeratePlacementsRequest(
            positions=positions_message(positions, rules),
            features=features_message(features),
            include_afterstates=arguments.flag("afterstates", afterstates),
            include_position_features=arguments.flag("position_features", position_features),
        )
        request.max_response_bytes = self.server_info().limits.max_response_bytes
        return Placements.from_message(self._read("EnumeratePlacements", request))

    def evaluate(
        self,
        controllers: Controllers = (),
        *,
        weights: npt.ArrayLike | None = None,
        features: FeaturesLike = None,
        seeds: Seeds = None,
        progress: bool = False,
        on_progress: Progress | None = None,
        **limits: Any,
    ) -> Evaluation:
        """Plays many games and waits for all of them.

        Args:
            controllers: Names of controllers or agents, or `Agent` messages: the policies after the matrix' rows.
            weights: Weight vectors [P, F], or one [F], of linear controllers.
            features: What the columns of `weights` mean.
            seeds: [S], common to all policies; [P, S], a row for each; or a `SeedRange`.
            progress: Whether to draw a bar on stderr, tqdm's if it is installed.
            on_progress: Called now and then with how far it is.
            **limits: What is played, and how far, by name:
                `piece_sequences` (explicit pieces in place of seeds, one text a game, common to all policies);
                `rules` (a preset's name, or fields of the message `Rules` by name; left out, `simplified`);
                `rules_version` (refuse unless the server has this one);
                `terminal` (what a placement that ends the game is worth to the matrix' policies, `avoid` or `score`);
                `lookahead` (next pieces that the matrix' policies take into account, 0 if left out);
                `episodes_per_seed` (1 if left out);
                `pairs` (uint32 [G, 2], policy and seed indices to play; left out, all);
                `max_pieces`, `max_steps` (each cuts a game after so many; 0 or left out: the server's limit);
                `baseline` (index of the policy that others are compared with; left out, the first);
                `max_parallelism` (threads to use at most; 0 or left out: all);
                `progress_interval` (seconds between progress messages; left out, one);
                `omit_results` (True asks for the summary alone).

        Raises:
            InvalidArgument: A limit of another name, or a value that is none of its kind or range; neither or both of
                `seeds` and `piece_sequences` are given.
        """
        run = self.start_evaluation(
            controllers,
            weights=weights,
            features=features,
            seeds=seeds,
            progress=progress,
            on_progress=on_progress,
            **limits,
        )
        return run.result()

    def start_evaluation(
        self,
        controllers: Controllers = (),
        *,
        weights: npt.ArrayLike | None = None,
        features: FeaturesLike = None,
        seeds: Seeds = None,
        progress: bool = False,
        on_progress: Progress | None = None,
        **limits: Any,
    ) -> EvaluationRun:
        """Begins to play many games, to be iterated over as they finish.

            run = client.start_evaluation("bcts", seeds=tetrion.SeedRange(1, 1000), rules={"height": 10})
            for games in run:
                print(run.games_done, "of", run.num_games, games.lines.mean())
            run.result().summary

        The arguments are those of `evaluate`. Nothing is played before the first game is asked for.
        """
        request = evaluation_request(controllers, weights=weights, features=features, seeds=seeds, **limits)
        return EvaluationRun(self, request, Bar() if progress else on_progress)

    def evaluate_stream(
        self,
        controllers: Controllers = (),
        *,
        weights: npt.ArrayLike | None = None,
        features: FeaturesLike = None,
        seeds: Seeds = None,
        timeout: float | None = None,
        **limits: Any,
    ) -> Iterator[evaluation_pb.EvaluatePoliciesResponse]:
        """Plays many games and gives the messages as they come: `started`, `results` and `progress`, last `summary`.

        One call and no more: should the server be lost, so is the rest. Leaving the iteration early ends the games on
        the server. The arguments are those of `evaluate`.
        """
        request = evaluation_request(controllers, weights=weights, features=features, seeds=seeds, **limits)
        return self._evaluate(request, timeout)

    def _evaluate(
        self, request: evaluation_pb.EvaluatePoliciesRequest, timeout: float | None
    ) -> Iterator[evaluation_pb.EvaluatePoliciesResponse]:
        self.check_process()
        self.server_info()
        call = self._evaluation.EvaluatePolicies(request, timeout=timeout, metadata=self._metadata)
        try:
            for message in call:
                self.connected = True
                yield message
        except grpc.RpcError as error:
            raise from_rpc_error(error) from None
        finally:
            call.cancel()

    def close(self) -> None:
        """Closes the connection. Sessions live on until they are closed or their lease runs out."""
        if not self.forked:
            self._channel.close()

    def __enter__(self) -> Client:
        """The client itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the connection."""
        self.close()


def _client(arguments: dict[str, Any]) -> Client:
    return Client(**arguments)


# What gRPC takes besides HOST:PORT, with a colon behind it; see its page on naming.
_SCHEMES = ("unix", "unix-abstract", "vsock", "dns", "ipv4", "ipv6", "xds")
_HOST_AND_PORT = re.compile(r"([^:/\s]+|\[[^\]/\s]+\]):\d{1,5}")


def _check_address(address: Any) -> None:
    expected = "'host:port' without a scheme, such as '127.0.0.1:50451'"
    arguments.text("address", address, expected)
    if not (_HOST_AND_PORT.fullmatch(address) or (":" in address and address.split(":")[0] in _SCHEMES)):
        raise arguments.wrong("address", address, expected)
