"""How fast the server is from Python: `python bench.py [--json] [--quick] [--address HOST:PORT]`.

All answers become numpy arrays. The works take turns, and the figures are medians over the rounds. Without an address it
starts the server that the client finds: build it with `cargo build --release`.

The last figure compares a Step of one environment with an echo: a server on the same stack that reads every request and
always returns the same message (`cargo build --release --example echo`). Both are called through the generated stubs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import grpc
import gymnasium
import numpy as np

import tetrion
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._pb.environment_service_pb2_grpc import EnvironmentServiceStub
from tetrion._transport.server import find_binary

# Columns that take every piece in its first orientation on the default playfield.
COLUMNS = 7
NUM_POSITIONS = 4096


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


def add_steps(bench: Bench, client: tetrion.Client) -> None:
    """Steps of a session, by calls, by a stream, and through Gymnasium."""
    for num_envs in (1, 256, 4096):
        for everything in (False, True) if num_envs == 4096 else (False,):
            fields = ("board", "current") if everything else ("board_bits", "current")
            session = client.create_session(
                num_envs, seed=1, autoreset_mode="same_step", observations=fields, action_mask=everything
            )
            session.reset()
            chosen = actions(num_envs)

            def step(session: tetrion.Session = session, chosen: Iterator[np.ndarray] = chosen) -> int:
                return len(session.step(next(chosen)).rewards)

            bench.add(f"Step of {num_envs}" + (" with board and mask" if everything else ""), "steps", step)
        session = client.create_session(
            num_envs, seed=1, autoreset_mode="same_step", observations=("board_bits", "current"), action_mask=False
        )
        stream = session.stream()
        stream.reset()
        chosen = actions(num_envs)

        def streamed(stream: tetrion.StepStream = stream, chosen: Iterator[np.ndarray] = chosen) -> int:
            return len(stream.step(next(chosen)).rewards)

        bench.add(f"StepStream of {num_envs}", "steps", streamed)
    envs = gymnasium.make_vec(
        "tetrion/Placement-v0", num_envs=256, address=client.address, observations=["board_bits", "current"]
    )
    envs.reset(seed=1)
    chosen = actions(256)
    bench.add("gymnasium.make_vec of 256", "steps", lambda: len(envs.step(next(chosen))[1]))


def add_placements(bench: Bench, client: tetrion.Client) -> None:
    """Every placement of many games with its features as one matrix."""
    session = client.create_session(NUM_POSITIONS, seed=1, features="bcts8", action_mask=False)
    session.reset()
    for chosen in islice(actions(NUM_POSITIONS), 8):
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


def measure_echo(bench: Bench, address: str, program: Path) -> None:
    """Adds a Step of one environment and an echo of the same messages, both at the level of the stubs, and measures."""
    with grpc.insecure_channel(address) as channel:
        stub = EnvironmentServiceStub(channel)
        config = pb.SessionConfig(
            num_envs=1,
            seeding=pb.Seeding(seed=1),
            autoreset_mode=pb.AUTORESET_MODE_SAME_STEP,
            observation_fields=["board_bits", "current"],
        )
        session = stub.CreateSession(pb.CreateSessionRequest(config=config)).session.name
        stub.Reset(pb.ResetRequest(session=session))
        request = pb.StepRequest(session=session, actions=from_numpy(np.array([3], np.int32)))
        answer = stub.Step(request)

        def step() -> int:
            stub.Step(request)
            return 1

        with echo(program, answer.SerializeToString()) as echo_address, grpc.insecure_channel(echo_address) as other:
            call = other.unary_unary(
                "/tetrion.bench.Echo/Call",
                request_serializer=pb.StepRequest.SerializeToString,
                response_deserializer=pb.StepResponse.FromString,
            )

            def echoed() -> int:
                call(request)
                return 1

            bench.add("Step of 1, bare stubs", "steps", step)
            bench.add("an echo of the same messages, bare stubs", "calls", echoed)
            report(bench)


ROWS: list[dict[str, object]] = []


def report(bench: Bench) -> None:
    """Measures, and adds a row for each work."""
    samples = bench.rates()
    for name, unit, _ in bench.works:
        rates = samples[name]
        ROWS.append(
            {
                "name": name,
                "unit": f"{unit}/s",
                "median": statistics.median(rates),
                "lowest": min(rates),
                "highest": max(rates),
            }
        )
    step, echoed = samples.get("Step of 1, bare stubs"), samples.get("an echo of the same messages, bare stubs")
    if step and echoed:
        ratios = [floor / rate for rate, floor in zip(step, echoed, strict=True)]
        ratio = {"median": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)}
        ROWS.append({"name": "time of a Step of 1 over the echo", "unit": "ratio", **ratio})


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="rough figures, not to be quoted")
    parser.add_argument("--address", help="a server that is already running")
    parser.add_argument("--echo", type=Path, help="the echo server [default: beside the server program, in examples]")
    args = parser.parse_args()
    rounds, seconds = (3, 0.03) if args.quick else (7, 0.4)

    client = tetrion.Client(args.address)
    bench = Bench(rounds, seconds)
    add_steps(bench, client)
    add_placements(bench, client)
    program = args.echo or find_binary().parent / "examples" / "echo"
    if program.exists():
        measure_echo(bench, client.address, program)
    else:
        print(f"no echo server at {program}: cargo build --release --example echo", file=sys.stderr)
        report(bench)

    if args.json:
        print(json.dumps({"kernel": client.server_info().kernel, "rounds": rounds, "rows": ROWS}))
        return
    print(f"{'':44} {'median':>12} {'lowest':>12} {'highest':>12}")
    for row in ROWS:
        digits = 3 if row["unit"] == "ratio" else 0
        numbers = " ".join(f"{row[key]:>12,.{digits}f}" for key in ("median", "lowest", "highest"))
        print(f"{row['name']:44} {numbers} {row['unit']}")


if __name__ == "__main__":
    main()
