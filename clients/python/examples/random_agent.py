"""A random agent on 64 games at once, from top to bottom.

    python random_agent.py [host:port]

It draws among the placements that the action mask allows. Without an address it plays in its own process.
"""

import sys
import time

import gymnasium as gym
import numpy as np

import tetrion  # registers the environments

NUM_ENVS = 64
NUM_STEPS = 500
SEED = 1

address = sys.argv[1] if len(sys.argv) > 1 else None
envs = gym.make_vec("tetrion/Placement-v0", num_envs=NUM_ENVS, address=address)
rng = np.random.default_rng(SEED)
observations, infos = envs.reset(seed=SEED)
print(f"tetrion {tetrion.__version__}, board {observations['board'].shape}, {envs.single_action_space}")

lengths, lines = [], []
started = time.perf_counter()
for _ in range(NUM_STEPS):
    # The largest random number where the mask is 1: each allowed placement is as likely as any other.
    mask = infos["action_mask"]
    actions = (rng.random(mask.shape) * mask).argmax(axis=1)
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    ended = terminated | truncated
    lengths.extend(infos["steps"][ended])
    lines.extend(infos["lines"][ended])
elapsed = time.perf_counter() - started
envs.close()

print(f"{len(lengths)} episodes of {np.mean(lengths):.1f} pieces and {np.mean(lines):.3f} lines on average")
print(f"{NUM_ENVS * NUM_STEPS / elapsed:,.0f} steps a second")
