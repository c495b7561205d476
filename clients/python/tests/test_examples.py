"""The examples and the benchmark run as they are."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import tetrion

CLIENT = Path(__file__).parent.parent
EXAMPLES = CLIENT / "examples"


def run(example, address):
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, address], stdout=subprocess.PIPE, text=True, check=True, timeout=120
    )
    return done.stdout


def test_random_agent(server):
    output = run("random_agent.py", server.address)
    # 64 games of 500 steps are some 1,300 episodes; random players place about 23 pieces on 10 x 20.
    assert "episodes of 2" in output, output


def test_bench(server):
    command = [sys.executable, CLIENT / "benches/bench.py", "--quick", "--json", "--address", server.address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    report = json.loads(done.stdout)
    names = {row["name"] for row in report["rows"]}
    assert {"Step of 4096", "StepStream of 1", "EnumeratePlacements of 4096, 8 features"} <= names, names
    for row in report["rows"]:
        assert 0 < row["lowest"] <= row["median"] <= row["highest"], row


def test_afterstate_values(server, tmp_path):
    log = tmp_path / "curve.csv"
    args = ["--address", server.address, "--iterations", "3", "--states", "200", "--games", "100", "--log", log]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "afterstate_values.py", *args],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=200,
    )
    # Random play clears no line on 10 x 10; three small iterations are enough for dozens.
    lines = float(re.search(r"([\d,]+) lines per game over 100 fresh games", done.stdout)[1].replace(",", ""))
    assert lines > 20, done.stdout
    # The curve that it printed is the one in the picture: three points in one line, from left to right and up in the end.
    subprocess.run([sys.executable, EXAMPLES / "draw_curves.py", log], check=True, stdout=subprocess.PIPE)
    (curve,) = curves(log.with_suffix(".svg").read_text())
    assert len(curve) == 3
    assert curve == sorted(curve)
    assert curve[-1][1] < curve[0][1]  # SVG counts from the top.


def test_policy_gradient(server, tmp_path):
    log = tmp_path / "curve.csv"
    args = ["--address", server.address, "--updates", "10", "--trials", "20", "--log", log]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "policy_gradient.py", *args], stdout=subprocess.PIPE, text=True, check=True, timeout=200
    )
    # Random play clears no line on 10 x 20.
    first, tenth = (float(lines.replace(",", "")) for lines in re.findall(r"([\d,]+) lines per game", done.stdout))
    assert tenth > 100 > first, done.stdout
    assert log.read_text().splitlines()[0] == "update,seconds,lines"


def test_self_play(server, tmp_path):
    log = tmp_path / "curve.csv"
    args = ["--address", server.address, "--updates", "20", "--pairs", "20", "--rivals", "lab-uniform", "--log", log]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "self_play.py", *args], stdout=subprocess.PIPE, text=True, check=True, timeout=200
    )
    first, _, last = (float(points) for points in re.findall(r"([\d.]+) against lab-uniform", done.stdout))
    assert first < 0.1 < 0.5 < last, done.stdout
    assert log.read_text().splitlines()[0] == "update,seconds,points,start,earlier"
    subprocess.run([sys.executable, EXAMPLES / "draw_curves.py", log], check=True, stdout=subprocess.PIPE)
    assert "points per match" in log.with_suffix(".svg").read_text()


def test_a_tree_search_beats_its_own_value_function(server):
    args = ["--games", "16", "--simulations", "24", "--width", "5", "--max-pieces", "80"]
    command = [sys.executable, EXAMPLES / "mcts.py", "--address", server.address, *args]
    lines = {}
    for more in ([], ["--peek"]):
        done = subprocess.run([*command, *more], stdout=subprocess.PIPE, text=True, check=True, timeout=200)
        lines |= dict(re.findall(r"^([\w ]+): ([\d.]+) \+- ", done.stdout, re.M))
    greedy, search, peeks = (float(lines[name]) for name in ("greedy", "search", "search that peeks"))
    assert 1.3 * greedy < min(search, peeks), lines


@pytest.mark.parametrize(
    ("controller", "rules", "max_pieces", "fields"),
    [
        ("dt-10", {"width": 6, "height": 8}, 250, {}),
        ("dt-10", {"width": 6, "height": 7, "randomizer": "bag7"}, 200, {}),
        ("dt-10", {"width": 10, "height": 5, "preview": 1}, 400, {}),
        # What the defaults would hide: few placements and a discount; pieces that are cheap to lose; a controller that does
        # not avoid the end of the game.
        ("dt-10", {"width": 10, "height": 5, "preview": 1, "randomizer": "bag7"}, 150, {"placements": 3, "discount": 0.7}),
        ("dt-10", {"width": 6, "height": 8, "randomizer": "balanced", "top_out": "top_row"}, 150, {"lost_piece": -5.0}),
        ("dt-10", {"width": 6, "height": 8, "randomizer": "nes"}, 150, {}),
        ("dt-10", {"width": 6, "height": 8, "top_out": "spawn_blocked"}, 150, {"placements": 5}),
        ("lab8", {"width": 6, "height": 8}, 100, {"placements": 4}),
        ("dt-10", {"width": 6, "height": 8}, 150, {"caution": 0.6}),
        ("dt-10", {"width": 6, "height": 8, "randomizer": "nes"}, 150, {"caution": 1.25, "lost_piece": -5.0}),
    ],
)
def test_the_expectation_makes_the_servers_choices(client, monkeypatch, controller, rules, max_pieces, fields):
    monkeypatch.syspath_prepend(EXAMPLES)
    import expectation

    policy = tetrion.Policy(controller, search=tetrion.Search(**fields))
    server = client.evaluate(policy, rules=rules, seeds=tetrion.DrawnSeeds(1, 64), max_pieces=max_pieces)
    ours = expectation.Agent(client, controller, rules, **fields)
    lines, pieces = expectation.play(ours, server.seeds.tolist(), max_pieces)
    # Most of them whole games, which end where their choices lead them: after another choice they would end elsewhere.
    assert pieces.tolist() == server.pieces.tolist()
    assert lines.tolist() == server.lines.tolist()
    assert pieces.sum() > 2000
    assert 0 < server.truncated.sum() < 64


def test_expectation_beside_greedy(server):
    command = [sys.executable, EXAMPLES / "expectation.py", "--address", server.address]
    args = ["--height", "4", "--games", "16", "--max-pieces", "100", "--placements", "4", "--preview", "1"]
    done = subprocess.run([*command, *args], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    greedy, weighing = re.findall(r"^dt-10 \w+ +([\d.]+) lines per game", done.stdout, re.M)
    assert float(weighing) > float(greedy) > 0, done.stdout


def test_pictures_show_their_logs(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import draw_curves

    kept = {path.stem: path.read_text() for path in (EXAMPLES / "curves").glob("*.svg")}
    assert {picture.name: draw_curves.of_the_readme(picture) for picture in draw_curves.PICTURES} == kept
    assert all(len(picture) < 60_000 for picture in kept.values())


def curves(svg):
    """The points of every line in a picture, thin ones first."""
    lines = [line.get("points") for line in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}polyline")]
    return [[tuple(map(float, point.split(","))) for point in line.split()] for line in lines]


def test_a_picture_of_several_runs(tmp_path):
    # Heights 0 to 10 and counts 0 to 2 on their axes; the median of three runs is the middle one, where all have a point.
    for name, lines in (("low", [0, 0, 1]), ("middle", [0, 5, 8]), ("high", [0, 10, 10])):
        rows = "".join(f"{step},{height}\n" for step, height in enumerate(lines))
        (tmp_path / f"{name}.csv").write_text(f"# a comment\nsteps,lines\n{rows}")
    logs = [tmp_path / f"{name}.csv" for name in ("low", "middle", "high")]
    out = tmp_path / "all.svg"
    subprocess.run([sys.executable, EXAMPLES / "draw_curves.py", *logs, "--out", out], check=True, stdout=subprocess.PIPE)
    *runs, median = curves(out.read_text())
    assert len(runs) == 3
    assert median == runs[1]
    (left, floor), (_, half), (right, _) = median
    (_, _), (_, ceiling), _ = runs[2]
    assert (left, right) == (58, 640 - 84)
    assert half == (floor + ceiling) / 2


def test_runs_are_recorded(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import draw_curves

    monkeypatch.setattr(draw_curves, "CURVES", tmp_path)
    search = "tetrion train --generations 2 --population 10 --games 2 --check-games 2 --final-games 2 --max-pieces 100"
    for name, command in (
        ("search", search),
        ("learner", "python afterstate_values.py --iterations 2 --states 50 --games 20"),
    ):
        series = draw_curves.Series(name, command, (7,))
        draw_curves.record(series)
        (log,) = series.logs()
        assert log == tmp_path / f"{name}-7.csv"
        first, second, *_ = log.read_text().splitlines()
        assert first == f"# {command} --seed 7"
        assert re.match(r"# .*\d lines (a|per) game", second)
        assert [count for count, _ in draw_curves.read(log)[1]] == [1, 2]
