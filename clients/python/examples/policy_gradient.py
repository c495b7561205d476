"""Learns weights of afterstates by the policy gradient, on the standard 10 x 20, in seconds. It needs only NumPy.

    python policy_gradient.py [--address host:port] [--seed 1] [--updates 120] [--log curve.csv]

64 games take 32 steps per update. The policy is a softmax over the weighted sums of the features of each placement. After
every tenth update the best placement by these weights is estimated: its games would take hours. All lines count, and a lost
game costs ten.
"""

import argparse
import time

import gymnasium
import numpy as np

import tetrion

GAMES, STEPS = 64, 32


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--updates", type=int, default=120)
    parser.add_argument("--trials", type=int, default=200, help="trials per height of an estimate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    envs = gymnasium.make_vec("tetrion/Afterstate-v0", num_envs=GAMES, address=client, autoreset_mode="SameStep")
    weights = np.zeros(8)  # of the features of bcts8
    rng = np.random.default_rng(args.seed)
    state = envs.reset(seed=args.seed)
    seconds, points = 0.0, []
    for update in range(1, args.updates + 1):
        began = time.process_time()
        state, step = rollout(envs, state, weights, rng)
        weights += step
        seconds += time.process_time() - began
        if update % 10 == 0 or update == 1:
            options = {"features": "bcts8", "seeds": tetrion.DrawnSeeds(1, 20)}
            (estimate,) = client.estimate(weights=weights, trials=args.trials, **options).summary.estimates
            points.append((update, seconds, estimate.lines.mean))
            print(f"update {update:3}: {seconds:4.1f} s of processor time, {estimate.lines.mean:10,.0f} lines per game")
    envs.close()
    if args.log:
        np.savetxt(args.log, points, "%.10g", ",", header="update,seconds,lines", comments="")


def rollout(envs, state, weights, rng):
    """Plays some steps of every game; returns the state after them and the step of the weights."""
    observations, infos = state
    surprises, outcomes = [], []
    for _ in range(STEPS):
        features = observations["features"] / 10
        scores = np.where(infos["action_mask"], features @ weights, -np.inf)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        rows = (chances.cumsum(axis=1) > rng.random((GAMES, 1))).argmax(axis=1)
        surprises.append(features[np.arange(GAMES), rows] - np.einsum("gr,grf->gf", chances, features))
        observations, rewards, terminated, _, infos = envs.step(rows)
        outcomes.append((rewards - 10 * terminated, ~terminated))
    returns = [np.zeros(GAMES)]
    for reward, goes_on in reversed(outcomes):
        returns.append(reward + 0.9 * goes_on * returns[-1])
    advantages = np.stack(returns[:0:-1])
    advantages = (advantages - advantages.mean()) / advantages.std()
    return (observations, infos), 50 * np.einsum("sg,sgf->f", advantages, np.stack(surprises)) / advantages.size


if __name__ == "__main__":
    main()
