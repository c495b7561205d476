"""Evaluates a network of PyTorch: the server plays whole games by it.

    pip install "./clients/python[torch]"  # in the checkout
    python own_network.py [--address host:port] [--steps 500] [--games 200] [--seed 1]

The network turns the features of a placement into a score. Here it learns to choose as the controller `bcts` does, on 10 x
10, in games that it plays itself. `Mlp.from_torch` makes a weight vector of it. The server computes what PyTorch computes,
up to rounding: the program prints the largest difference.

Networks of other libraries come as arrays, a matrix and the biases of each layer. For JAX, Flax or NumPy, which multiply
`x @ matrix`, write `Mlp.from_arrays([(matrix, biases), ...], order="inputs_units", activation="tanh")`.
"""

import argparse

import numpy as np
import torch

import tetrion

GAMES, RULES = 64, {"width": 10, "height": 10}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="host:port of a server; left out: this process")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--games", type=int, default=200, help="games of the evaluation")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    client = tetrion.Client(args.address)
    network = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    imitate(client, network, args.steps, args.seed)

    model, weights = tetrion.Mlp.from_torch(network)
    print(f"largest difference of two scores: {difference(client, network):.1e}")
    result = client.evaluate(
        "bcts", weights=weights, features="bcts8", model=model, rules=RULES, seeds=tetrion.DrawnSeeds(1, args.games)
    )
    for name, policy in zip(("network", "bcts"), result.summary.policies, strict=True):
        low, high = policy.lines.ci95_low, policy.lines.ci95_high
        print(f"{name:7} {policy.lines.mean:7,.0f} lines per game, 95 % within {low:,.0f} .. {high:,.0f}")


def imitate(client, network, steps, seed):
    """Plays the best placements by the network, and moves it towards the choices of `bcts`."""
    teacher = np.array(client.get_policy("bcts").weights)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    envs = tetrion.AfterstateVectorEnv(
        GAMES, address=client, rules=RULES, observations=["features"], autoreset_mode="SameStep"
    )
    observations, infos = envs.reset(seed=seed)
    for _ in range(steps):
        features, is_placement = observations["features"].copy(), infos["action_mask"].astype(bool)
        scores = network(torch.from_numpy(features))[..., 0].masked_fill(~torch.from_numpy(is_placement), -1e8)
        wanted = np.where(is_placement, features @ teacher, -np.inf).argmax(axis=1)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores, torch.from_numpy(wanted)).backward()
        optimizer.step()
        observations, _, _, _, infos = envs.step(scores.argmax(dim=1).numpy())
    envs.close()


def difference(client, network):
    """The largest difference between PyTorch's scores of some placements and the server's."""
    model, weights = tetrion.Mlp.from_torch(network)
    policy = tetrion.Policy(weights=weights, features="bcts8", model=model)
    found = client.enumerate_placements(tetrion.Drawing(["####.#####"], "T"), features="bcts8", policy=policy)
    with torch.no_grad():
        ours = network(torch.from_numpy(found.features.astype(np.float32)))[:, 0]
    return np.abs(ours.numpy() - found.policy_values).max()


if __name__ == "__main__":
    main()
