"""Proximal policy optimisation with action masks in JAX, in one file, in the manner of CleanRL.

    pip install "./clients/python[jax]"  # in the checkout
    python ppo_jax.py [--address host:port] [--steps 300000] [--log curve.csv]

The game, the networks and the settings of `ppo.py`. All epochs of an update are one compiled function; between updates the
games run as usual, and only the choice of actions is compiled.
"""

import argparse
import time
from functools import partial
from itertools import pairwise

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import optax

import tetrion

RULES = {"width": 6, "height": 12, "scoring": {"piece": 0.1, "lines": [1, 2, 3, 4], "game_end": -1}}


def network(key, sizes, gain):
    """The weights of a network with tanh between its layers; `gain` is the scale of the last one."""
    gains = [2**0.5] * (len(sizes) - 2) + [gain]
    keys = jax.random.split(key, len(gains))
    return [
        (jax.nn.initializers.orthogonal(scale)(key, shape), jnp.zeros(shape[1]))
        for key, scale, shape in zip(keys, gains, pairwise(sizes), strict=True)
    ]


def output(layers, seen):
    for weights, biases in layers[:-1]:
        seen = jnp.tanh(seen @ weights + biases)
    weights, biases = layers[-1]
    return seen @ weights + biases


def value(agent, seen):
    return output(agent["critic"], seen)[..., 0]


def logprobs_of(agent, seen, masks):
    """The logarithms of the chances of all placements. A placement that the mask forbids has none."""
    return jax.nn.log_softmax(jnp.where(masks, output(agent["actor"], seen), -1e9))


@jax.jit
def choose(agent, seen, masks, key):
    """An action for each game, its log-probability, and the value of what is seen."""
    logprobs = logprobs_of(agent, seen, masks)
    actions = jax.random.categorical(key, logprobs)
    return actions, jnp.take_along_axis(logprobs, actions[:, None], 1)[:, 0], value(agent, seen)


value_of = jax.jit(value)


def loss(agent, batch, args):
    logprobs = logprobs_of(agent, batch["seen"], batch["masks"])
    ratio = jnp.exp(jnp.take_along_axis(logprobs, batch["actions"][:, None], 1)[:, 0] - batch["logprobs"])
    advantage = (batch["advantages"] - batch["advantages"].mean()) / (batch["advantages"].std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - args.clip, 1 + args.clip)
    policy_loss = -jnp.minimum(advantage * ratio, advantage * clipped).mean()
    value_loss = 0.5 * jnp.square(value(agent, batch["seen"]) - batch["returns"]).mean()
    entropy = -(jnp.exp(logprobs) * logprobs).sum(axis=1).mean()
    return policy_loss + 0.5 * value_loss - args.entropy * entropy


def updater(optimizer, args):
    """The compiled update: generalised advantage estimation backwards, then epochs of minibatches."""

    def estimate(carry, step):
        follow, ahead = carry
        alive = 1.0 - step["dones"]
        surprise = step["rewards"] + args.gamma * follow * alive - step["values"]
        ahead = surprise + args.gamma * args.gae_lambda * alive * ahead
        return (step["values"], ahead), ahead

    def learn(batch, carry, rows):
        agent, state = carry
        gradient = jax.grad(loss)(agent, jax.tree.map(lambda array: array[rows], batch), args)
        changes, state = optimizer.update(gradient, state)
        return (optax.apply_updates(agent, changes), state), None

    @jax.jit
    def update(agent, state, rollout, last_seen, key):
        follow = value(agent, last_seen)
        _, advantages = jax.lax.scan(estimate, (follow, jnp.zeros_like(follow)), rollout, reverse=True)
        batch = {**rollout, "advantages": advantages, "returns": advantages + rollout["values"]}
        batch = jax.tree.map(lambda array: array.reshape(-1, *array.shape[2:]), batch)
        size = args.rollout * args.envs
        shuffles = jax.vmap(lambda key: jax.random.permutation(key, size))(jax.random.split(key, args.epochs))
        (agent, state), _ = jax.lax.scan(
            partial(learn, batch), (agent, state), shuffles.reshape(-1, size // args.minibatches)
        )
        return agent, state

    return update


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
    key, actor_key, critic_key = jax.random.split(jax.random.key(args.seed), 3)
    num_actions = int(envs.single_action_space.n)
    agent = {
        "actor": network(actor_key, [flat.size, 128, 128, num_actions], gain=0.01),
        "critic": network(critic_key, [flat.size, 128, 128, 1], gain=1.0),
    }
    num_updates = max(args.steps // (args.rollout * args.envs), 1)
    rate = optax.linear_schedule(args.learning_rate, 0.0, num_updates * args.epochs * args.minibatches)
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(rate, eps=1e-5))
    state, update = optimizer.init(agent), updater(optimizer, args)

    observations, infos = envs.reset(seed=args.seed)
    seen, masks = flat(observations), infos["action_mask"].astype(bool)
    began, points = time.perf_counter(), []
    for number in range(1, num_updates + 1):
        steps, lines = [], []
        for _ in range(args.rollout):
            key, now = jax.random.split(key)
            actions, logprobs, values = (np.asarray(array) for array in choose(agent, seen, masks, now))
            step = {"seen": seen, "masks": masks, "actions": actions, "logprobs": logprobs, "values": values}
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            if "final_info" in infos:
                lines.extend(infos["final_info"]["lines"][infos["_final_info"]].tolist())
            for env in np.flatnonzero(truncated):
                # If a game was cut short, the value of its last observation stands for the rest.
                last = {name: field[None] for name, field in infos["final_obs"][env].items()}
                rewards[env] += args.gamma * value_of(agent, flat(last))[0]
            steps.append(
                {**step, "rewards": rewards.astype(np.float32), "dones": (terminated | truncated).astype(np.float32)}
            )
            seen, masks = flat(observations), infos["action_mask"].astype(bool)
        key, now = jax.random.split(key)
        rollout = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
        agent, state = update(agent, state, rollout, seen, now)
        if lines:
            played, seconds = number * args.rollout * args.envs, time.perf_counter() - began
            points.append((played, seconds, np.mean(lines)))
            speed = played / seconds
            print(
                f"{played:8,d} steps  {seconds:5.0f} s  {speed:7,.0f} steps/s  {points[-1][2]:7.2f} lines per game",
                flush=True,
            )
    envs.close()
    if args.log:
        np.savetxt(args.log, points, "%.10g", ",", header="steps,seconds,lines", comments="")


if __name__ == "__main__":
    main()
