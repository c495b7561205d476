"""A learner over the plain protocol: `PYTHONPATH=gen python cem.py HOST:PORT`; see docs/languages.md.

The cross-entropy method (CEM) searches for the weights of a linear controller, which plays the placement with the largest
sum of weight times feature. It draws weight vectors from a normal distribution, the server plays whole games with each of
them, and the best vectors become the next distribution. All that a learner needs is one call, `EvaluatePolicies`.
"""

import random
import statistics
import sys

import grpc
from tetrion.v1.evaluation_service_pb2 import EvaluatePoliciesRequest
from tetrion.v1.evaluation_service_pb2_grpc import EvaluationServiceStub
from tetrion.v1.features_pb2 import FeatureSelection
from tetrion.v1.policy_pb2 import Policy, Weights
from tetrion.v1.rules_pb2 import Rules
from tetrion.v1.seeding_pb2 import DrawnSeeds, Seeding
from tetrion.v1.tensor_pb2 import Tensor

NUM_FEATURES = 8
POPULATION, ELITE, GENERATIONS, GAMES = 50, 5, 8, 5


def mean_lines(vectors, seed, games):
    """Mean lines per game of each weight vector. All vectors play the same pieces, which the seed decides."""
    numbers = Tensor(shape=[len(vectors), NUM_FEATURES], values=[weight for vector in vectors for weight in vector])
    weights = Weights(features=FeatureSelection(feature_set="bcts8"), weights=numbers)
    request = EvaluatePoliciesRequest(
        policies=[Policy(weights=weights)],
        rules=Rules(width=10, height=10),
        seeding=Seeding(drawn=DrawnSeeds(seed=seed, count=games)),
        max_pieces=10_000,
    )
    for message in evaluator.EvaluatePolicies(request):  # progress, and then the summary
        if message.HasField("summary"):
            return [policy.lines.mean for policy in message.summary.policies]


evaluator = EvaluationServiceStub(grpc.insecure_channel(sys.argv[1]))
dice = random.Random(1)
mean, deviation = [0.0] * NUM_FEATURES, [1.0] * NUM_FEATURES
for generation in range(1, GENERATIONS + 1):
    vectors = [list(map(dice.gauss, mean, deviation)) for _ in range(POPULATION)]
    lines = mean_lines(vectors, generation, GAMES)
    best = sorted(range(POPULATION), key=lambda row: -lines[row])[:ELITE]
    columns = [[vectors[row][column] for row in best] for column in range(NUM_FEATURES)]
    mean = [statistics.fmean(column) for column in columns]
    # A little noise keeps the distribution from narrowing too soon.
    deviation = [statistics.pstdev(column) + 0.05 for column in columns]
    (score,) = mean_lines([mean], 1000, 20)
    print(f"generation {generation}: best {lines[best[0]]:,.0f}, mean vector {score:,.0f} lines per game")
print("weights:", " ".join(f"{weight:.2f}" for weight in mean))
