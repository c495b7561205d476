"""Recorders: they make recordings of the games of a session while any caller plays them.

A `Recorder` stores actions, two bytes each, and makes no calls while it listens. When a recording is wanted, the extension
module plays the game again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

from tetrion import _native
from tetrion._checks import arguments
from tetrion._pb import messages as pb
from tetrion._recordings.episode_log import Episode, EpisodeLog
from tetrion._recordings.recording import Recording, checked_text
from tetrion._sessions.session import Source, session_of
from tetrion.errors import InvalidArgumentError, ResetNeededError, VersionMismatchError


class Recorder:
    """Records the games of some environments of a session while they are played.

        session = client.create_session(64)
        with tetrion.Recorder(session, [0, 1], player="my agent") as recorder:
            ...                                     # reset, step, restore; by streams, too
            recorder.recording(0).save("game.json")   # the game of environment 0 so far, or as it ended
            for recording in recorder.take():         # those that have ended since
                ...

    An episode is recorded from its beginning, also if it returns to a snapshot that was taken while the recorder listened.
    One that goes on from another snapshot or from a drawing is recorded from there, and one under way when the recorder is
    made from then on. Where keys move the pieces, a recording cannot begin with a piece on its way down; it begins with the
    next piece.

    A match is one recording, of both its sides; with swapped sides, environment 2k + 1 is side 0 of it. One that goes on
    from another snapshot is not recorded, nor one whose sides have different explicit pieces.
    """

    def __init__(
        self,
        source: Source,
        env_ids: Sequence[int] | None = None,
        *,
        player: str = "",
        keep: int = 1000,
    ) -> None:
        """Begins to record.

        Args:
            source: A session, or an environment of this package, wrapped or not.
            env_ids: Which environments; all if left out. Of a match, both sides.
            player: Who or what plays, for people.
            keep: How many games that have ended are kept for `take`; of more, the oldest are dropped.

        Raises:
            InvalidArgumentError: There are no such environments, a match has only one side in the list, or the source is
                neither a session nor an environment of one.
            VersionMismatchError: The server plays by another version of the rules than this package.
        """
        self._session = session = session_of("source", source)
        _check_rules(session._message)
        num_envs = session.num_envs
        if env_ids is None:
            chosen: Iterable[int] = range(num_envs)
        else:
            chosen = arguments.integers("env_ids", env_ids, "a list of environments", num_envs - 1)
        self.player = checked_text("player", player)
        self._keep = arguments.integer("keep", keep, 0)
        self._env_ids = sorted(set(chosen))
        if session._message.config.rules.players == 2:
            alone = next((env_id for env_id in self._env_ids if env_id ^ 1 not in self._env_ids), None)
            if alone is not None:
                problem = f"has {alone} without {alone ^ 1}, expected both sides of a match"
                raise InvalidArgumentError("env_ids", problem)
        sides = max(1, session._message.config.rules.players)
        self._log = EpisodeLog(session._message, self._env_ids, begun=self._begun(), keep=sides * self._keep)
        session._listen(self._log)

    def _begun(self) -> list[int]:
        """The environments whose episodes have begun."""
        session = self._session
        if session.sequence_number == 0 or not self._env_ids:
            return []
        try:
            session.save_state(self._env_ids)
        except ResetNeededError:
            return [env_id for env_id in self._env_ids if self._has_begun(env_id)]
        return self._env_ids

    def _has_begun(self, env_id: int) -> bool:
        try:
            self._session.save_state([env_id])
        except ResetNeededError:
            return False
        return True

    def recording(self, env_id: int | None = None) -> Recording:
        """The current game of an environment so far, or, until its next one begins, as it ended.

        Args:
            env_id: Which; may be left out if there is only one.

        Raises:
            InvalidArgumentError: The recorder does not record that environment.
            ResetNeededError: No game has begun there, or nothing of it can be recorded yet.
        """
        if env_id is None and len(self._env_ids) == 1:
            env_id = self._env_ids[0]
        env_id = arguments.integer("env_id", env_id)
        if env_id not in self._log.env_ids:
            raise InvalidArgumentError("env_id", f"is {env_id!r}, expected one of those recorded: {self._env_ids}")
        episode = self._log.episodes.get(env_id)
        if episode is None:
            raise ResetNeededError(f"no game has begun in environment {env_id}", code="FAILED_PRECONDITION")
        if env_id in self._log.unsaved:
            self._log.keep([env_id], self._session.save_state([env_id]))
        recording = self._made(episode)
        if recording is None:
            problem = "how it began is not known, or its first piece is falling"
            message = f"nothing of the game in environment {env_id} can be recorded yet: {problem}"
            raise ResetNeededError(message, code="FAILED_PRECONDITION")
        return recording

    def take(self) -> list[Recording]:
        """The games that have ended since the last call, the earliest first; each is returned once.

        A game that was left by a reset is among them. What was tried before a return to a snapshot of the same game is not,
        nor is a game that a snapshot interrupted.
        """
        return [recording for _, recording in self._take_numbered()]

    def _take_numbered(
        self, wanted: Callable[[Episode], bool] | None = None, over: Sequence[int] = ()
    ) -> list[tuple[Episode, Recording]]:
        """As `take`, with what is known of each episode.

        Args:
            wanted: If given, only episodes for which `wanted(episode)` is true.
            over: Environments whose episodes are over for their learner, whether or not they have ended.
        """
        episodes = list(self._log.left)
        self._log.left.clear()
        for episode in self._log.episodes.values():
            # Still there to be looked at, but it has ended.
            if (episode.has_ended or episode.env_id in over) and not episode.was_taken:
                episodes.append(episode)
        taken = []
        for episode in episodes:
            if episode.was_taken or not episode.actions:
                continue
            episode.was_taken = True
            if episode.opponent is not None:
                episode.opponent.was_taken = True
            if wanted is None or wanted(episode):
                recording = self._made(episode)
                if recording is not None:
                    taken.append((episode, recording))
        return taken

    def _made(self, episode: Episode) -> Recording | None:
        """The recording of an episode, which is played again for it; None if nothing of it can be recorded."""
        sides, players = [episode], (self.player, "")
        if episode.opponent is not None:
            # Sides may have been swapped.
            sides = sorted([episode, episode.opponent], key=lambda side: side.side)
            if sides[0].env_id % 2:
                players = ("", self.player)
        begins = [side.begin for side in sides if side.begin is not None]
        if len(begins) < len(sides) or len({begin.sequence for begin in begins}) > 1:
            return None
        data = _native.record(
            self._session._message.config.encode(),
            sides[0].actions,
            players,
            f"episode {sides[0].number} of environment {sides[0].env_id}",
            opponent=sides[-1].actions if len(sides) > 1 else None,
            seed=begins[0].seed,
            sequence=begins[0].sequence,
            holes=[begin.holes for begin in begins],
            state=begins[0].state,
        )
        return Recording(pb.Recording.decode(data)) if data is not None else None

    def close(self) -> None:
        """Stops to record."""
        self._session._unlisten(self._log)

    def __enter__(self) -> Recorder:
        """The recorder itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stops to record."""
        self.close()


def _check_rules(session: pb.Session) -> None:
    """Checks that this package plays by the rules of a session's server.

    Raises:
        VersionMismatchError: The server plays by another version of the rules than this package.
    """
    if session.rules_version != _native.RULES_VERSION:
        raise VersionMismatchError(
            f"the server plays by the rules_version {session.rules_version!r}, and this package records by "
            f"{_native.RULES_VERSION!r}, which may make another game of it",
            reason="RULES_VERSION_MISMATCH",
        )
