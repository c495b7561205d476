"""Searches for a linear controller with CMA-ES, from the package `cma`, over `Client.evaluate`.

    pip install cma
    python cma_search.py [--address host:port] [--generations 40] [--log curve.csv]

A generation is one call: its weight vectors are the rows of a matrix, and all of them play the same games, so that luck does
not decide between them. Each generation plays other games. The search minimises minus the logarithm of the mean lines,
because games are a hundred times longer at the end than at the beginning. It uses a small playfield, 10 x 10, where games
are short, and weights that are good there are good on larger ones too.
"""

import argparse
import time

import cma
import numpy as np

import tetrion

RULES = {"width": 10, "height": 10}
FEATURES = "bcts8"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--population", type=int, default=32)
    parser.add_argument("--games", type=int, default=20, help="games of each weight vector")
    parser.add_argument("--max-pieces", type=int, default=100_000, help="cuts a game")
    parser.add_argument("--final-games", type=int, default=2000, help="games of the last measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    names = next(item.columns for item in client.catalog().feature_sets if item.name == FEATURES)
    play = {"features": FEATURES, "rules": RULES, "max_pieces": args.max_pieces}

    # Only the direction of a weight vector matters, so the search starts in the middle of all directions.
    options = {"popsize": args.population, "seed": args.seed, "verbose": -9}
    search = cma.CMAEvolutionStrategy(np.zeros(len(names)), 1.0, options)
    began, curve = time.perf_counter(), []
    for generation in range(1, args.generations + 1):
        population = np.array(search.ask())
        seeds = tetrion.DrawnSeeds(seed=args.seed + generation, count=args.games)
        lines = client.evaluate(weights=population, seeds=seeds, include_results=False, **play).mean_lines
        search.tell(list(population), list(-np.log1p(lines)))
        curve.append((generation, time.perf_counter() - began, np.median(lines), lines.min(), lines.max()))
        print(
            f"{generation:3d}  {curve[-1][1]:5.0f} s  median {curve[-1][2]:7,.0f}  best {lines.max():7,.0f} lines",
            flush=True,
        )

    # The mean of the distribution, not the luckiest sample, on seeds that nothing was chosen by.
    mean = search.result.xfavorite
    seeds = tetrion.DrawnSeeds(seed=args.seed, count=args.final_games)
    result = client.evaluate(weights=mean, seeds=seeds, **play)
    for name, weight in zip(names, mean / np.abs(mean).max(), strict=True):
        print(f"{weight:+.3f}  {name}")
    lines = result.summary.policies[0].lines
    print(
        f"{lines.mean:,.0f} lines per game over {args.final_games} fresh games, "
        f"95 % within {lines.ci95_low:,.0f} .. {lines.ci95_high:,.0f}"
    )
    if args.log:
        np.savetxt(args.log, curve, "%.10g", ",", header="generation,seconds,lines,low,high", comments="")


if __name__ == "__main__":
    main()
