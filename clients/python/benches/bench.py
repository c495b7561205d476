"""How fast it is from Python: `python bench.py [--json] [--quick] [--against FILE] [--address HOST:PORT] [--only PART ...]`.

It measures steps, placements, pictures, tasks and data sets in this process, calls of a server, and other environments:
CartPole, and PufferLib, EnvPool and Jumanji if they are installed. All answers become numpy arrays. The works take turns,
and the figures are medians over the rounds. Without an address it starts a server.

The last figure compares a Step of one environment with an echo: a server on the same stack that reads every request and
always returns the same message (`cargo build --release --example echo`). Both are called through the extension module.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

import tetrion
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._transport.transport import METHODS
from tetrion.tasks import GROUPS, TaskEnv

# Columns that take every piece in its first orientation on the default playfield.
COLUMNS = 7
NUM_POSITIONS = 4096

PARTS = ["in-process", "others", "server"]
CHECKOUT = Path(__file__).parents[3]


# What this package aims at, on a quiet core of a machine on which CartPole-v1 does 200,000 steps a second.
TARGETS = {
    "in process: Session.step of 1, board and mask": 1_000_000,
    "in process: gymnasium.make": 600_000,
    "in process: gymnasium.make, afterstates": 150_000,
    "in process: enumerate_placements of 1": 100_000,
    "in process: vector environment of 256, afterstates": 1_000_000,
    "in process: TetrisVecEnv of 16": 500_000,
    "in process: TetrisVecEnv of 256": 2_000_000,
    "in process: vector environment of 256, board and mask": 12_000_000,
    "in process: vector environment of 4096, board and mask": 16_000_000,
    "in process: data set of bcts": 41_667,
    "StepStream of 1, 16 ahead": 60_000,
}


class Bench:
    """Named works, measured in turns."""

    def __init__(self, rounds: int, seconds: float) -> None:
        """Measures each work for `seconds` in each of `rounds` rounds."""
        self.rounds = rounds
        self.seconds = seconds
        self.works: list[tuple[str, str, Callable[[], int]]] = []

    def add(self, name: str, unit: str, work: Callable[[], int]) -> None:
        """Adds a work: it does something and returns how much."""
        self.works.append((name, unit, work))

    def rates(self) -> dict[str, list[float]]:
        """How much each work does a second, in each round."""
        samples: dict[str, list[float]] = {name: [] for name, _, _ in self.works}
        for _, _, work in self.works:
            work()
        for done_rounds in range(self.rounds):
            if sys.stderr.isatty():
                left = (self.rounds - done_rounds) * self.seconds * len(self.works)
                print(f"\rround {done_rounds + 1} of {self.rounds}, {left:.0f} s left ", end="", file=sys.stderr)
            for name, _, work in self.works:
                start, done = time.perf_counter(), 0
                while (took := time.perf_counter() - start) < self.seconds:
                    done += work()
                samples[name].append(done / took)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        return samples


def actions(num_envs: int) -> Iterator[np.ndarray]:
    """Actions that every episode can take, spread over the columns."""
    steps = [(np.arange(num_envs, dtype=np.int32) + 3 * step) % COLUMNS for step in range(COLUMNS)]
    while True:
        yield from steps


def keys(num_envs: int, num_keys: int) -> list[np.ndarray]:
    """Random keys for 64 steps."""
    return list(np.random.default_rng(1).integers(num_keys, size=(64, num_envs), dtype=np.int32))


def add_in_process(bench: Bench) -> None:
    """Steps in this process, by sessions and by the environments for Gymnasium."""
    client = tetrion.Client()
    settings = {"seed": 1, "invalid_action_policy": "terminate"}
    for num_envs in (1, 256, 4096):
        session = client.create_session(num_envs, observations=["board"], copy=False, **settings)
        bench.add(f"in process: Session.step of {num_envs}, board and mask", "steps", steps_of(session))
        bare = client.create_session(num_envs, observations=["current"], action_mask=False, copy=False, **settings)
        bench.add(f"in process: Session.step of {num_envs}, rewards and flags", "steps", steps_of(bare))
    for num_envs in (256, 4096):
        name = f"in process: vector environment of {num_envs}, random keys"
        steered = tetrion.KeypressVectorEnv(num_envs, copy=False)
        bench.add(name, "steps", vector_steps_of(steered, keys(num_envs, int(steered.single_action_space.n))))
        spread = list(itertools.islice(actions(num_envs), COLUMNS))
        for copy in (False, True):
            envs = tetrion.PlacementVectorEnv(num_envs, observations=["board"], copy=copy)
            name = f"in process: vector environment of {num_envs}, board and mask"
            bench.add(name + (", copies" if copy else ""), "steps", vector_steps_of(envs, spread))
    for num_envs in (16, 256):
        spread = list(itertools.islice(actions(num_envs), COLUMNS))
        for mode in ("next_step", "same_step", "disabled"):
            envs = tetrion.PlacementVectorEnv(num_envs, autoreset_mode=mode)
            bench.add(f"in process: vector environment of {num_envs}, {mode}", "steps", vector_steps_of(envs, spread))
        if find_spec("stable_baselines3"):
            from tetrion.sb3 import TetrisVecEnv

            bench.add(f"in process: TetrisVecEnv of {num_envs}", "steps", vector_steps_of(TetrisVecEnv(num_envs), spread))
    listed = tetrion.AfterstateVectorEnv(256)
    name = "in process: vector environment of 256, afterstates"
    bench.add(name, "steps", vector_steps_of(listed, list(itertools.islice(actions(256), COLUMNS))))
    for env_id in ("tetrion/Placement-v0", "tetrion/Afterstate-v0"):
        name = "in process: gymnasium.make" + (", afterstates" if "Afterstate" in env_id else "")
        bench.add(name, "steps", single_steps_of(gymnasium.make(env_id), COLUMNS))
    asked = client.create_session(seed=1, features="bcts8")
    asked.reset()
    bench.add(
        "in process: enumerate_placements of 1", "lists", lambda: len([asked.enumerate_placements() for _ in range(50)])
    )
    shown = tetrion.PlacementVectorEnv(64, render_mode="rgb_array")
    shown.reset(seed=1)
    bench.add("in process: render() of 64, rgb_array", "pictures", lambda: len(shown.render() or ()))
    add_tasks(bench, client)
    if find_spec("pyarrow"):
        bench.add("in process: data set of bcts", "steps", data_set_of(client))


def add_tasks(bench: Bench, client: tetrion.Client) -> None:
    """Tasks that are fetched and scored, and steps of one that is played from its start again and again."""
    # Not tasks of the group `formula`, whose answers play games.
    asked = itertools.cycle(index for index in range(7 * 16) if GROUPS[index % 7] != "formula")

    def score() -> int:
        task = client.task("train", next(asked))
        return int(client.score_task("train", task.index, actions=task.oracle_actions).score > 0)

    bench.add("in process: tasks fetched and scored", "tasks", score)
    env = TaskEnv(index=1, address=client)
    task = env.task

    def play() -> int:
        env.reset()
        for action in task.oracle_actions:
            env.step(action)
        return len(task.oracle_actions)

    bench.add("in process: TaskEnv", "steps", play)


def data_set_of(client: tetrion.Client) -> Callable[[], int]:
    """A Parquet file with all placements, features and values of 16 games of 200 pieces."""
    from tetrion import dataset

    folder = tempfile.TemporaryDirectory()
    return lambda: dataset.write(Path(folder.name) / "games", "bcts", games=16, max_pieces=200, client=client)


def steps_of(session: tetrion.Session) -> Callable[[], int]:
    """Steps that look at the playfield, or whatever else the session shows."""
    (name,) = session.reset().observations.keys() - {"current"} or {"current"}
    chosen = list(itertools.islice(actions(session.num_envs), COLUMNS))

    def steps() -> int:
        for actions in chosen:
            stepped = session.step(actions)
            stepped.observations[name]
        return len(chosen) * session.num_envs

    return steps


def vector_steps_of(envs: Any, chosen: list[np.ndarray]) -> Callable[[], int]:
    """Steps of a vector environment, with the resets that the learner makes."""
    if hasattr(envs, "step_wait") and hasattr(envs, "seed"):  # of Stable-Baselines3
        envs.seed(1)
        envs.reset()
    else:
        envs.reset(seed=1)
    resets = getattr(envs, "metadata", None) and envs.metadata.get("autoreset_mode") == AutoresetMode.DISABLED

    def steps() -> int:
        for actions in chosen:
            answer = envs.step(actions)
            if resets and (ended := answer[2] | answer[3]).any():
                answer = envs.reset(options={"reset_mask": ended})
        return sum(map(len, chosen))

    return steps


def single_steps_of(env: Any, num_actions: int) -> Callable[[], int]:
    """A hundred steps of an environment of one game, with the resets between them."""
    env.reset(seed=1)
    chosen = [(3 * step) % num_actions for step in range(100)]

    def step() -> int:
        for action in chosen:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(chosen)

    return step


def add_steps(bench: Bench, client: tetrion.Client) -> None:
    """Steps of a session on a server, by calls, by a stream, and through Gymnasium."""
    settings = {"seed": 1, "autoreset_mode": "same_step"}
    for num_envs in (1, 256, 4096):
        bare = client.create_session(num_envs, observations=["board_bits", "current"], action_mask=False, **settings)
        bench.add(f"Step of {num_envs}", "steps", steps_of(bare))
        if num_envs == 4096:
            session = client.create_session(num_envs, observations=["board", "current"], **settings)
            bench.add(f"Step of {num_envs} with board and mask", "steps", steps_of(session))
        streamed = client.create_session(num_envs, observations=["board_bits", "current"], action_mask=False, **settings)
        stream = streamed.stream()
        stream.reset()
        chosen = actions(num_envs)

        def step(stream: tetrion.StepStream = stream, chosen: Iterator[np.ndarray] = chosen) -> int:
            return len(stream.step(next(chosen)).rewards)

        bench.add(f"StepStream of {num_envs}", "steps", step)
    ahead = client.create_session(observations=["board_bits", "current"], action_mask=False, **settings).stream()
    ahead.reset()
    chosen = actions(1)

    def step_ahead() -> int:
        while ahead.in_flight < 16:
            ahead.send_step(next(chosen))
        return len(ahead.receive_step().rewards)

    bench.add("StepStream of 1, 16 ahead", "steps", step_ahead)
    envs = gymnasium.make_vec("tetrion/Placement-v0", num_envs=256, address=client, observations=["board_bits", "current"])
    bench.add("gymnasium.make_vec of 256", "steps", vector_steps_of(envs, list(itertools.islice(actions(256), COLUMNS))))


def add_others(bench: Bench) -> None:
    """Other environments, as far as they are installed, each in its fastest form that Python can call."""
    bench.add("CartPole-v1 by gymnasium.make", "steps", single_steps_of(gymnasium.make("CartPole-v1"), 2))
    if find_spec("pufferlib"):
        from pufferlib.ocean.tetris.tetris import Tetris

        for num_envs in (256, 4096):
            name = f"PufferLib's Tetris of {num_envs}, random keys"
            bench.add(name, "steps", vector_steps_of(Tetris(num_envs), keys(num_envs, 7)))
    if find_spec("envpool"):
        import envpool

        for num_envs in (256, 4096):
            envs = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=num_envs)
            envs.reset()
            chosen = np.arange(num_envs) % 2

            def step(envs: Any = envs, chosen: np.ndarray = chosen) -> int:
                return len(envs.step(chosen)[1])

            bench.add(f"EnvPool's CartPole-v1 of {num_envs}", "steps", step)
            games = envpool.make("Jumanji/Tetris-v0", env_type="gymnasium", num_envs=num_envs)
            seen = [games.reset()[0]["action_mask"]]

            def place(games: Any = games, seen: list[np.ndarray] = seen) -> int:
                # The first placement that exists.
                mask = seen[0]
                flat = mask.reshape(len(mask), -1).argmax(axis=1)
                seen[0] = games.step(np.stack(np.divmod(flat, mask.shape[2]), axis=1).astype(np.int32))[0]["action_mask"]
                return len(mask)

            bench.add(f"EnvPool's Jumanji/Tetris-v0 of {num_envs}", "steps", place)
    if find_spec("jumanji"):
        import jax
        import jumanji

        for num_envs in (256, 4096):
            env = jumanji.make("Tetris-v0")
            state, seen = jax.vmap(env.reset)(jax.random.split(jax.random.key(1), num_envs))

            @jax.jit
            def steps(state: Any, mask: Any, env: Any = env) -> Any:
                def one(state: Any, mask: Any) -> Any:
                    # The first placement that exists.
                    first = jax.numpy.argmax(mask.ravel())
                    action = jax.numpy.array([first // mask.shape[1], first % mask.shape[1]])
                    state, seen = env.step(state, action)
                    fresh, begun = env.reset(state.key)
                    again = jax.tree.map(lambda old, new: jax.numpy.where(seen.last(), new, old), state, fresh)
                    return again, jax.numpy.where(seen.last(), begun.observation.action_mask, seen.observation.action_mask)

                return jax.vmap(one)(state, mask)

            place = [state, seen.observation.action_mask]

            def step_jumanji(place: list[Any] = place, steps: Any = steps, num_envs: int = num_envs) -> int:
                place[:] = steps(*place)
                np.asarray(place[1])
                return num_envs

            bench.add(f"Jumanji's Tetris of {num_envs}, jit and vmap", "steps", step_jumanji)


def add_placements(bench: Bench, client: tetrion.Client) -> None:
    """Every placement of many games with its features as one matrix."""
    session = client.create_session(NUM_POSITIONS, seed=1, features="bcts8", action_mask=False)
    session.reset()
    for chosen in itertools.islice(actions(NUM_POSITIONS), 8):
        session.step(chosen)

    def enumerate_placements() -> int:
        features = session.enumerate_placements().features
        assert features is not None
        return len(features)

    bench.add(f"EnumeratePlacements of {NUM_POSITIONS}, 8 features", "placements", enumerate_placements)
    stream = session.stream()

    def ahead() -> int:
        # The server works on the next answer while this one is read.
        while stream.in_flight < 3:
            stream.send_placements()
        features = stream.receive_placements().features
        assert features is not None
        return len(features)

    bench.add("the same over a StepStream, 3 ahead", "placements", ahead)


@contextmanager
def echo(program: Path, answer: bytes) -> Iterator[str]:
    """A server that answers everything with the same message; its address."""
    process = subprocess.Popen([program, answer.hex()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().removeprefix("echo listening on ").strip()
    finally:
        process.stdin.close()
        process.wait()


@contextmanager
def add_echo(bench: Bench, client: tetrion.Client, program: Path) -> Iterator[None]:
    """A Step of one environment and an echo of the same messages, both as calls of the extension module."""
    fields = ["board_bits", "current"]
    session = client.create_session(seed=1, autoreset_mode="same_step", observations=fields, action_mask=False)
    session.reset()
    request = pb.StepRequest(session=session.name, actions=from_numpy(np.array([3], np.int32)))
    server = session._connection.channel

    def step() -> int:
        pb.StepResponse.decode(server.call(METHODS["Step"].path, request.encode(), (), None))
        return 1

    answer = server.call(METHODS["Step"].path, request.encode(), (), None)
    with echo(program, answer) as address, tetrion.Client(address, any_version=True) as other:

        def echoed() -> int:
            answer = other._connection.channel.call("/tetrion.bench.Echo/Call", request.encode(), (), None)
            pb.StepResponse.decode(answer)
            return 1

        bench.add("Step of 1, a bare call", "steps", step)
        bench.add("an echo of the same messages, a bare call", "calls", echoed)
        yield


ROWS: list[dict[str, Any]] = []


def report(bench: Bench) -> None:
    """Measures, and adds a row for each work."""
    samples = bench.rates()
    for name, unit, _ in bench.works:
        rates = samples[name]
        row = {"name": name, "unit": f"{unit}/s", "target": TARGETS.get(name)}
        ROWS.append({**row, "median": statistics.median(rates), "lowest": min(rates), "highest": max(rates)})
    echoed = "an echo of the same messages, a bare call"
    compare("time of a Step of 1 over the echo", samples, echoed, "Step of 1, a bare call")
    compare("gymnasium.make over CartPole-v1", samples, "in process: gymnasium.make", "CartPole-v1 by gymnasium.make", 3.0)
    for num_envs, mode in itertools.product((16, 256), ("same_step", "disabled")):
        name = f"in process: vector environment of {num_envs}, "
        compare(f"{mode} over next_step, {num_envs}", samples, name + mode, name + "next_step", 0.7)


def compare(name: str, samples: dict[str, list[float]], over: str, under: str, target: float | None = None) -> None:
    """Adds a row for the ratio of two works, if both were measured."""
    if over in samples and under in samples:
        ratios = [one / other for one, other in zip(samples[over], samples[under], strict=True)]
        row = {"name": name, "unit": "ratio", "target": target}
        ROWS.append({**row, "median": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)})


def measure_start(rounds: int) -> None:
    """Adds a row for the time from `import tetrion` to the end of the first reset, in a new process."""
    script = "import time; t = time.perf_counter(); import tetrion; tetrion.PlacementEnv().reset(seed=1); "
    command = [sys.executable, "-c", script + "print(time.perf_counter() - t)"]
    times = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(rounds)]
    row = {"name": "in process: import and the first reset", "unit": "s", "target": 0.25}
    ROWS.append({**row, "median": statistics.median(times), "lowest": min(times), "highest": max(times)})


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="rough figures, not to be quoted")
    parser.add_argument("--against", type=Path, metavar="FILE", help="what an earlier run with --json has printed")
    parser.add_argument("--address", help="a server that is already running")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="some parts")
    echo_help = "the echo server [default: target/release/examples/echo]"
    parser.add_argument("--echo", type=Path, help=echo_help, default=CHECKOUT / "target/release/examples/echo")
    args = parser.parse_args()
    rounds, seconds = (3, 0.03) if args.quick else (7, 0.4)

    bench = Bench(rounds, seconds)
    if "in-process" in args.only:
        add_in_process(bench)
        measure_start(rounds)
    if "others" in args.only:
        add_others(bench)
    with contextlib.ExitStack() as stack:
        if "server" in args.only:
            address = args.address or stack.enter_context(tetrion.Server()).address
            client = stack.enter_context(tetrion.Client(address))
            add_steps(bench, client)
            add_placements(bench, client)
            if args.echo.exists():
                stack.enter_context(add_echo(bench, client, args.echo))
            else:
                print(f"no echo server at {args.echo}: cargo build --release --example echo", file=sys.stderr)
        report(bench)

    if args.json:
        print(json.dumps({"rounds": rounds, "rows": ROWS}))
        return
    before = {row["name"]: row["median"] for row in json.loads(args.against.read_text())["rows"]} if args.against else {}
    print(f"{'':58} {'median':>12} {'lowest':>12} {'highest':>12} {'target':>12}{'  over before' if before else ''}")
    for row in ROWS:
        digits = 0 if row["unit"].endswith("/s") else 3
        numbers = [f"{row[key]:,.{digits}f}" for key in ("median", "lowest", "highest")]
        target = f"{row['target']:,.{digits}f}" if row["target"] is not None else ""
        over = f"{row['median'] / before[row['name']]:13.2f}" if row["name"] in before else " " * 13 if before else ""
        print(f"{row['name']:58} {' '.join(f'{number:>12}' for number in [*numbers, target])}{over} {row['unit']}")


if __name__ == "__main__":
    main()
