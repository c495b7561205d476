"""Watching a session: frames of what its learner does, wherever that runs, until the session ends."""

import gc
import sys
import time
from types import ModuleType

import gymnasium
import numpy as np
import pytest
from recorded import random_actions, read_png

import tetrion

# Seconds for what comes at last on a busy machine.
PATIENCE = 60.0
RULES = {"width": 5, "height": 9, "preview": 2}


def frame_after(watching, sequence_number):
    """The first frame after so many calls; no frame is older than the one before."""
    before = 0
    for frame in watching:
        assert before <= frame.sequence_number <= sequence_number
        if frame.sequence_number == sequence_number:
            return frame
        before = frame.sequence_number
    raise AssertionError(f"it ended with {watching.end}")


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def check_scene(shown, played):
    """A frame shows what a replay of the recording shows."""
    np.testing.assert_array_equal(shown.cells, played.cells)
    assert shown.last == tuple(sorted(played.last))
    assert (shown.current, shown.queue) == (played.current, played.queue)
    assert (shown.falling, shown.ghost) == (played.falling, played.ghost)
    assert (shown.steps, shown.pieces, shown.lines) == (played.steps, played.pieces, played.lines)
    assert shown.score == played.score


@pytest.mark.parametrize("preset", ["simplified", "lab"])
def test_a_frame_shows_the_game_that_a_recording_would(client, preset):
    print("seed 2")
    rng = np.random.default_rng(2)
    rules = {"preset": preset, "width": 4, "height": 12, "preview": 2}
    session = client.create_session(3, rules=rules, seed=1, autoreset_mode="disabled")
    with session, client.watch(session.name, [2, 0], render_fps=60) as watching:
        assert (watching.name, watching.num_envs, watching.env_ids, watching.render_fps) == (session.name, 3, (2, 0), 60)
        assert watching.rules == session.rules
        first = next(watching)
        assert [(env.has_begun, env.end) for env in first.envs] == [(False, None)] * 2
        assert [env.caption for env in first.envs] == ["env 2: not started", "env 0: not started"]
        assert (first.envs[0].scene.cells == -1).all()
        recorder = tetrion.Recorder(session)
        masks, playing = np.array(session.reset().action_mask), np.arange(3)
        lines = 0
        while playing.size:
            stepped = session.step(random_actions(rng, masks[playing]), playing)
            masks[playing] = stepped.action_mask
            playing = playing[~stepped.terminated]
            frame = frame_after(watching, session.sequence_number)
            for env in frame.envs:
                check_scene(env.scene, recorder.recording(env.env_id).replay().scene())
                assert (env.has_begun, env.end) == (True, None if env.env_id in playing else "topped_out")
                assert (env.last_episode is None) == (env.end is None)
            lines = max(lines, *(env.scene.lines for env in frame.envs))
        over = frame.envs[1]
        assert (over.end, over.caption) == ("topped_out", "env 0: episode 0 over")
        assert over.last_episode.pieces == over.scene.pieces == recorder.recording(0).pieces
        assert (over.last_episode.episode, over.last_episode.end) == (0, "topped_out")
        assert lines > 0


def test_pictures_have_the_colours_of_the_games(client):
    with client.create_session(3, rules={"width": 6, "height": 8}, piece_sequences="IOIO") as session:
        session.reset()
        with client.watch(session, render_scale=0.5, render_palette="color-blind") as watching:
            session.step([0, 0, 0])
            frame = frame_after(watching, 2)
            assert repr(frame) == "<tetrion.WatchedFrame of 3 environments after call 2>"
            row = frame.picture()
            height, width = row.shape[0], row.shape[1] // 3
            assert row.dtype == np.uint8
            # The same game three times, with other words below.
            panels = [row[:, place * width : (place + 1) * width] for place in range(3)]
            playfield = height - 20
            assert all((panel[:playfield] == panels[0][:playfield]).all() for panel in panels)
            assert not (panels[1] == panels[0]).all()
            # I and O: sky blue and yellow of the colours for colour-blind people.
            for colour in ((0x56, 0xB4, 0xE9), (0xF0, 0xE4, 0x42)):
                assert (panels[0] == colour).all(axis=2).sum() > 20
            assert not (panels[0] == (0xCC, 0x79, 0xA7)).all(axis=2).any()
            two = frame.picture(columns=2)
            assert two.shape == (2 * height, 2 * width, 3)
            assert (two[height:, :width] == panels[2]).all()
            assert (two[height:, width:] == two[-1, -1]).all()
            assert (read_png(frame._repr_png_()) == row).all()


def test_a_slow_caller_gets_the_newest_state(client):
    with client.create_session(seed=1, rules=RULES) as session, client.watch(session, render_fps=60) as watching:
        session.reset()
        rng = np.random.default_rng(1)
        mask = session.step([0]).action_mask
        for _ in range(300):
            mask = session.step(random_actions(rng, mask)).action_mask
        # Before the first frame there is no newest one.
        wait_until(lambda: getattr(watching._reader._newest, "sequence_number", 0) == session.sequence_number)
        frame = next(watching)
        assert frame.sequence_number == 302
        assert frame.envs[0].episode > 3
        assert frame.envs[0].last_episode.episode == frame.envs[0].episode - 1 + (frame.envs[0].end is not None)
        assert watching.next(0.0) is None


def test_it_ends_with_the_session(client):
    with client.create_session(rules=RULES) as session:
        session.reset()
        watching = client.watch(session)
        assert next(watching).sequence_number == 1
    assert list(watching) == []
    assert isinstance(watching.end, tetrion.SessionNotFoundError)
    assert list(watching) == []


def test_it_does_not_renew_the_lease(remote):
    session = remote.create_session(rules=RULES, ttl=1.0)
    watching = remote.watch(session, [0])
    assert [frame.sequence_number for frame in watching] == [0]
    assert watching.end.reason in ("SESSION_EXPIRED", "SESSION_NOT_FOUND")


def test_it_ends_when_it_is_closed(remote, server):
    with remote.create_session(rules=RULES) as session:
        with remote.watch(session) as watching:
            next(watching)
        assert list(watching) == []
        with tetrion.Client(server) as other:
            watching = other.watch(session)
            next(watching)
        assert list(watching) == []
        assert watching.end is None
        session.reset()


def test_an_environment_whose_learner_has_a_client_of_its_own(remote, server):
    envs = gymnasium.make_vec("tetrion/Placement-v0", num_envs=5, address=server.address, rules=RULES)
    with remote.watch(envs, [4]) as watching:
        envs.reset(seed=3)
        frame = frame_after(watching, 1)
        assert [(env.env_id, env.seed, env.end) for env in frame.envs] == [(4, 7, None)]
        envs.close()
        assert list(watching) == []


def test_a_closed_watch_makes_room(client):
    with client.create_session(rules=RULES) as session:
        most = client.server_info().limits.watches.max_watches_per_session
        watchers = [client.watch(session) for _ in range(most)]
        with pytest.raises(tetrion.errors.ServerFullError) as caught:
            client.watch(session)
        assert caught.value.reason == "WATCH_LIMIT"
        for watching in watchers:
            next(watching)
        # Left without a word, as by a loop that breaks.
        del watchers, watching, caught
        gc.collect()

        def is_free():
            try:
                client.watch(session).close()
            except tetrion.errors.ServerFullError:
                return False
            return True

        wait_until(is_free)


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"session": "sessions/none"}, tetrion.SessionNotFoundError, "sessions/none"),
        ({"session": 3}, tetrion.InvalidArgumentError, "session is 3, expected a session"),
        ({"env_ids": [1]}, tetrion.InvalidRequestError, "envs.ids"),
        ({"render_fps": 61}, tetrion.InvalidRequestError, "max_frames_per_second"),
        ({"render_fps": -1}, tetrion.InvalidArgumentError, "render_fps is -1"),
        ({"render_scale": 9}, tetrion.InvalidArgumentError, "render_scale is 9"),
        ({"render_palette": "colourblnd"}, tetrion.InvalidArgumentError, "did you mean 'color-blind'"),
    ],
    ids=str,
)
def test_refusals(client, arguments, error, problem):
    with client.create_session(rules=RULES) as session, pytest.raises(error, match=problem):
        client.watch(**{"session": session, **arguments})


def test_wrong_waits(client):
    with client.create_session(rules=RULES) as session:
        with client.watch(session) as watching:
            for timeout in ("2", -1, float("nan")):
                with pytest.raises(tetrion.InvalidArgumentError, match=r"^timeout is .*, expected seconds, 0 or more"):
                    watching.next(timeout)
        with pytest.raises(
            tetrion.InvalidArgumentError, match=r"^rendr_fps is not an argument of watch, did you mean 'render_fps'\?"
        ):
            client.watch(session, rendr_fps=3)


def test_several_servers(client, server):
    with tetrion.Servers([server.address]) as servers, servers.create_session(rules=RULES) as session:
        session.reset()
        with servers.watch(session) as watching:
            assert next(watching).sequence_number == 1
        with pytest.raises(tetrion.InvalidArgumentError, match="a Client of its server takes names"):
            servers.watch(session.name)


def test_a_session_that_is_made_again_is_found():
    with tetrion.Server() as server, tetrion.Client(server) as client:
        session = client.create_session(2, rules=RULES, seed=3)
        by_name = client.watch(session.name)
        with client.watch(session) as watching:
            session.reset()
            session.step([0, 0])
            before = frame_after(watching, 2)
            name = session.name
            server._process.kill()
            with pytest.warns(RuntimeWarning, match="started again"):
                session.step([2, 2])
            assert session.name != name
            frame = next(frame for frame in watching if frame.envs[0].scene.steps == 2)
            assert watching.name == session.name
            assert [env.seed for env in frame.envs] == [env.seed for env in before.envs]
            assert frame.envs[0].scene.pieces == 2
        # Under its old name there is nothing more to see.
        assert all(frame.envs[0].scene.steps < 2 for frame in by_name)
        assert isinstance(by_name.end, tetrion.SessionNotFoundError)


def test_a_server_that_stays_away_is_an_error():
    with tetrion.Server() as server, tetrion.Client(server.address, patience=0.5) as client:
        watching = client.watch(client.create_session(rules=RULES))
        next(watching)
        server.close()
        with pytest.raises(tetrion.ServerUnavailableError):
            next(watching)
        with pytest.raises(tetrion.ServerUnavailableError):
            next(watching)
        assert isinstance(watching.end, tetrion.ServerUnavailableError)


class Cell:
    """A stand-in for IPython: the cell whose output is replaced."""

    def __init__(self, patch, on_frame=lambda frame: None):
        self.shown, self._on_frame = [], on_frame
        module, display = ModuleType("IPython"), ModuleType("IPython.display")
        module.get_ipython = lambda: self
        display.display = self.display
        patch.setitem(sys.modules, "IPython", module)
        patch.setitem(sys.modules, "IPython.display", display)

    def display(self, frame, *, display_id):
        assert display_id
        self.update(frame)
        return self

    def update(self, frame):
        self.shown.append(frame)
        self._on_frame(frame)


def test_a_cell_shows_the_newest_frame(client, monkeypatch):
    session = client.create_session(rules=RULES, piece_sequences="OOOOOO")

    def learn(frame):
        # The learner steps each time that a frame has been drawn, and then ends its session.
        if frame.sequence_number == 0:
            session.reset()
        elif frame.sequence_number < 4:
            session.step([0])
        else:
            session.close()

    cell = Cell(monkeypatch, learn)
    client.watch(session, render_fps=60).show()
    assert [frame.sequence_number for frame in cell.shown] == [0, 1, 2, 3, 4]
    assert cell.shown[-1].envs[0].scene.pieces == 3


def test_a_cell_goes_on_to_show_frames_while_others_run(client, monkeypatch):
    cell = Cell(monkeypatch)
    with client.create_session(rules=RULES) as session:
        watching = client.watch(session, render_fps=60)
        watching.show(wait=False)
        assert [frame.sequence_number for frame in cell.shown] == [0]
        session.reset()
        wait_until(lambda: cell.shown[-1].sequence_number == 1)
    wait_until(lambda: watching.end is not None)


def test_a_cell_stops_after_its_time_and_when_it_is_interrupted(client, monkeypatch):
    def interrupt(frame):
        if len(cell.shown) == 2:
            raise KeyboardInterrupt

    cell = Cell(monkeypatch, interrupt)
    with client.create_session(rules=RULES) as session, client.watch(session, render_fps=60) as watching:
        watching.show(0.1)
        assert len(cell.shown) == 1
        session.reset()
        watching.show(seconds=PATIENCE)
        assert [frame.sequence_number for frame in cell.shown] == [0, 1]


def test_there_is_nothing_to_show_frames_in(client, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    with (
        client.create_session() as session,
        client.watch(session) as watching,
        pytest.raises(RuntimeError, match="tetrion watch --session"),
    ):
        watching.show()
