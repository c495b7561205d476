"""The services in this process and on a server do the same, byte for byte, by whichever way a call goes."""

import contextlib
import gc
import multiprocessing
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request

import numpy as np
import pytest

import tetrion
from tetrion import _native
from tetrion._pb import messages as pb
from tetrion._sessions.session import Session


@pytest.fixture(scope="module")
def inside():
    with tetrion.Client() as client:
        yield client


class Deaf:
    """A listener, for which a session makes its calls with messages."""

    def __init__(self):
        self.unsaved = set()

    def heard(self, kind, request, response):
        pass

    def saved(self, env_ids, states):
        pass


def number_there(session) -> int:
    """The number of the last call that changed the session, as the server counts."""
    request, metadata = pb.GetSessionRequest(name=session.name), (("x-session", session.name),)
    return session._link.connection.call("GetSession", request, metadata).session.sequence_number


def with_messages(session: Session) -> Session:
    session._listen(Deaf())
    return session


def contents(answer):
    """Everything in an answer, as bytes."""
    if answer is None or isinstance(answer, (int, float)):
        return answer
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.shape, answer.tobytes()
    if isinstance(answer, tuple):
        return [contents(part) for part in answer]
    return [(name, contents(array)) for name, array in answer.items()]


def without_id(error):
    """What an error says but for the id of the request, which is random."""
    return re.sub(", request [0-9a-f]+", "", str(error))


CONFIGURATIONS = [
    {},
    {"autoreset_mode": "same_step", "max_episode_steps": 7, "features": "bcts8", "observations": ["board", "features"]},
    {"autoreset_mode": "disabled", "infos": ["lines", "landing_row", "seed"], "action_mask": False},
    {"rules": {"width": 32, "height": 40, "preview": 3}, "observations": ["board", "board_bits", "queue", "heights"]},
    {"rules": "guideline", "infos": ["spin", "attack", "lines"], "autoreset_mode": "same_step"},
    {"rules": {"action_model": "keypress", "reach": "sideways_walk", "orientation_table": "lab"}},
    {"rules": {"piece_set": "pentominoes", "width": 12}, "invalid_action_policy": "ignore"},
]


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=repr)
@pytest.mark.parametrize("num_envs", [1, 3, 40])
def test_random_games(inside, remote, num_envs, configuration):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    configuration = {"seed": 5, "invalid_action_policy": "terminate", **configuration}
    sessions = [
        inside.create_session(num_envs, **configuration, copy=True),
        inside.create_session(num_envs, **configuration, copy=False),
        with_messages(inside.create_session(num_envs, **configuration)),
        remote.create_session(num_envs, **configuration),
        *(client.create_session(num_envs, **configuration).stream() for client in (inside, remote)),
    ]
    assert sessions[0]._link.native.is_direct
    assert not sessions[2]._link.native.is_direct

    def same(call):
        first, *others = [contents(call(session)) for session in sessions]
        for other in others:
            assert other == first
        return call

    same(lambda session: session.reset())
    for step in range(60):
        if rng.random() < 0.05:
            seeds = rng.integers(1 << 62, size=num_envs).tolist()
            same(lambda session, seeds=seeds: session.reset(seeds=seeds))
        actions = rng.integers(sessions[0].num_actions, size=num_envs)
        if configuration.get("autoreset_mode") == "disabled" and step % 5 == 0:
            same(lambda session: session.reset())
        # Over all transports an episode that has ended refuses the step.
        outcomes = []
        for session in sessions:
            try:
                outcomes.append(contents(session.step(actions)))
            except tetrion.EpisodeEndedError as error:
                outcomes.append(without_id(error))
        assert all(outcome == outcomes[0] for outcome in outcomes)
        numbers = {session._link.native.number for session in sessions}
        assert len(numbers) == 1
    states = [session.save_state() for session in sessions]
    assert all(state == states[0] for state in states)


@pytest.mark.parametrize(
    "actions",
    [
        [0, 1, 2],
        (0, 1, 2),
        np.array([0, 1, 2], np.int8),
        np.array([0, 1, 2], np.uint64),
        np.array([0, 1, 2], ">i8"),
        np.array([0, 9, 1, 9, 2, 9])[::2],
        np.array([2, 1, 0])[::-1],
        np.array([0.0, 1.0, 2.0]),
        np.array([[0, 1, 2]]),
        np.array([0, 1]),
        np.array([0, 1, 2, 3]),
        np.array([0, 1, 1 << 40]),
        np.array([0, 1, -5]),
        np.array([0, 1, 10_000]),
        np.array([True, False, True]),
        np.array([0.5, 1, 2]),
        np.array(["a", "b", "c"]),
        np.array([0, 1, None]),
        np.array(3),
        3,
        None,
        "abc",
        b"abc",
        bytearray(24),
        memoryview(np.array([0, 1, 2])),
        np.ma.masked_array([0, 1, 2], [False, True, False]),
    ],
    ids=repr,
)
def test_any_actions(inside, remote, actions):
    """What is a plain array takes the short way, and anything else the long one; both accept and refuse the same."""
    outcomes = []
    sessions = [
        inside.create_session(3, seed=1),
        with_messages(inside.create_session(3, seed=1)),
        remote.create_session(3, seed=1),
    ]
    for session in sessions:
        session.reset()
        before = session.save_state()
        try:
            outcomes.append(contents(session.step(actions)))
        except (tetrion.TetrionError, tetrion.InvalidArgumentError) as error:
            outcomes.append((type(error), without_id(error)))
            assert session.save_state() == before
            assert session.sequence_number == 1
    assert all(outcome == outcomes[0] for outcome in outcomes)


@pytest.mark.parametrize("wrong", [[0, 10_000], [-1, 0], [0, 1 << 40], [0.5, 0.5]])
@pytest.mark.parametrize("refusals", [1, 2])
def test_a_refused_step_leaves_the_arrays_as_they_were(inside, wrong, refusals):
    """Those of the last answer until the step after the next one, however many are refused between."""
    session = inside.create_session(2, seed=1, copy=False, autoreset_mode="disabled")
    session.reset()
    last = session.step(np.zeros(2, np.int64))
    kept = contents(last)
    for _ in range(refusals):
        with pytest.raises((tetrion.IllegalActionError, tetrion.InvalidArgumentError)):
            session.step(np.array(wrong))
    assert contents(last) == kept
    following = session.step(np.ones(2, np.int64))
    assert contents(last) == kept
    assert contents(following) != kept


def test_arrays_without_copies_take_turns(inside):
    session = inside.create_session(2, seed=1, copy=False)
    session.reset()
    answers = [session.step(np.zeros(2, np.int64)) for _ in range(4)]
    boards = [answer.observations["board"] for answer in answers]
    assert boards[0] is boards[2]
    assert boards[1] is boards[3]
    assert not np.array_equal(boards[0], boards[1])
    answers[0].rewards[0] = 1
    assert answers[2].rewards[0] == 1
    kept = boards[0]
    session.close()
    del session, answers, boards
    gc.collect()
    assert kept.sum() > 0  # The memory lives as long as an array looks into it.


def test_arrays_with_copies_are_an_answers_own(inside):
    session = inside.create_session(2, seed=1)
    boards = [session.reset().observations["board"]]
    boards += [session.step(np.zeros(2, np.int64)).observations["board"] for _ in range(4)]
    assert [board.sum() for board in boards] == [0, 8, 16, 24, 32]


def test_what_is_sent_ahead_is_played_before_it_is_received(client):
    with client.create_session(2, seed=1) as session, session.stream() as stream:
        stream.reset()
        stream.send_step([0, 0])
        stream.send_step([1, 1])
        deadline = time.monotonic() + 20
        while number_there(session) < 3:
            assert time.monotonic() < deadline
        assert stream.receive_step().infos["pieces"].tolist() == [1, 1]
        assert stream.receive_step().infos["pieces"].tolist() == [2, 2]


def test_sessions_end_with_their_client_in_this_process():
    for _ in range(3):
        with tetrion.Client() as client:
            kept = client.create_session(4)
            kept.reset()
        with pytest.raises(tetrion.TetrionError, match="was closed"):
            kept.step(np.zeros(4, np.int64))
        with tetrion.Client() as other, pytest.raises(tetrion.SessionNotFoundError):
            Session(other._connection, kept._message)


def test_a_lease_begins_when_the_object_is_gone(inside):
    session = inside.create_session(2, ttl=2.0)
    session.reset()
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        session.step(np.zeros(2, np.int64)) if session.sequence_number < 5 else session.reset()
    message = session._message
    del session
    gc.collect()
    Session(inside._connection, message).close()


def test_an_ended_session_is_refused(inside):
    session = inside.create_session(2)
    session.reset()
    native = session._link.native
    block = native.block(2)
    session.close()
    with pytest.raises(tetrion.SessionNotFoundError):
        session.step(np.zeros(2, np.int64))
    assert native.step(block, np.zeros(2, np.int64)) is None


def test_the_block_of_another_session_is_refused(inside):
    mine, other = (inside.create_session(3, observations=[name])._link.native for name in ("board", "current"))
    for block in (other.block(3), mine.block(2)):
        with pytest.raises(ValueError, match="another session"):
            mine.step(block, np.zeros(3, np.int64))
        with pytest.raises(ValueError, match="another session"):
            mine.reset(block, None, None)
    with pytest.raises(TypeError):
        mine.step(bytearray(10_000), np.zeros(3, np.int64))
    with pytest.raises(TypeError):
        _native.Block()


def test_a_number_that_is_not_the_next_is_refused(inside):
    """Another user of the session has moved it."""
    session = inside.create_session(2, seed=1)
    session.reset()
    other = with_messages(Session(inside._connection, session._message))
    other._link.native.number = 1
    other.step([0, 0])
    with pytest.raises(tetrion.errors.SequenceMismatchError):
        session.step(np.ones(2, np.int64))
    session.refresh()
    session.step(np.zeros(2, np.int64))


def test_threads(client):
    """Each has sessions of its own, and all share the client."""
    failures = []

    def play(seed):
        try:
            with client.create_session(
                64, seed=seed, autoreset_mode="same_step", invalid_action_policy="terminate"
            ) as session:
                session.reset()
                lines = 0.0
                for _ in range(300):
                    lines += session.step(np.zeros(64, np.int64)).rewards.sum()
                client.evaluate("bcts", seeds=[seed], max_pieces=50)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failures


def test_threads_that_share_a_session(inside):
    """Nothing breaks; a call either is the next one or is refused."""
    session = inside.create_session(2000, seed=1, copy=False, autoreset_mode="same_step", invalid_action_policy="terminate")
    session.reset()
    unexpected = []

    def step():
        for _ in range(100):
            try:
                session.step(np.zeros(2000, np.int64))
            except (tetrion.errors.SequenceMismatchError, ValueError):
                session._link.native.number = number_there(session)
            except BaseException as error:
                unexpected.append(error)

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not unexpected


def in_a_process(script: str, *arguments: str) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TETRION_")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )


@pytest.mark.parametrize("place", ["inside", "remote"])
def test_it_needs_no_grpc(place, server):
    script = """
        import sys, gymnasium, tetrion
        address = sys.argv[1] if len(sys.argv) > 1 else None
        env = gymnasium.make("tetrion/Placement-v0", address=address)
        env.reset(seed=1)
        env.step(0)
        tetrion.Client(address).evaluate("bcts", seeds=[1], max_pieces=10)
        assert "grpc" not in sys.modules
        print("played")
    """
    done = in_a_process(script, *([server.address] if place == "remote" else []))
    assert done.stdout == "played\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("place", ["inside", "remote"])
def test_forks(place, server):
    """What the parent had is refused in the child, and what the child makes works, however often."""
    script = """
        import os, sys, threading, warnings
        import numpy as np
        import tetrion
        warnings.simplefilter("ignore")
        if len(sys.argv) > 1:
            os.environ["TETRION_SERVER"] = sys.argv[1]
        env, envs, client = tetrion.PlacementEnv(), tetrion.PlacementVectorEnv(8), tetrion.Client()
        env.reset(seed=1)
        envs.reset(seed=1)
        client.evaluate("bcts", seeds=[1, 2], max_pieces=50)
        # While other threads of the parent are in the middle of something.
        busy = tetrion.PlacementVectorEnv(256)
        busy.reset(seed=1)

        def play():
            while True:
                busy.step(np.zeros(256, int))
                client.evaluate("bcts", seeds=[1, 2], max_pieces=200)

        threading.Thread(target=play, daemon=True).start()
        for number in range(40):
            child = os.fork()
            if child == 0:
                refused = 0
                for call in (lambda: env.step(0), lambda: envs.step(np.zeros(8, int)), client.server_info):
                    try:
                        call()
                    except tetrion.errors.ForkedClientError:
                        refused += 1
                with tetrion.Client() as own:
                    lines = own.evaluate("bcts", seeds=[1, 2], max_pieces=50).lines
                other = tetrion.PlacementEnv()
                other.reset(seed=1)
                other.step(0)
                if refused != 3 or len(lines.ravel()) != 2:
                    os._exit(1)
                if number % 2:
                    os._exit(0)
                sys.exit(0)  # which drops what it has from its parent
            _, status = os.waitpid(child, 0)
            assert status == 0, (number, status)
            env.step(0) if number % 5 else env.reset()
        envs.step(np.zeros(8, int))
        print("done")
    """
    done = in_a_process(script, *([server.address] if place == "remote" else []))
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers(method, client):
    context = multiprocessing.get_context(method)
    jobs = [(client.address, seed) for seed in (1, 2, 3)]
    with context.Pool(2) as pool:
        assert pool.starmap(lines_of, jobs) == [lines_of(*job) for job in jobs]


def lines_of(address, seed):
    with tetrion.Client(address) as client:
        return client.evaluate("bcts", seeds=[seed], max_pieces=100).lines.tolist()


@pytest.mark.parametrize("call", ["evaluate", "step"])
def test_ctrl_c(call, client):
    """It ends what this process waits for, and leaves everything in order."""
    script = """
        import signal, sys, tetrion, numpy as np
        signal.signal(signal.SIGINT, signal.default_int_handler)
        client = tetrion.Client(*sys.argv[2:])
        envs = tetrion.PlacementVectorEnv(512, address=client)
        envs.reset(seed=1)
        print("ready", flush=True)
        try:
            if sys.argv[1] == "evaluate":
                client.evaluate("bcts", seeds=[1])
            while True:
                envs.step(np.zeros(512, int))
        except KeyboardInterrupt:
            envs.step(np.zeros(512, int))
            client.evaluate("bcts", seeds=[1], max_pieces=10)
            print("interrupted", flush=True)
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), call, *filter(None, [client.address])],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with child:
        assert child.stdout.readline() == "ready\n"
        threading.Event().wait(0.5)
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(30) == 0


def test_the_interpreter_ends_with_everything_open(client):
    script = """
        import sys, threading, tetrion, numpy as np
        client = tetrion.Client(*sys.argv[1:])
        session = client.create_session(256)
        session.reset()
        stream = session.stream()
        stream.send_step(np.zeros(256, int))
        run = client.start_evaluation("bcts", seeds=list(range(1000)), max_pieces=20_000)
        next(iter(run))
        watching = client.watch(session)
        threading.Thread(target=lambda: client.evaluate("bcts", seeds=[1]), daemon=True).start()
        print("open", flush=True)
    """
    done = in_a_process(script, *filter(None, [client.address]))
    assert (done.stdout, done.returncode) == ("open\n", 0), done.stderr


def test_environments_move_between_transports(inside, remote):
    here, there = tetrion.PlacementEnv(address=inside), tetrion.PlacementEnv(address=remote)
    for env in (here, there):
        env.reset(seed=3)
        env.step(4)
    moved = pickle.loads(pickle.dumps(tetrion.PlacementEnv()))
    moved.reset(seed=3)
    moved.restore_state(there.save_state())
    there.restore_state(here.save_state())
    assert moved.save_state() == there.save_state() == here.save_state()


def test_a_closed_client_has_no_connection():
    def num_connections():
        with urllib.request.urlopen(f"http://{server.address}/metrics") as metrics:
            return int(re.search(r"^tetrion_connections (\d+)", metrics.read().decode(), re.M)[1])

    with tetrion.Server() as server:
        client = tetrion.Client(server)
        stream = client.create_session().stream()
        stream.reset()
        assert num_connections() == 2  # with that of the metrics
        client.close()
        deadline = time.monotonic() + 20
        while num_connections() > 1:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with pytest.raises(tetrion.TetrionError, match="was closed"):
            stream.reset()


@pytest.mark.parametrize("timeout", [1e9, 1e15, 1e300])
def test_timeouts_longer_than_any_call(client, timeout):
    with tetrion.Client(client.address, timeout=timeout) as own:
        assert own.evaluate("bcts", seeds=[1], max_pieces=5).pieces.tolist() == [5]


def test_metadata_that_cannot_be_sent(client):
    with pytest.raises(tetrion.TetrionError, match='the metadata "x-session" cannot be sent'):
        client._connection.call("GetSession", pb.GetSessionRequest(), (("x-session", "sessions/\n"),))


@pytest.mark.parametrize("setting", [{"token": "secret"}, {"tls": True}])
def test_what_is_about_a_server_needs_its_address(setting):
    with pytest.raises(tetrion.InvalidArgumentError, match=f"^{next(iter(setting))} is given without an address"):
        tetrion.Client(**setting)


def test_steps_on_a_server_are_read_by_the_extension_module(remote):
    """A plain array of actions becomes no message, by calls, over a stream and sent ahead."""
    session = remote.create_session(3, seed=1, copy=False)
    stream = session.stream()
    session.reset()
    first = session.step(np.zeros(3, np.int64))
    second = stream.step(np.zeros(3, np.int32))
    stream.send_step(np.zeros(3, np.int64))
    third = stream.receive_step()
    assert third.observations is first.observations  # Two blocks take turns.
    assert third.observations is not second.observations
    assert third.infos["pieces"].tolist() == [3, 3, 3]
    # By messages it is the same; an answer about some environments has its own arrays.
    assert session.step([0, 0, 0]).observations is second.observations
    some = session.step([0, 0], [2, 0])
    assert some.observations is not third.observations
    assert some.infos["pieces"].tolist() == [5, 5]


def test_a_listener_of_a_step_sent_ahead_hears_messages(remote):
    """The request was sent before the listener came."""
    heard = []

    class Listener(Deaf):
        def heard(self, kind, request, response):
            heard.append((kind, request.NAME, response.NAME))

    session = remote.create_session(2, seed=1)
    with session.stream() as stream:
        stream.reset()
        stream.send_step(np.zeros(2, np.int64))
        session._listen(Listener())
        assert stream.receive_step().infos["pieces"].tolist() == [1, 1]
    assert heard == [("step", pb.StepRequest.NAME, pb.StepResponse.NAME)]


def test_what_does_not_belong_to_a_session_is_refused(remote):
    session = remote.create_session(2, seed=1)
    session.reset()
    native, other = session._link.native, remote.create_session(3)._link.native
    before = session.save_state()
    with pytest.raises(ValueError, match="another session"):
        native.step(other.block(3), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match='no call "steal"'):
        native.call("steal", b"")
    with pytest.raises(TypeError, match="a connection"):
        _native.Session.existing(object(), session._message.encode(), session._connection.call_settings())
    for unusual in ([0, 0], np.zeros(3, np.int64), np.zeros((2, 1), np.int64), np.full(2, 1 << 40), np.zeros(2), None):
        assert native.step(native.block(2), unusual) is None
    assert session.save_state() == before


def test_no_block_can_have_the_tensors_of_a_boundless_session(remote):
    message = remote.create_session(2)._message
    spec = message.info_specs[0].changed(shape=[1 << 31, 1 << 31])
    boundless = message.changed(info_specs=[spec])
    native = _native.Session.existing(remote._connection.caller(), boundless.encode(), remote._connection.call_settings())
    with pytest.raises(ValueError, match="no block"):
        native.places(2)
    with pytest.raises(ValueError, match="no block"):
        native.block(2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("dtype", "board: has element type UINT8, expected INT8"),
        ("observations", "2 tensors for the 1 fields"),
        ("mask", "action_mask: is there, and the session has none"),
    ],
)
def test_answers_that_have_no_room_in_a_block_are_refused(remote, wrong, said):
    """The description speaks of other tensors than the server sends."""
    session = remote.create_session(2, seed=1, observations=["board", "current"])
    session.reset()
    message = session._message
    specs, config = list(message.observation_specs), message.config
    if wrong == "dtype":
        specs[0] = specs[0].changed(dtype=pb.DATA_TYPE_INT8)
    if wrong == "observations":
        specs.pop()
    if wrong == "mask":
        config = config.changed(action_mask_format=pb.ACTION_MASK_FORMAT_UNSPECIFIED)
    told = message.changed(observation_specs=specs, config=config, sequence_number=1)
    native = _native.Session.existing(remote._connection.caller(), told.encode(), remote._connection.call_settings())
    for calls in (native, _native.SessionStream(native)):
        block = native.block(2)
        before = bytes(memoryview(block))
        with pytest.raises(_native.AnswerError, match=said):
            calls.step(block, np.zeros(2, np.int64))
        assert bytes(memoryview(block)) == before


def test_in_this_process_many_evaluations_run_at_once(inside):
    """A server refuses a caller's 17th. Here all play, and share the threads."""
    runs = []
    for _ in range(40):
        # The first game ends soon, the second one never.
        run = inside.start_evaluation(["random", "dt-20"], seeds=[1])
        assert next(iter(run)).lines.size == 1
        runs.append(run)
    for run in runs:
        run.close()
    assert inside.evaluate("bcts", seeds=[1], max_pieces=10).pieces.tolist() == [10]


def test_in_this_process_many_sessions_are_watched_at_once(inside):
    """A server refuses a caller's 65th watch. Eight may look at one session."""
    sessions = [inside.create_session(2, seed=1) for _ in range(10)]
    for session in sessions:
        session.reset()
    with contextlib.ExitStack() as stack:
        watches = [stack.enter_context(inside.watch(session)) for session in sessions for _ in range(8)]
        assert [len(next(watching).envs) for watching in watches] == [2] * 80
        with pytest.raises(tetrion.errors.ServerFullError, match="its limit on watches, 8") as caught:
            inside.watch(sessions[0])
    assert "close what you do not use" in str(caught.value)
    assert "server" not in str(caught.value)


def test_in_this_process_no_error_speaks_of_a_server(inside, remote):
    """The memory of evaluations is limited in both places, and only a server can be started with more."""

    def fill(client):
        with contextlib.ExitStack() as stack:
            for _ in range(12):
                run = client.start_evaluation(["random", "random"], seeds=tetrion.DrawnSeeds(1, 1 << 19))
                stack.callback(run.close)
                next(iter(run))

    for client, speaks in ((inside, False), (remote, True)):
        with pytest.raises(tetrion.errors.ServerFullError, match="MEMORY_LIMIT") as caught:
            fill(client)
        assert ("start the server" in str(caught.value)) is speaks
        assert ("server" in str(caught.value)) is speaks
        assert "close what you do not use" in str(caught.value)
