"""MaskablePPO of Stable-Baselines3 with a policy that scores afterstates, on the standard 10 x 20.

    pip install "./clients/python[sb3]"  # in the checkout
    python row_policy.py [--address host:port] [--steps 122880] [--policy MlpPolicy] [--seed 1] [--log curve.csv]

A line is a point, and a lost game costs ten. `RowPolicy` scores each placement with one network; `MlpPolicy` sees the same
numbers as one long row. In the end the server plays by the network of `RowPolicy`, without its dice. Games would take hours,
so the last line estimates their length.
"""

import argparse
import time

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import tetrion
from tetrion.sb3 import RowPolicy, TetrisVecEnv

GAMES, STEPS = 64, 32


class Curve(BaseCallback):
    """Prints the mean lines of the games that ended, every ten rollouts."""

    def __init__(self):
        super().__init__()
        self.began = time.process_time()
        self.lines, self.points = [], []

    def _on_step(self):
        self.lines += [info["lines"] for info in self.locals["infos"] if "episode" in info]
        return True

    def _on_rollout_end(self):
        if self.lines and self.num_timesteps // (GAMES * STEPS) % 10 == 0:
            seconds, lines = time.process_time() - self.began, np.mean(self.lines)
            self.points.append((self.num_timesteps, seconds, lines))
            measured = f"{lines:6.1f} lines per game in {len(self.lines)} games"
            print(f"{self.num_timesteps:8,d} steps  {seconds:4.0f} s of processor time  {measured}", flush=True)
            self.lines = []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--steps", type=int, default=122_880)
    parser.add_argument("--policy", choices=["RowPolicy", "MlpPolicy"], default="RowPolicy")
    parser.add_argument("--trials", type=int, default=16, help="trials per height of an estimate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    is_rows = args.policy == "RowPolicy"
    envs = TetrisVecEnv(
        GAMES, address=client, env_id="tetrion/Afterstate-v0", layout="dict" if is_rows else "rows",
        rules={"scoring": {"game_end": -10}}, observations=["features"],
    )  # fmt: skip
    model = MaskablePPO(
        RowPolicy if is_rows else "MlpPolicy", envs, n_steps=STEPS, batch_size=512, n_epochs=4, gamma=0.95,
        learning_rate=3e-3, policy_kwargs={"activation_fn": torch.nn.ReLU}, seed=args.seed, device="cpu",
    )  # fmt: skip
    curve = Curve()
    model.learn(args.steps, callback=curve)
    envs.close()
    if is_rows:
        network, weights = tetrion.Mlp.from_torch(model.policy.row_network())
        options = {"features": "bcts8", "model": network, "seeds": tetrion.DrawnSeeds(1, 10)}
        (estimate,) = client.estimate(weights=weights, trials=args.trials, **options).summary.estimates
        print(f"the best placement by the network: {estimate.lines.mean:,.0f} lines per game (estimate)")
    else:
        print(f"the games that ended last: {curve.points[-1][2]:.1f} lines per game")
    if args.log:
        np.savetxt(args.log, curve.points, "%.10g", ",", header="steps,seconds,lines", comments="")


if __name__ == "__main__":
    main()
