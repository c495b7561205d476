"""Searches for a linear controller with a genetic algorithm of DEAP, over `Client.evaluate`.

    pip install deap
    python deap_search.py [--address host:port] [--generations 12] [--out weights.txt]

The experiment of a write-up: four weights, a point for each piece and ten for each line, and DEAP's own loop with blended
parents, normal mutations and tournaments. DEAP scores a generation with one call of its `map`, which is one call of the
server: all new individuals play the same games, and each generation plays other games. In the end the best ten play again,
and the best of these is measured on fresh games. `tetrion watch --weights weights.txt --features lab4 --rules genetic` shows
it.
"""

import argparse
import itertools
import random

import numpy as np
from deap import algorithms, base, creator, tools

import tetrion

creator.create("Points", base.Fitness, weights=(1.0,))
creator.create("Individual", list, fitness=creator.Points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--generations", type=int, default=12)
    parser.add_argument("--population", type=int, default=50)
    parser.add_argument("--games", type=int, default=10, help="games of each individual")
    parser.add_argument("--max-pieces", type=int, default=10_000, help="cuts a game")
    parser.add_argument("--final-games", type=int, default=1000, help="games of the last measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="file for the weights as plain numbers")
    args = parser.parse_args()

    client, seeds = tetrion.Client(args.address), itertools.count(args.seed)
    random.seed(args.seed)  # DEAP draws from it

    def play(individuals, games):
        drawn = tetrion.DrawnSeeds(seed=next(seeds), count=games)
        game = {"features": "lab4", "terminal_value": "score", "rules": "genetic", "max_pieces": args.max_pieces}
        return client.evaluate(weights=np.array(individuals), seeds=drawn, include_results=False, **game).summary.policies

    toolbox = base.Toolbox()
    toolbox.register("individual", tools.initRepeat, creator.Individual, lambda: random.uniform(-1, 1), 4)
    toolbox.register("mate", tools.cxBlend, alpha=0.5)
    toolbox.register("mutate", tools.mutGaussian, mu=0.0, sigma=0.2, indpb=0.5)
    toolbox.register("select", tools.selTournament, tournsize=3)
    toolbox.register("evaluate", play)
    toolbox.register("map", lambda play, individuals: [(of.score.mean,) for of in play(individuals, args.games)])

    statistics = tools.Statistics(lambda individual: individual.fitness.values[0])
    for name, function in (("average", np.mean), ("deviation", np.std), ("best", np.max)):
        statistics.register(name, lambda points, function=function: round(float(function(points)), 1))
    best = tools.HallOfFame(10)
    population = tools.initRepeat(list, toolbox.individual, args.population)
    algorithms.eaSimple(population, toolbox, 0.5, 0.3, args.generations, statistics, best)

    # The best of ten on other games, for the best of a hundred games may have been lucky.
    chosen = best[int(np.argmax([of.score.mean for of in play(best, 10 * args.games)]))]
    (measured,) = play([chosen], args.final_games)
    print("height, lines, holes, bumpiness:", ", ".join(f"{weight:+.3f}" for weight in chosen))
    print(
        f"{measured.lines.mean:,.0f} lines per game over {args.final_games} fresh games, "
        f"95 % within {measured.lines.ci95_low:,.0f} .. {measured.lines.ci95_high:,.0f}"
    )
    if args.out:
        np.savetxt(args.out, [chosen])


if __name__ == "__main__":
    main()
