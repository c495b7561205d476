"""Draws learning curves, from the logs that the examples write with `--log`, as small pictures in SVG.

    python draw_curves.py one.csv [two.csv ...]    # one.svg: a thin line a log, and their median if there are several
    python draw_curves.py                          # the pictures of docs/libraries.md, from the logs in curves/
    python draw_curves.py --record                 # the same, after repeating all their runs: half an hour on two cores

A log is CSV: a count in the first column (steps, iterations, generations) and the lines per game in the column `lines`, or
the points per match in `points`. The logs in `curves/` begin with the command that made them and its last line. A picture
shows all seeds, none left out, and as a thick line their median at each count.

A picture has its own background and follows the reader's theme. Only Python is needed.
"""

import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent
CURVES = FOLDER / "curves"


@dataclass(frozen=True)
class Series:
    """Runs of one command that differ in their seed."""

    name: str  # The logs are curves/NAME-SEED.csv.
    command: str
    seeds: tuple[int, ...] = (1, 2, 3)

    def logs(self):
        return [CURVES / f"{self.name}-{seed}.csv" for seed in self.seeds]


@dataclass(frozen=True)
class Picture:
    """One pair of axes."""

    name: str
    title: str
    horizontal: str
    vertical: str
    series: tuple[Series, ...]
    levels: tuple[tuple[str, float], ...] = ()
    top: float = 0.0
    is_log: bool = False


# Controllers of the literature on the same games: `tetrion evaluate --width 10 --height 10 --games 4000 --seed 1`.
PUBLISHED = (("bcts", 3890.0), ("dt-10", 5029.0))
UNITS = {"lines": "lines per game", "points": "points per match"}
FIVE = (1, 2, 3, 4, 5)
TEN = {"vertical": "lines per game, 10 x 10", "levels": PUBLISHED, "top": 6000.0}
SIX = {"horizontal": "steps", "vertical": "lines per game, 6 x 12"}
PICTURES = (
    Picture(
        "afterstate_values", "Rollouts on afterstates, learned from nothing", "iteration",
        series=(Series("afterstate_values", "python afterstate_values.py", FIVE),), **TEN,
    ),
    Picture(
        "cma_search", "CMA-ES over evaluate: the median of the population", "generation",
        series=(Series("cma_search", "python cma_search.py", FIVE),), **TEN,
    ),
    Picture(
        "train", "The cross-entropy search of tetrion train: its result so far", "generation",
        series=(Series("train", "tetrion train", FIVE),), **TEN,
    ),
    Picture(
        "policy_gradient", "The policy gradient on afterstates, default rules", "update, each of 2,048 steps",
        "lines per game of the best placement, 10 x 20 (estimates)", is_log=True,
        series=(Series("policy_gradient", "python policy_gradient.py", (1, 2)),),
    ),
    Picture(
        "row_policy", "MaskablePPO on afterstates, for games that have ended", "steps", "lines per game, 10 x 20",
        series=(
            Series("row_policy", "python row_policy.py"),
            Series("row_policy-mlp", "python row_policy.py --policy MlpPolicy"),
        ),
    ),
    Picture(
        "self_play", "Self-play: matches against frozen copies, from nothing", "update, each of 4,096 turns",
        "points per match against tetrion-guideline", series=(Series("self_play", "python self_play.py"),), top=1.0,
    ),
    Picture(
        "ppo", "PPO with action masks, on the playfield and its heights",
        series=(
            Series("ppo", "python ppo.py --steps 1200000"),
            Series("maskable_ppo", "python maskable_ppo.py --steps 1200000"),
        ), **SIX,
    ),
)  # fmt: skip


def read(path):
    """The points of a log: what the first column counts, a list of (count, height), and what the heights are."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    count, height = next(iter(rows[0])), next(name for name in UNITS if name in rows[0])
    return count, [(float(row[count]), float(row[height])) for row in rows], UNITS[height]


def median(runs):
    """The median over runs, at the counts where all have a point."""
    lines = [dict(run) for run in runs]
    return [(count, statistics.median(run[count] for run in lines)) for count in sorted(set.intersection(*map(set, lines)))]


# Sizes in pixels, and the margins around the plot.
WIDTH, HEIGHT = 640, 330
LEFT, RIGHT, TOP, BOTTOM = 58, 84, 88, 46
STYLE = """
text { font: 12px system-ui, sans-serif } .title { fill: #1f2328; font-size: 15px; font-weight: 600 }
.quiet { fill: #59636e } .end { text-anchor: end } .middle { text-anchor: middle }
.card { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0; opacity: 0.6 }
.level { stroke: #59636e; stroke-dasharray: 6 4 }
polyline, .key { fill: none; stroke-width: 2.5; stroke-linejoin: round } .run { stroke-width: 1; opacity: 0.5 }
.c0 { stroke: #0969da } .c1 { stroke: #bc4c00 }
@media (prefers-color-scheme: dark) {
.title { fill: #f0f6fc } .quiet { fill: #9198a1 } .level { stroke: #9198a1 }
.card { fill: #0d1117; stroke: #3d444d } .grid { stroke: #3d444d }
.c0 { stroke: #4493f8 } .c1 { stroke: #db6d28 }
}
"""


def ticks(largest):
    """Round numbers from 0 to the largest or just above it, four to eight of them."""
    step = next(m * 10.0**e for e in range(-3, 12) for m in (1, 2, 5) if largest <= 7 * m * 10.0**e)
    return [step * index for index in range(math.ceil(largest / step) + 1)]


def decades(smallest, largest):
    """Powers of ten, from the one below the smallest number to the one above the largest."""
    return [10.0**e for e in range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1)]


def short(number):
    """A tick's label."""
    return f"{number / 1e6:g} M" if number >= 1e6 else f"{number:,g}"


def draw(picture, groups, note=""):
    """A picture as text: `groups` has a label and a list of runs for each colour, `note` goes into the corner."""
    points = [point for _, runs in groups for run in runs for point in run]
    columns, heights = ticks(max(x for x, _ in points)), [y for _, y in points]
    rows = decades(min(heights), max(heights)) if picture.is_log else ticks(max(picture.top, *heights))
    last = max(x for x, _ in points)

    def across(x):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * x / last, 1)

    def up(y):
        share = math.log(y / rows[0], rows[-1] / rows[0]) if picture.is_log else y / rows[-1]
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share, 1)

    out = []

    def text(x, y, words, classes="quiet"):
        out.append(f'<text x="{x:g}" y="{y:g}" class="{classes}">{escape(words)}</text>')

    def line(x1, y1, x2, y2, classes):
        out.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{classes}"/>')

    def curve(run, classes):
        path = " ".join(f"{across(x):g},{up(y):g}" for x, y in run)
        out.append(f'<polyline points="{path}" class="{classes}"/>')

    text(16, 26, picture.title, "title")
    for color, (label, _) in enumerate(groups):
        line(16 + 300 * color, 44, 36 + 300 * color, 44, f"key c{color}")
        text(42 + 300 * color, 48, label)
    for y in rows:
        line(LEFT, up(y), WIDTH - RIGHT, up(y), "grid")
        text(LEFT - 6, up(y) + 4, short(y), "quiet end")
    for x in columns:
        if x <= last:
            text(across(x), HEIGHT - BOTTOM + 18, short(x), "quiet middle")
    text(LEFT, TOP - 14, picture.vertical)
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, picture.horizontal, "quiet middle")
    text(WIDTH - 16, HEIGHT - 10, note, "quiet end")
    for name, y in picture.levels:
        line(LEFT, up(y), WIDTH - RIGHT, up(y), "level")
        text(WIDTH - RIGHT + 6, up(y) + 4, f"{name} {y:,.0f}")
    for color, (_, runs) in enumerate(groups):
        if len(runs) > 1:
            for run in runs:
                curve(run, f"run c{color}")
        curve(median(runs), f"c{color}")
    body = "\n".join(out)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
        f"<title>{escape(picture.title)}</title>\n<style>{STYLE}</style>\n"
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="6" class="card"/>\n{body}\n</svg>\n'
    )


def of_the_readme(picture):
    """A picture of the table, from the logs that are kept."""
    groups = [(series.command, [read(path)[1] for path in series.logs()]) for series in picture.series]
    seeds = picture.series[0].seeds
    return draw(picture, groups, f"thin: seeds {seeds[0]} to {seeds[-1]}, thick: median")


def record(series):
    """Plays the runs of a series and keeps their logs."""
    for seed, kept in zip(series.seeds, series.logs(), strict=True):
        program, *args = [*series.command.split(), "--seed", str(seed)]
        with tempfile.TemporaryDirectory() as folder:
            if program == "tetrion":
                command = [sys.executable, "-m", "tetrion", *args, "--out", f"{folder}/run"]
            else:
                command = [sys.executable, *args, "--log", f"{folder}/log.csv"]
            # More threads than the server leaves idle make numpy and PyTorch slower.
            env = {**os.environ, "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, cwd=FOLDER, env=env, stdout=subprocess.PIPE, text=True, check=True)
            if program == "tetrion":
                write_log(Path(folder, "run"), Path(folder, "log.csv"))
            result = re.compile("lines (a|per) game|points per match")
            said = [line.strip() for line in done.stdout.splitlines() if result.search(line)][-1]
            kept.write_text(f"# {series.command} --seed {seed}\n# {said}\n{Path(folder, 'log.csv').read_text()}")
        print(f"{kept.name}: {said}", flush=True)


def write_log(run, path):
    """Writes the log of a folder of `tetrion train`: the score of the result after each generation."""
    seconds = 0.0
    with open(path, "w") as file:
        print("generation,seconds,lines,low,high", file=file)
        files = [(run / name).read_text().splitlines() for name in ("generations.jsonl", "timing.jsonl")]
        for generation, timing in zip(*(map(json.loads, lines) for lines in files), strict=True):
            seconds += timing["seconds"]
            check = generation["check"]
            row = [generation["generation"] + 1, seconds, check["mean"], check["ci95_low"], check["ci95_high"]]
            print(",".join(f"{value:.10g}" for value in row), file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="*", type=Path, help="logs that belong in one picture; none: those of all pictures")
    parser.add_argument("--record", action="store_true", help="play the runs of all pictures again")
    parser.add_argument("--out", type=Path, help="the picture of the logs given [default: the first with .svg]")
    args = parser.parse_args()
    if args.logs:
        counts, runs, units = zip(*map(read, args.logs), strict=True)
        label, note = (args.logs[0].name, "") if len(runs) == 1 else (f"{len(runs)} runs", "thick: median")
        out = args.out or args.logs[0].with_suffix(".svg")
        out.write_text(draw(Picture(out.stem, out.stem, counts[0], units[0], ()), [(label, runs)], note))
        print(out)
        return
    for picture in PICTURES:
        for series in picture.series if args.record else ():
            record(series)
        (CURVES / f"{picture.name}.svg").write_text(of_the_readme(picture))
        print(CURVES / f"{picture.name}.svg")


if __name__ == "__main__":
    main()
