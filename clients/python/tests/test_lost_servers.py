"""The server is killed, and started again at the same address: nothing is lost, and every byte is as without that.

Each test plays the same thing twice, once undisturbed, and compares all arrays that came back.
"""

import dataclasses
import os
import signal
import threading
import time
import warnings
from collections.abc import Mapping

import numpy as np
import pytest

import tetrion

RULES = {"width": 5, "height": 7, "randomizer": "bag7", "preview": 1}
STEPS = 60
# With snapshots every 7 calls: before the first ones, right before and behind some, and again and again.
LOSSES = [{0}, {3}, {7}, {8, 9}, {13, 14, 15, 40}, set(range(0, STEPS, 12))]


def kill(server):
    """As `kill -9` from outside; the server comes back when a client, or the test, calls `revive`."""
    # Bound once: a client on another thread may revive the server before this one waits for what it has killed.
    process = server._process
    process.kill()
    process.wait()


@pytest.fixture
def mortal():
    # Every return is announced by a warning, which is no error here.
    with tetrion.Server() as server, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield server


def seen_of(value):
    """Every array in an answer, as something that can be compared."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Mapping):
        return [(key, seen_of(item)) for key, item in sorted(value.items())]
    if dataclasses.is_dataclass(value):
        return [seen_of(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, (tuple, list, np.ndarray)):
        return [seen_of(item) for item in value]
    return value


def compare(play, server, losses):
    """`play(client, before_step)` undisturbed, and with the server killed in front of some steps."""
    with tetrion.Client(server) as client:
        undisturbed = play(client, lambda step: None)
        killed = []

        def before_step(step):
            if step in losses:
                kill(server)
                killed.append(step)

        disturbed = play(client, before_step)
    assert killed == sorted(losses)
    assert disturbed == undisturbed
    return undisturbed


def play_session(calls_of):
    def play(client, before_step):
        seen = []
        session = client.create_session(
            5, rules=RULES, seed=3, autoreset_mode="same_step", features="bcts8", snapshot_every=7
        )
        calls = calls_of(session)
        observed = calls.reset()
        for step in range(STEPS):
            before_step(step)
            placements = calls.enumerate_placements(afterstates=True)
            rows = placements.best_rows(-placements.features[:, 0].astype(np.float64))
            before_step(step + 0.5)
            observed = calls.step(placements.actions[rows])
            seen.append(seen_of([placements, observed]))
            if step == 20:
                # Not everything is a step of all.
                seen.append(seen_of([calls.step([0], [2]), calls.reset([1, 4]), calls.fork(0, [3], reseed=5)]))
        seen.append([calls.save_state(), session.sequence_number, session.render()])
        if calls is not session:
            calls.close()
        session.close()
        return seen

    return play


@pytest.mark.parametrize("losses", LOSSES, ids=str)
@pytest.mark.parametrize("calls_of", [lambda session: session, lambda session: session.stream()], ids=["calls", "stream"])
def test_sessions_go_on(mortal, calls_of, losses):
    compare(play_session(calls_of), mortal, losses)


def test_a_loss_between_question_and_step(mortal):
    compare(play_session(lambda session: session.stream()), mortal, {2.5, 14.5, 33.5})


def play_ahead(client, before_step):
    """Both halves of a session in flight, and behind each step the question for what it leads to."""
    seen = []
    with client.create_session(6, rules=RULES, seed=4, features="bcts8", snapshot_every=7) as session:
        halves = [np.arange(3), np.arange(3, 6)]
        with session.stream() as stream:
            mask = stream.reset().action_mask
            actions = [mask[half].argmax(axis=1) for half in halves]
            for step in range(STEPS):
                for half, chosen in zip(halves, actions, strict=True):
                    before_step(step + half[0] / 10)
                    stream.send_step(chosen, half)
                    stream.send_placements(half)
                before_step(step + 0.6)
                for index in range(2):
                    stepped, placements = stream.receive_step(), stream.receive_placements()
                    actions[index] = stepped.action_mask.argmax(axis=1)
                    seen.append(seen_of([stepped, placements]))
    return seen


@pytest.mark.parametrize("losses", [{0, 4.3}, {0.3, 8.6}, {0.6, 7.6, 28.3, 28.6}], ids=str)
def test_requests_in_flight_are_done_once(mortal, losses):
    compare(play_ahead, mortal, losses)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_vector_environments_go_on(mortal, mode):
    def play(client, before_step):
        envs = tetrion.PlacementVectorEnv(4, address=client, rules=RULES, autoreset_mode=mode, snapshot_every=7)
        observations, infos = envs.reset(seed=11)
        seen = [seen_of([observations, infos])]
        for step in range(STEPS):
            before_step(step)
            answer = envs.step(infos["action_mask"].argmax(axis=1))
            infos = answer[-1]
            seen.append(seen_of(answer))
            ended = answer[2] | answer[3]
            if mode == "Disabled" and ended.any():
                before_step(step + 0.5)
                observations, infos = envs.reset(options={"reset_mask": ended})
                seen.append(seen_of([observations, infos]))
        envs.close()
        return seen

    seen = compare(play, mortal, {0, 5, 21, 22, 37})
    assert len(seen) > STEPS


def test_single_environments_go_on(mortal):
    def play(client, before_step):
        env = tetrion.PlacementEnv(address=client, rules=RULES, snapshot_every=7)
        observation, info = env.reset(seed=5)
        seen = []
        for step in range(STEPS):
            before_step(step)
            observation, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            seen.append(seen_of([observation, reward, terminated, truncated, info]))
            if terminated:
                observation, info = env.reset()
        env.close()
        return seen

    compare(play, mortal, {2, 30, 31})


def test_a_server_killed_from_outside_at_any_moment(mortal):
    """The kill comes at any moment, and another thread starts the server again later."""

    def play(client):
        seen = []
        with client.create_session(64, seed=1, snapshot_every=50, features="bcts8") as session, session.stream() as stream:
            stream.reset()
            stream.send_placements()
            for _ in range(400):
                placements = stream.receive_placements()
                rows = placements.best_rows(-placements.features[:, 0].astype(np.float64))
                # A game that has ended takes any action.
                stream.send_step(np.where(rows < 0, 0, placements.actions[rows]))
                stream.send_placements()
                seen.append(seen_of([placements, stream.receive_step()]))
        return seen

    with tetrion.Client(mortal.address) as client:
        undisturbed = play(client)
    over = threading.Event()
    kills = []

    def kill_again_and_again():
        # Longer each time: on a machine so slow that nothing gets from one snapshot to the next between two kills, this
        # would never end.
        alive = 0.15
        while not over.wait(alive):
            alive *= 1.1
            kill(mortal)
            kills.append(1)
            time.sleep(0.05)
            mortal.revive()

    killer = threading.Thread(target=kill_again_and_again)
    with tetrion.Client(mortal.address) as client:
        client.server_info()
        killer.start()
        disturbed = play(client)
        over.set()
        killer.join()
    assert kills
    assert disturbed == undisturbed


def test_evaluations_ask_for_what_is_missing(mortal):
    request = {
        "weights": np.array([[-1.0, -1.0, -1.0, -4.0], [-1.0, -2.0, -1.0, -3.0]]),
        "features": ["landing_height", "row_transitions", "column_transitions", "holes"],
        "seeds": tetrion.DrawnSeeds(1, 200),
        # Half a second of games, which come in more than a dozen lists: each of three kills finds some that are missing.
        "rules": {"width": 10, "height": 10},
        "episodes_per_seed": 2,
        "max_pieces": 20_000,
        "max_parallelism": 1,
    }
    with tetrion.Client(mortal) as client:
        undisturbed = client.evaluate("dellacherie", **request)
        reports = []
        run = client.start_evaluation("dellacherie", on_progress=reports.append, progress_interval=0.01, **request)
        came, kills = 0, 0
        for games in run:
            came += len(games)
            if kills < 3:
                kills += 1
                kill(mortal)
        disturbed = run.result()
    # It was not only killed, it was needed.
    assert kills == 3
    assert run._losses >= 3
    assert came == run.games_done == run.num_games == 1200
    assert seen_of([getattr(disturbed, name) for name in ("policy_indices", "lines", "seeds", "scores")]) == seen_of(
        [getattr(undisturbed, name) for name in ("policy_indices", "lines", "seeds", "scores")]
    )
    assert disturbed.summary == undisturbed.summary
    assert reports[-1].games_done == reports[-1].num_games == 1200


def test_a_sum_alone_is_played_again(mortal):
    request = {"seeds": tetrion.DrawnSeeds(1, 300), "rules": {"width": 8, "height": 8}, "include_results": False}
    with tetrion.Client(mortal) as client:
        undisturbed = client.evaluate("dellacherie", **request)
        killer = threading.Timer(0.05, kill, [mortal])
        killer.start()
        disturbed = client.evaluate("dellacherie", **request)
        killer.join()
    assert disturbed.summary == undisturbed.summary
    assert len(disturbed.lines) == 0


def test_a_client_without_patience_does_not_wait():
    with tetrion.Server() as server, tetrion.Client(server.address, patience=0) as client:
        session = client.create_session()
        kill(server)
        before = time.monotonic()
        with pytest.raises(tetrion.ServerUnavailableError):
            session.reset()
        assert time.monotonic() - before < 20
    # A client whose own process has closed the server does not wait for it either.
    with tetrion.Server() as server, tetrion.Client(server) as client:
        client.catalog(width=6)
        server.close()
        with pytest.raises(tetrion.ServerUnavailableError):
            client.catalog(width=6)


def test_without_snapshots_a_session_is_lost_with_its_server(mortal):
    with tetrion.Client(mortal) as client:
        session = client.create_session(seed=1, snapshot_every=0)
        session.reset()
        kill(mortal)
        with pytest.raises(tetrion.SessionNotFoundError, match="create a new session"):
            session.step([0])


def test_a_server_of_our_own_that_dies_is_started_again():
    with tetrion.Server() as server, tetrion.Client(server) as client:
        address = server.address
        session = client.create_session(seed=1, snapshot_every=1)
        first = session.reset()
        kill(server)
        with pytest.warns(RuntimeWarning, match="status -9 and was started again"):
            again = session.save_state()
        assert server.address == address
        with client.create_session(seed=1) as twin:
            np.testing.assert_array_equal(twin.reset().observations["current"], first.observations["current"])
            assert twin.save_state() == again
    assert not server.running
    server.revive()
    assert not server.running


def test_a_frozen_server_is_given_up_soon():
    """It takes connections, as the system does that for it, and never answers."""
    with tetrion.Server() as server, tetrion.Client(server.address, patience=3) as client:
        env = tetrion.PlacementEnv(address=client)
        env.reset(seed=1)
        server._process.send_signal(signal.SIGSTOP)
        # Until all of its threads have stopped, it may answer.
        os.waitpid(server._process.pid, os.WUNTRACED)
        try:
            for call in (lambda: env.step(0), env.session.save_state, lambda: client.evaluate("bcts", seeds=[1])):
                began = time.monotonic()
                with pytest.raises(tetrion.ServerUnavailableError):
                    call()
                assert time.monotonic() - began < 25
            began = time.monotonic()
            env.close()
            assert time.monotonic() - began < 25
        finally:
            server._process.send_signal(signal.SIGCONT)
        # It goes on as if nothing had been.
        assert client.evaluate("bcts", seeds=[1], max_pieces=5).pieces.tolist() == [5]
