"""The client: calls without a session, and the ways to create or watch sessions."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from gymnasium.vector import AutoresetMode

from tetrion import _native
from tetrion._checks import arguments, keywords
from tetrion._evaluations.progress import Progress, listener
from tetrion._evaluations.recordings import with_recordings, words_of
from tetrion._evaluations.request import EvaluationOptions, estimation_request, evaluation_request
from tetrion._evaluations.results import Estimation, Evaluation
from tetrion._evaluations.run import EstimationRun, EvaluationRun
from tetrion._messages import requests
from tetrion._messages.listing import PlacementsOptions, placements_request
from tetrion._messages.placements import Placements
from tetrion._messages.policies import PoliciesLike, Policy, policy_from
from tetrion._messages.records import record
from tetrion._messages.requests import (
    FeaturesLike,
    PositionsLike,
    RulesLike,
    enum_value,
    features_message,
    field_names,
    num_positions,
    positions_message,
    rules_message,
)
from tetrion._messages.seedings import SeedsLike, session_seeding
from tetrion._pb import messages as pb
from tetrion._pb.records import Catalog, ServerInfo, Task, TaskScore
from tetrion._sessions.calls import EnvIds
from tetrion._sessions.history import History, history_of
from tetrion._sessions.session import Session, Source, session_of
from tetrion._transport.connection import Connection, ConnectionSettings
from tetrion._transport.server import Server
from tetrion._watching.watching import Watching

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Client:
    """A client of one server. Threads may share it, but each of its sessions belongs to one thread.

    There is no asynchronous client: in a program with an event loop, write `await asyncio.to_thread(client.evaluate, ...)`.
    """

    # About how many servers play the games of an evaluation.
    _num_servers = 1

    @keywords.checked
    def __init__(self, address: str | Server | None = None, **settings: Unpack[ConnectionSettings]) -> None:
        """Connects to a server, at the first call, and compares versions.

        A server that lacks parts of the protocol that this package uses is refused, unless `any_version` is set. A server
        with another `rules_version` than this package expects is used, after a `VersionWarning`.

        Args:
            address: `host:port`, `unix:/path`, or a `Server`. Default: the address in the environment variable
                TETRION_SERVER or, if it is not set, this process.
            **settings: `token`, `tls`, `timeout`, `patience` and `any_version`; see `ConnectionSettings`.

        Raises:
            InvalidArgumentError: The address is malformed, or a setting does not exist or is out of range.
        """
        self._use(Connection(address, **settings))

    def _use(self, connection: Connection) -> None:
        self._connection = connection
        # Arguments that create an equal client, even in another process.
        self._arguments = connection.settings
        self._catalog: Catalog | None = None

    @property
    def address(self) -> str | None:
        """Address of the server; None if the services are in this process."""
        return self._connection.address

    @property
    def timeout(self) -> float:
        """Time limit of a call, in seconds."""
        return self._connection.timeout

    @property
    def patience(self) -> float:
        """Seconds to wait for a lost server to come back."""
        return self._connection.patience

    @property
    def request_id(self) -> str:
        """The id of this client's calls from now on. The server's log, its traces and `TetrionError.request_id` show it.

        At most 128 visible ASCII characters. If it is empty, as at the start, the server creates an id for each call.

        Raises:
            InvalidArgumentError: The new value cannot be an id.
        """
        return self._connection.request_id

    @request_id.setter
    def request_id(self, request_id: str) -> None:
        self._connection.request_id = request_id

    def __repr__(self) -> str:
        """The address of the server, without the token."""
        return f"<tetrion.{type(self).__name__} of {self._connection.place}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments, including the token. Without an address, the copy connects like a new client."""
        return _remade, (type(self), self._arguments)

    def __deepcopy__(self, memo: dict[int, Any]) -> Client:
        """The client itself: copies of an environment share its connection."""
        return self

    def server_info(self) -> ServerInfo:
        """Describes the server: its versions, and the limits for this client, which may change.

        Raises:
            ServerUnavailableError: Nothing answers at the address.
            ForeignServerError: Something other than a Tetrion server answers there.
            IncompatibleServerError: The server does not know all of the protocol that this package uses.
        """
        return cast(ServerInfo, record(self._connection.server_info()))

    def catalog(self, width: int | None = None) -> Catalog:
        """Lists everything that the server supports: presets, pieces, features, policies, and fields of sessions.

        Args:
            width: Width of the playfield for which to list the columns of feature sets. Default: 10.
        """
        if width is not None:
            return cast(Catalog, record(self._connection.catalog(arguments.integer("width", width, 1))))
        if self._catalog is None:
            self._catalog = cast(Catalog, record(self._connection.catalog()))
        return self._catalog

    def get_policy(self, name: str) -> Policy:
        """A policy of the server, with every default filled in: a controller has its weights and their features.

        `evaluate` plays it like the named policy. Change it with `dataclasses.replace`.

        Raises:
            InvalidRequestError: The server has no policy with this name.
        """
        request = pb.GetPolicyRequest(name=arguments.string("name", name, "the name of a policy"))
        answer = self._connection.call_patiently("GetPolicy", request)
        return policy_from(answer.policy, answer.info.width)

    def task(self, split: str, index: int) -> Task:
        """A task with a known optimum; see `tetrion.tasks`.

        Args:
            split: `train` or `test`.
            index: Number of the task in its split, below `tetrion.tasks.NUM_TASKS`.

        Raises:
            InvalidRequestError: The suite has no such task.
        """
        request = pb.GetTaskRequest(split=_split(split), index=arguments.integer("index", index))
        return cast(Task, record(self._connection.call_patiently("GetTask", request)))

    def score_task(
        self, split: str, index: int, *, actions: Sequence[int] | Sequence[str] | None = None, formula: str | None = None
    ) -> TaskScore:
        """The score of a task: of the actions so far, or of a formula.

        It depends on nothing else, so a task can be played in any session, or in none.

        Args:
            split: `train` or `test`.
            index: Number of the task.
            actions: The actions from the start of the task on, for all tasks but those of the group `formula`: numbers, or
                texts such as `["c", "0@2"]`.
            formula: The formula, for a task of the group `formula`. It plays games, which takes up to some seconds.

        Raises:
            InvalidRequestError: An action is no placement of its piece or follows the end of the task, the formula is wrong,
                or the task needs the other argument.
        """
        request = pb.ScoreTaskRequest(split=_split(split), index=arguments.integer("index", index))
        if actions is not None:
            if any(isinstance(action, str) for action in arguments.items("actions", actions, "actions such as [3, 0]")):
                request.text_actions = arguments.names("actions", actions, "0@2")
            else:
                low, high = -(2**31), 2**31 - 1
                request.actions = arguments.integers("actions", actions, "actions such as [3, 0]", high, low)
        if formula is not None:
            request.formula = pb.Formula(text=arguments.string("formula", formula, "a formula such as '-holes'"))
        return cast(TaskScore, record(self._connection.call_patiently("ScoreTask", request)))

    @keywords.checked
    def create_session(
        self,
        num_envs: int = 1,
        *,
        rules: RulesLike = None,
        observations: Sequence[str] | None = None,
        infos: Sequence[str] | None = None,
        features: FeaturesLike = None,
        autoreset_mode: str | AutoresetMode = "next_step",
        invalid_action_policy: str = "reject",
        invalid_action_reward: float = 0.0,
        seed: int | None = None,
        env_seeds: SeedsLike = None,
        piece_sequences: Sequence[str] = (),
        hole_columns: Sequence[Sequence[int]] = (),
        max_episode_steps: int | None = None,
        action_mask: bool = True,
        ttl: float = 3600.0,
        snapshot_every: int = 256,
        copy: bool = True,
        keep_colors: bool = False,
        label: str = "",
    ) -> Session:
        """Creates a session of environments that step together. Reset it first.

        Args:
            num_envs: Number of environments.
            rules: A preset's name, or fields of the message `Rules` by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields, in order; none if empty. Default: the server's choice.
            infos: The info fields, in order; none if empty. Default: the server's choice.
            features: The name of a feature set or a list of features, for the observation `features` and for placements.
            autoreset_mode: `next_step`, `same_step` or `disabled`, or Gymnasium's `AutoresetMode`.
            invalid_action_policy: Consequence of an action that the mask forbids: `reject` the call, `terminate` the
                episode, or `ignore` the action, which takes a step and leaves the game unchanged.
            invalid_action_reward: The reward of an ignored action, usually negative; only with `ignore`.
            seed: The session's seed. By default the server draws one, which is then in `Session.config.seed`.
            env_seeds: Instead of `seed`, one seed per environment, or `DrawnSeeds`.
            piece_sequences: Instead of seeds, explicit pieces: a string of the letters IOTZSJL per environment, or one for
                all of them.
            hole_columns: With piece sequences and under rules with garbage, a list per string: the columns of the holes, in
                the order in which lines get them.
            max_episode_steps: Truncates episodes after this many steps. None: never.
            action_mask: Whether answers contain action masks.
            ttl: Seconds without a call after which the server removes the session. In this process it lives as long as this
                object.
            snapshot_every: Number of calls between two snapshots that the client takes. If the server is lost, the session
                continues from the last ones and the calls since. 0: the session is lost with its server.
            copy: Whether each answer has new arrays, which belong to the caller; keeping a small one, such as the rewards,
                keeps nothing else, and a large one, such as the playfields, the whole answer, at most four times its size.
                If False, every second step, and in this process every second reset, writes its answer into the same arrays,
                which is fastest.
            keep_colors: Whether the session keeps the tetromino that each cell came from, which `Session.pictures` shows.
                Then snapshots are longer by a byte for each cell.
            label: A name for people, such as "ppo lr 3e-4", at most 128 bytes: `tetrion watch --session` takes it, and the
                server's page shows it.
        """
        # With bits, a step of 1,024 games of modern Tetris takes half the time; a small step takes no longer than with
        # bytes.
        wants_masks = arguments.flag("action_mask", action_mask)
        mask_format = pb.ACTION_MASK_FORMAT_BITS if wants_masks else pb.ACTION_MASK_FORMAT_NONE
        config = pb.SessionConfig(
            num_envs=arguments.integer("num_envs", num_envs, 1),
            rules=rules_message(rules),
            observation_fields=field_names("observations", observations, "board"),
            info_fields=field_names("infos", infos, "lines"),
            features=features_message(features),
            autoreset_mode=enum_value(pb.AutoresetMode, requests.autoreset_mode(autoreset_mode).name),
            invalid_action_policy=enum_value(pb.InvalidActionPolicy, invalid_action_policy, "invalid_action_policy"),
            invalid_action_reward=arguments.number("invalid_action_reward", invalid_action_reward),
            seeding=session_seeding(env_seeds, piece_sequences, hole_columns, seed, "env_seeds"),
            max_episode_steps=arguments.limit("max_episode_steps", max_episode_steps),
            action_mask_format=mask_format,
            keep_colors=arguments.flag("keep_colors", keep_colors),
            label=arguments.string("label", label, "a text such as 'ppo lr 3e-4'"),
        )
        snapshot_every = arguments.integer("snapshot_every", snapshot_every)
        lease = arguments.duration("ttl", ttl)
        config.max_response_bytes = self._connection.limits.messages.max_response_bytes
        request = pb.CreateSessionRequest(config=config, ttl=lease)
        return self._create(request, snapshot_every, arguments.flag("copy", copy))

    def _create(self, request: pb.CreateSessionRequest, snapshot_every: int, copy: bool = True) -> Session:
        return Session._create(self._connection, request, snapshot_every, copy=copy)

    @keywords.checked
    def watch(
        self,
        session: str | Source,
        env_ids: EnvIds = None,
        *,
        render_fps: int | None = None,
        render_scale: float = 1.0,
        render_palette: str = "usual",
    ) -> Watching:
        """Watches a session while its learner steps it: yields the newest states of its games, with pictures.

        The learner may be in this process, in another one or on another machine. Its calls never wait for a viewer, and a
        watch does not renew the session's lease.

        Args:
            session: Name of the session, such as `Session.name` on the learner's side; or a session or an environment in
                this process.
            env_ids: Environments to watch, at most `max_watched_envs` of `Client.server_info().limits.watches`. Default:
                all, or as many as this limit allows.
            render_fps: Most frames per second. Default: 20.
            render_scale: The size of pictures, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual` or `color-blind`.

        Raises:
            SessionNotFoundError: The server has no such session for the client's token.
            ServerFullError: The session, or all sessions together, have the most viewers allowed.
        """
        source = arguments.string("session", session) if isinstance(session, str) else session_of("session", session)
        return Watching(
            self._connection_for(source), source, env_ids, fps=render_fps, scale=render_scale, palette=render_palette
        )

    @keywords.checked
    def history(self, session: str | Source) -> History:
        """The learning curve of a session: its finished episodes since its start, thinned to at most 256 points.

            history = client.history(env)
            plt.plot(history.episodes, history.lines[:, 0])

        The session counts its episodes itself, so the curve is complete however late this is called. It renews no lease. If
        a session is lost with its server, the new one begins with an empty history.

        Args:
            session: Name of the session, such as `Session.name` on the learner's side; or a session or an environment in
                this process.

        Raises:
            SessionNotFoundError: The server has no such session for the client's token.
        """
        source = session if isinstance(session, str) else session_of("session", session)
        request = pb.GetHistoryRequest(session=source if isinstance(source, str) else source.name)
        return history_of(self._connection_for(source).call_patiently("GetHistory", request))

    def _connection_for(self, session: str | Session) -> Connection:
        """A connection for watching a session. It belongs to this client, so it outlives the learner's connection."""
        return self._connection

    @keywords.checked
    def enumerate_placements(
        self, positions: PositionsLike, *, rules: RulesLike = None, **options: Unpack[PlacementsOptions]
    ) -> Placements:
        """Lists every placement in given positions. For those of a session, see `Session.enumerate_placements`.

        Args:
            positions: Snapshots, `Drawing`s, `Packed` playfields, or an observation: `board` and `current`, and if present
                `queue` and `held`, of one game or of the games of a vector environment.
            rules: Their rules, by default `simplified`. Snapshots contain their rules.
            **options: `features`, `afterstates`, `cells`, `keys` and more; see `PlacementsOptions`.
        """
        request = placements_request(**options).changed(
            positions=positions_message(positions, rules, self._connection.catalog),
            max_response_bytes=self._connection.limits.messages.max_response_bytes,
            min_revision=self._connection.min_revision,
        )
        answer = self._connection.call_patiently("EnumeratePlacements", request)
        with self._connection.calling():
            return Placements._of(_native.read_placements(answer.encode(), num_positions(request.positions)))

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
        """Plays many games and waits for all of them.

        Args:
            policies: Names of policies, `Policy`s, or a list of both. They follow the rows of the matrix.
            progress: Whether to draw a bar on stderr, with tqdm if it is installed.
            on_progress: A function called with the progress, once per `progress_interval`.
            record: Games of each policy to put into `Evaluation.recordings`: `best`, `worst`, `median`, `all=N` for the
                first N, or several of these; by default none. The server plays them again to record their actions.
            **options: What to play, and how far: `weights`, `features`, `seeds`, `rules`, `max_pieces` and more; see
                `EvaluationOptions`.

        Raises:
            InvalidArgumentError: An option does not exist, or a value has the wrong type or is out of range. Or an option
                would have no effect, such as `features` without `weights`, or `seeds` and `piece_sequences` are both given.
        """
        words = words_of(record, options)
        request = evaluation_request(policies, **options)
        result = EvaluationRun(self._connection, request, listener(progress, on_progress), self._num_servers).result()
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
        """Estimates how long games last instead of playing them, for policies that rarely lose.

        Args:
            policies: Names of policies, `Policy`s, or a list of both. They follow the rows of the matrix.
            trials: Trials per height of the stack. More trials give better estimates.
            progress: Whether to draw a bar on stderr, with tqdm if it is installed.
            on_progress: A function called with the progress, once per `progress_interval`.
            **options: The options of `evaluate`, except `piece_sequences` and `baseline`. `max_pieces` and `max_steps` limit
                estimates like games.

        Raises:
            InvalidArgumentError: For the reasons in `evaluate`.
        """
        request = estimation_request(policies, trials, **options)
        return EstimationRun(self._connection, request, listener(progress, on_progress), self._num_servers).result()

    @keywords.checked
    def start_evaluation(
        self,
        policies: PoliciesLike = (),
        *,
        progress: bool = False,
        on_progress: Progress | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> EvaluationRun:
        """Starts an evaluation, and iterates over the games as they finish.

            run = client.start_evaluation("bcts", seeds=tetrion.DrawnSeeds(1, 1000), rules={"height": 10})
            for games in run:
                print(run.games_done, "of", run.num_games, games.lines.mean())
            run.result().summary

        The arguments are those of `evaluate`. The server starts to play when the iteration starts.
        """
        request = evaluation_request(policies, **options)
        return EvaluationRun(self._connection, request, listener(progress, on_progress), self._num_servers)

    def close(self) -> None:
        """Closes the connection. Sessions live on until they are closed or their leases expire."""
        self._connection.close()

    def __enter__(self) -> Client:
        """The client itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the connection."""
        self.close()


def _split(split: object) -> str:
    return arguments.string("split", split, "'train' or 'test'")


def _remade(kind: type[Client], arguments: dict[str, Any]) -> Client:
    return kind(**arguments)
