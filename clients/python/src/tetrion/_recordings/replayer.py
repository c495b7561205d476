"""Games that are played again, on the server and unseen, to learn what viewers and recordings show.

A replayer has a session of its own. Whatever observations the caller's session has, the replayer's has all that are needed,
and its steps cost the caller's session nothing. It follows a game only when a picture or a recording is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from google.protobuf.duration_pb2 import Duration

from tetrion._messages.answers import Observed, Stepped
from tetrion._messages.ends import word
from tetrion._messages.requests import Drawing, Packed, positions_message
from tetrion._messages.seedings import session_seeding
from tetrion._messages.tensors import to_numpy
from tetrion._pb import messages as pb
from tetrion._pictures.pictures import are_tetrominoes
from tetrion._pictures.scenes import Course, GameState, Shapes, letters, shape
from tetrion._recordings.episode_log import Beginning
from tetrion._sessions.session import Session

# Steps that are sent before the answer to the first of them is read; the server takes twice as many.
_AHEAD = 32

_INFOS = ["lines", "pieces", "steps", "episode_return", "end", "landing_row"]

CreateSession = Callable[[pb.CreateSessionRequest, int], Session]
OnStep = Callable[[int, Course], None]


class Replayer:
    """Games that are played again.

    Attributes:
        courses: Each game as far as it has been played, by its number; None before it has begun.
    """

    def __init__(
        self,
        create: CreateSession,
        config: pb.SessionConfig,
        num_games: int = 1,
        *,
        seeds: Sequence[int] = (),
        sequences: Sequence[str] = (),
        ttl: Duration | None = None,
    ) -> None:
        """Makes room for games.

        Args:
            create: Makes a session on the server that plays them.
            config: Their rules, what an action does that does not exist, and the largest answer; the rest of it does not
                matter.
            num_games: How many games.
            seeds: Episode seeds, where all games begin with one; see `begin_all`.
            sequences: Or explicit pieces, where all games begin with some.
            ttl: How long the server keeps the session without a call.
        """
        rules = config.rules
        has_keys = rules.action_model == pb.ACTION_MODEL_KEYPRESS
        observations = ["board_bits", "current", "queue"]
        is_steered = has_keys and rules.reach == pb.REACH_MOVES
        observations += ["falling_cells"] * has_keys + ["held"] * rules.hold + ["piece_state"] * is_steered
        has_garbage = rules.HasField("garbage")
        observations += ["garbage"] * has_garbage
        request = pb.CreateSessionRequest(
            config=pb.SessionConfig(
                num_envs=num_games,
                rules=rules,
                observation_fields=observations,
                info_fields=[*_INFOS, *["garbage_rows"] * has_garbage],
                autoreset_mode=pb.AUTORESET_MODE_DISABLED,
                invalid_action_policy=config.invalid_action_policy or pb.INVALID_ACTION_POLICY_REJECT,
                invalid_action_reward=config.invalid_action_reward,
                seeding=session_seeding(seeds, sequences),
                max_response_bytes=config.max_response_bytes,
            ),
            ttl=ttl,
        )
        self.courses: list[Course | None] = [None] * num_games
        self._width = rules.width
        self._session = create(request, 256)
        # Where pieces turn on their way, the number of a placement names no single orientation of an empty playfield.
        is_plain = not has_keys and rules.reach != pb.REACH_MOVES and not rules.hold
        self._shapes: Shapes | None = None
        if are_tetrominoes(rules):
            self._shapes = _shapes(self._session) if is_plain else {}
        num_actions = int(self._session._message.action_spec.high) + 1
        # Where a step is a key, what is held changes the current piece.
        self._hold_from = num_actions // 2 if rules.hold and not has_keys else None
        self._stream = self._session.stream()

    @property
    def rules_version(self) -> str:
        """The version of the rules by which the server plays."""
        return self._session._message.rules_version

    def letters(self, pieces: Sequence[int]) -> str:
        """Pieces as the letters of their set."""
        rules = self._session._message.config.rules
        if are_tetrominoes(rules):
            return letters(pieces)
        named = {known.name: known.pieces for known in self._session._connection.catalog().piece_sets}
        # A set of the caller's own comes back with a letter before each drawing.
        drawings = named.get(rules.piece_set, rules.piece_set).split()
        return letters(pieces, "".join(drawing[0] for drawing in drawings))

    def begin_all(self) -> None:
        """Begins the games of the seeds or the sequences that the replayer was made for."""
        self._see(range(len(self.courses)), self._stream.reset())

    def begin_at(self, game: int, drawing: Drawing) -> None:
        """Begins a game in a position. Pieces are dealt as if it had begun with an empty playfield."""
        self._see([game], self._stream.restore_state(drawing, [game]))

    def begin(self, beginnings: Mapping[int, Beginning]) -> None:
        """Begins games."""
        seeds = {game: begin.seed for game, begin in beginnings.items() if begin.seed is not None}
        sequences = {game: begin.sequence for game, begin in beginnings.items() if begin.sequence is not None}
        states = {game: begin.state for game, begin in beginnings.items() if begin.state is not None}
        if seeds:
            self._see(list(seeds), self._stream.reset(list(seeds), seeds=list(seeds.values())))
        if sequences:
            dealt = self._stream.reset(list(sequences), piece_sequences=list(sequences.values()))
            self._see(list(sequences), dealt)
        if states:
            self._see(list(states), self._stream.restore_state(list(states.values()), list(states)))

    def _see(self, games: Sequence[int], observed: Observed) -> None:
        for game, state in zip(games, _states(observed), strict=True):
            self.courses[game] = Course(state, self._width, self._shapes, self._hold_from)

    def play(self, actions: Mapping[int, Sequence[int]], on_step: OnStep | None = None) -> None:
        """Plays games on, side by side.

        Args:
            actions: The actions of each game that is played on.
            on_step: Called after each step of each game.

        Raises:
            IllegalActionError: An action cannot be done; see `Replayer.courses` for how far the games have come.
            EpisodeEndedError: A game was over before.
        """
        steps = max((len(some) for some in actions.values()), default=0)
        waiting: deque[tuple[list[int], list[int]]] = deque()
        for step in range(steps):
            games = [game for game, some in actions.items() if len(some) > step]
            done = [actions[game][step] for game in games]
            self._stream.send_step(done, games)
            waiting.append((games, done))
            if len(waiting) == _AHEAD:
                self._took(*waiting.popleft(), self._stream.receive_step(), on_step)
        while waiting:
            self._took(*waiting.popleft(), self._stream.receive_step(), on_step)

    def _took(self, games: Sequence[int], actions: Sequence[int], stepped: Stepped, on_step: OnStep | None) -> None:
        ends = stepped.infos["end"].tolist()
        states = _states(Observed(stepped.observations, None, stepped.infos))
        for row, (game, state) in enumerate(zip(games, states, strict=True)):
            course = self.course(game)
            course.step(actions[row], state, word(ends[row]))
            if on_step is not None:
                on_step(game, course)

    def restart(self, game: int) -> None:
        """Takes where a game stands for its beginning."""
        self.courses[game] = Course(self.course(game).state, self._width, self._shapes, self._hold_from)

    def course(self, game: int) -> Course:
        """A game that has begun."""
        course = self.courses[game]
        assert course is not None, "it has not begun"
        return course

    def close(self) -> None:
        """Ends the session."""
        self._stream.close()
        self._session.close()

    def __enter__(self) -> Replayer:
        """The replayer itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the session."""
        self.close()


# The shapes of placements under some rules, which every replayer of these rules needs.
_known_shapes: dict[bytes, Shapes] = {}
_MAX_KNOWN = 64


def _shapes(session: Session) -> Shapes:
    """The shape of every placement: where the cells of a piece come to rest on an empty playfield."""
    rules = session._message.config.rules
    key = rules.SerializeToString(deterministic=True)
    shapes = _known_shapes.get(key)
    if shapes is None:
        boards = np.zeros((7, rules.height), np.uint32 if rules.width > 16 else np.uint16)
        positions = positions_message(Packed(boards, np.arange(7)), width=rules.width)
        positions.rules.CopyFrom(rules)
        request = pb.EnumeratePlacementsRequest(positions=positions, include_cells=True)
        listed = session._connection.call_patiently("EnumeratePlacements", request)
        offsets = to_numpy(listed.row_offsets).tolist()
        pieces = [piece for piece in range(7) for _ in range(offsets[piece], offsets[piece + 1])]
        actions, cells = to_numpy(listed.placements).tolist(), to_numpy(listed.cells).tolist()
        shapes = {
            (piece, action): shape(tuple(cell) for cell in some)
            for piece, action, some in zip(pieces, actions, cells, strict=True)
        }
        if len(_known_shapes) >= _MAX_KNOWN:
            _known_shapes.clear()
        _known_shapes[key] = shapes
    return shapes


def _states(observed: Observed) -> list[GameState]:
    """What an answer shows of each game in it."""
    fields, infos = observed.observations, observed.infos
    boards, current, queues = fields["board_bits"].tolist(), fields["current"].tolist(), fields["queue"].tolist()
    held: list[int] = fields["held"].tolist() if "held" in fields else [-1] * len(boards)
    steered: list[Any] = fields["piece_state"].tolist() if "piece_state" in fields else [[]] * len(boards)
    waiting: list[Any] = fields["garbage"].tolist() if "garbage" in fields else [[]] * len(boards)
    risen: list[int] = infos["garbage_rows"].tolist() if "garbage_rows" in infos else [0] * len(boards)
    falling: list[Any] = fields["falling_cells"].tolist() if "falling_cells" in fields else [[]] * len(boards)
    return [
        GameState(
            rows=tuple(rows),
            current=piece,
            queue=tuple(following for following in queue if following >= 0),
            falling=tuple((row, column) for row, column in cells),
            steps=steps,
            pieces=pieces,
            lines=lines,
            score=score,
            landing_row=landing_row,
            held=kept,
            piece_state=tuple(numbers),
            garbage=tuple(waits),
            garbage_rows=rose,
        )
        for rows, piece, queue, cells, steps, pieces, lines, score, landing_row, kept, numbers, waits, rose in zip(
            boards,
            current,
            queues,
            falling,
            infos["steps"].tolist(),
            infos["pieces"].tolist(),
            infos["lines"].tolist(),
            infos["episode_return"].tolist(),
            infos["landing_row"].tolist(),
            held,
            steered,
            waiting,
            risen,
            strict=True,
        )
    ]
