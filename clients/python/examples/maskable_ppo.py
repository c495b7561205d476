"""MaskablePPO of Stable-Baselines3 on many games at once.

    pip install "./clients/python[sb3]"  # in the checkout
    python maskable_ppo.py [--address host:port] [--steps 300000] [--width 6] [--height 12] [--log curve.csv]

On a narrow playfield, 6 x 12, with a point a line, a tenth of a point a piece, and minus one for losing. It sees the
playfield, the heights and the current piece, as one row of numbers: random play clears next to nothing on 10 x 20, so such
an agent would need hours there. One that scores afterstates needs seconds: policy_gradient.py.
"""

import argparse
import time

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import tetrion
from tetrion.sb3 import TetrisVecEnv

RULES = {"scoring": {"piece": 0.1, "lines": [1, 2, 3, 4], "game_end": -1}}


class Curve(BaseCallback):
    """Collects the lines of every game that ends, and prints their mean after each rollout."""

    def __init__(self):
        super().__init__()
        self.began = time.perf_counter()
        self.lines, self.points = [], []

    def _on_step(self):
        self.lines += [info["lines"] for info in self.locals["infos"] if "episode" in info]
        return True

    def _on_rollout_end(self):
        if self.lines:
            seconds, lines = time.perf_counter() - self.began, np.mean(self.lines)
            self.points.append((self.num_timesteps, seconds, lines))
            print(f"{self.num_timesteps:8,d} steps  {seconds:5.0f} s  {lines:7.2f} lines per game", flush=True)
            self.lines = []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--height", type=int, default=12)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--games", type=int, default=200, help="games of the last measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    client = tetrion.Client(args.address)
    rules = {**RULES, "width": args.width, "height": args.height}
    seen = {"rules": rules, "observations": ["board", "heights", "current"]}
    envs = TetrisVecEnv(args.envs, address=client, **seen)
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=128, batch_size=1024, n_epochs=4, gamma=0.97, ent_coef=0.005, learning_rate=1e-3,
        policy_kwargs={"net_arch": [128, 128]}, seed=args.seed, device="cpu",
    )  # fmt: skip
    curve = Curve()
    model.learn(args.steps, callback=curve)
    envs.close()

    # The trained policy without its dice, against random play, in fresh games.
    for name, trained in (("random", None), ("trained", model)):
        fresh = TetrisVecEnv(args.games, address=client, max_episode_steps=5000, **seen)
        lines, pieces = play(fresh, trained, args.seed + 1000)
        half = 1.96 * lines.std(ddof=1) / np.sqrt(len(lines))
        measured = f"{lines.mean():.2f} lines per game over {len(lines)} games, 95 % within +- {half:.2f}"
        print(f"{name}: {measured}; {pieces:.2f} pieces")
    if args.log:
        np.savetxt(args.log, curve.points, "%.10g", ",", header="steps,seconds,lines", comments="")


def play(envs, model, seed):
    """The lines of one game in each environment, and the mean number of its pieces."""
    rng = np.random.default_rng(seed)
    envs.seed(seed)
    observations = envs.reset()
    lines, pieces = np.full(envs.num_envs, -1), np.zeros(envs.num_envs)
    while (lines < 0).any():
        masks = envs.action_masks()
        if model is None:
            actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        else:
            actions, _ = model.predict(observations, action_masks=masks, deterministic=True)
        observations, _, _, infos = envs.step(actions)
        for env, info in enumerate(infos):
            if "episode" in info and lines[env] < 0:
                lines[env], pieces[env] = info["lines"], info["pieces"]
    envs.close()
    return lines, pieces.mean()


if __name__ == "__main__":
    main()
