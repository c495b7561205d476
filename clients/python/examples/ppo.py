"""Proximal policy optimisation with action masks, in one file, in the manner of CleanRL.

    pip install "./clients/python[torch]"  # in the checkout
    python ppo.py [--address host:port] [--steps 300000] [--log curve.csv]

The same game as `maskable_ppo.py`: 6 x 12, a point a line, a tenth of a point a piece, and minus one for losing. A
placement that the mask forbids has a logit of minus infinity, both in play and in learning, so it takes no part in
probabilities or entropy. The step that ends an episode begins the next one (`SameStep`), so no step is wasted; if a game
was cut short, the value of its last observation stands for the rest.
"""

import argparse
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import tetrion

RULES = {"width": 6, "height": 12, "scoring": {"piece": 0.1, "lines": [1, 2, 3, 4], "game_end": -1}}


def layer(inputs, outputs, gain=2**0.5):
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


class Agent(nn.Module):
    """A policy and a value, each a network of two hidden layers."""

    def __init__(self, size, actions, width=128):
        super().__init__()
        self.actor = nn.Sequential(
            layer(size, width), nn.Tanh(), layer(width, width), nn.Tanh(), layer(width, actions, gain=0.01)
        )
        self.critic = nn.Sequential(layer(size, width), nn.Tanh(), layer(width, width), nn.Tanh(), layer(width, 1, gain=1.0))

    def value(self, seen):
        return self.critic(seen).squeeze(-1)

    def policy(self, seen, masks):
        return torch.distributions.Categorical(logits=self.actor(seen).masked_fill(~masks, -1e9))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--rollout", type=int, default=128, help="steps of each game between updates")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.005)
    parser.add_argument("--max-episode-steps", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="file for the curve as CSV; draw_curves.py makes a picture of it")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    envs = gym.make_vec(
        "tetrion/Placement-v0",
        num_envs=args.envs,
        address=args.address,
        rules=RULES,
        observations=["board", "heights", "current"],
        max_episode_steps=args.max_episode_steps,
        autoreset_mode="SameStep",
        copy=False,
    )
    flat = tetrion.Flattener(envs.single_observation_space)
    agent = Agent(flat.size, int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.rollout, args.envs)
    seen = torch.zeros(*shape, flat.size)
    masks = torch.zeros(*shape, int(envs.single_action_space.n), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, values = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
    dones = torch.zeros(shape, dtype=torch.bool)

    observations, infos = envs.reset(seed=args.seed)
    now, mask = torch.from_numpy(flat(observations)), torch.from_numpy(infos["action_mask"].astype(bool))
    began, points = time.perf_counter(), []
    num_updates = max(args.steps // (args.rollout * args.envs), 1)
    for update in range(1, num_updates + 1):
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * (1 - (update - 1) / num_updates)
        lines = []
        for step in range(args.rollout):
            seen[step], masks[step] = now, mask
            with torch.no_grad():
                policy = agent.policy(now, mask)
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
                values[step] = agent.value(now)
            observations, reward, terminated, truncated, infos = envs.step(actions[step].numpy())
            rewards[step] = torch.from_numpy(reward)
            dones[step] = torch.from_numpy(terminated | truncated)
            if "final_info" in infos:
                lines.extend(infos["final_info"]["lines"][infos["_final_info"]].tolist())
            for env in np.flatnonzero(truncated):
                last = {name: field[None] for name, field in infos["final_obs"][env].items()}
                with torch.no_grad():
                    rewards[step, env] += args.gamma * agent.value(torch.from_numpy(flat(last)))[0]
            now, mask = torch.from_numpy(flat(observations)), torch.from_numpy(infos["action_mask"].astype(bool))

        # Generalised advantage estimation, backwards.
        with torch.no_grad():
            advantages, follow, ahead = torch.zeros(shape), agent.value(now), torch.zeros(args.envs)
            for step in reversed(range(args.rollout)):
                alive = (~dones[step]).float()
                surprise = rewards[step] + args.gamma * follow * alive - values[step]
                ahead = advantages[step] = surprise + args.gamma * args.gae_lambda * alive * ahead
                follow = values[step]
            returns = advantages + values

        batch = {
            "seen": seen, "masks": masks, "actions": actions, "logprobs": logprobs, "advantages": advantages,
            "returns": returns,
        }  # fmt: skip
        batch = {name: tensor.flatten(0, 1) for name, tensor in batch.items()}
        for _ in range(args.epochs):
            for rows in torch.randperm(args.rollout * args.envs).chunk(args.minibatches):
                part = {name: tensor[rows] for name, tensor in batch.items()}
                policy = agent.policy(part["seen"], part["masks"])
                ratio = (policy.log_prob(part["actions"]) - part["logprobs"]).exp()
                advantage = (part["advantages"] - part["advantages"].mean()) / (part["advantages"].std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
                value_loss = 0.5 * (agent.value(part["seen"]) - part["returns"]).pow(2).mean()
                loss = policy_loss + 0.5 * value_loss - args.entropy * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()

        if lines:
            steps, seconds = update * args.rollout * args.envs, time.perf_counter() - began
            points.append((steps, seconds, np.mean(lines)))
            print(
                f"{steps:8,d} steps  {seconds:5.0f} s  {steps / seconds:7,.0f} steps/s  {points[-1][2]:7.2f} lines per game",
                flush=True,
            )
    envs.close()
    if args.log:
        np.savetxt(args.log, points, "%.10g", ",", header="steps,seconds,lines", comments="")


if __name__ == "__main__":
    main()
