"""Tetrion with generated stubs and grpcio: `PYTHONPATH=gen python cookbook.py HOST:PORT`; see docs/languages.md."""

import itertools
import math
import sys
from array import array

import grpc
from google.rpc import error_details_pb2, status_pb2
from tetrion.v1 import environment_service_pb2 as pb
from tetrion.v1.environment_service_pb2_grpc import EnvironmentServiceStub
from tetrion.v1.evaluation_service_pb2 import EvaluatePoliciesRequest
from tetrion.v1.evaluation_service_pb2_grpc import EvaluationServiceStub
from tetrion.v1.features_pb2 import FeatureSelection
from tetrion.v1.policy_pb2 import GetPolicyRequest, Policy, Weights
from tetrion.v1.rules_pb2 import Rules
from tetrion.v1.seeding_pb2 import DrawnSeeds, Seeding, Seeds
from tetrion.v1.server_info_pb2 import GetServerInfoRequest
from tetrion.v1.tensor_pb2 import DATA_TYPE_INT32, Tensor

MAX_WORD = 2**64 - 1
SMALL = Rules(width=6, height=8)
BCTS8 = FeatureSelection(feature_set="bcts8")


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MAX_WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MAX_WORD
    return z ^ (z >> 31)


def word(seed, tag, n):
    g = 0x9E3779B97F4A7C15
    return mix(mix(seed + (tag + 1) * g & MAX_WORD) + (n + 1) * g & MAX_WORD)


def deviate(generation, draw):
    """A number that is nearly normal, the same in every language: twelve uniform numbers, added in order, minus 6."""
    total = 0.0
    for _ in range(12):
        total += (word(generation, 0, next(draw)) >> 11) / 2**53
    return total - 6.0


def elements(tensor, letter):
    """The elements of a tensor, by their letter in `struct`. Tensors are little-endian, and so must the machine be."""
    return memoryview(tensor.data).cast(letter)


def evaluate(policies, rules, num_seeds, max_pieces):
    """Lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress."""
    weights = Tensor(shape=[len(policies), 8], values=[weight for row in policies for weight in row])
    request = EvaluatePoliciesRequest(
        rules=rules,
        policies=[Policy(weights=Weights(features=BCTS8, weights=weights))],
        seeding=Seeding(drawn=DrawnSeeds(seed=1, count=num_seeds)),
        max_pieces=max_pieces,
        include_results=True,
    )
    lines, pieces, progress = [0] * len(policies), [0] * len(policies), None
    for message in evaluator.EvaluatePolicies(request):
        if message.HasField("progress"):
            progress = message.progress
        elif message.HasField("results"):
            games = message.results
            for game, policy in enumerate(elements(games.policy_indices, "i")):
                lines[policy] += elements(games.lines, "q")[game]
                pieces[policy] += elements(games.pieces, "q")[game]
    return lines, pieces, progress


channel = grpc.insecure_channel(sys.argv[1])
server = EnvironmentServiceStub(channel)
evaluator = EvaluationServiceStub(channel)
print("rules version:", server.GetServerInfo(GetServerInfoRequest()).rules_version)

# A game of the controller bcts: the placement with the largest sum of weight times feature, the first of equals.
print("computed pieces:", "".join("IOTZSJL"[word(42, 0, n) * 7 >> 64] for n in range(20)))
bcts = elements(server.GetPolicy(GetPolicyRequest(name="bcts")).policy.weights.weights, "d")
config = pb.SessionConfig(
    rules=SMALL,
    seeding=Seeding(seeds=Seeds(seeds=[42])),
    observation_fields=pb.FieldNames(names=["current"]),
    info_fields=pb.FieldNames(names=["pieces", "lines"]),
    features=BCTS8,
    max_episode_steps=60,
)
session = server.CreateSession(pb.CreateSessionRequest(config=config)).session.name
answer = server.Reset(pb.ResetRequest(session=session))
dealt, ended = "", False
while not ended:
    dealt += "IOTZSJL"[elements(answer.observations[0], "b")[0]]
    placements = server.EnumeratePlacements(pb.EnumeratePlacementsRequest(session_envs=pb.SessionEnvs(session=session)))
    features = elements(placements.features, "f")
    best, best_score = -1, -math.inf
    for row, action in enumerate(elements(placements.actions, "i")):
        score = 0.0
        for column, weight in enumerate(bcts):
            score += weight * features[8 * row + column]
        if score > best_score:
            best, best_score = action, score
    answer = server.Step(pb.StepRequest(session=session, actions=Tensor(values=[best])))
    ended = any(answer.terminated.data + answer.truncated.data)
print("dealt pieces:   ", dealt[:20])
print("greedy game: {} pieces, {} lines".format(*(elements(info, "q")[0] for info in answer.infos)))
print(server.Render(pb.RenderRequest(session=session, format=pb.RENDER_FORMAT_ASCII)).frames[0])
server.DeleteSession(pb.DeleteSessionRequest(name=session))

# 256 games in one session. Step n takes the n-th action that the mask allows, counting around; ended games start again.
config = pb.SessionConfig(
    num_envs=256,
    rules=SMALL,
    seeding=Seeding(seed=MAX_WORD - 1),
    observation_fields=pb.FieldNames(names=["board"]),
    info_fields=pb.FieldNames(names=["pieces", "lines", "seed"]),
    action_mask_format=pb.ACTION_MASK_FORMAT_BYTES,
)
session = server.CreateSession(pb.CreateSessionRequest(config=config)).session.name
answer = server.Reset(pb.ResetRequest(session=session))
print("computed seed of environment 255:", word(MAX_WORD - 1, 1, 255))
print("reported seed of environment 255:", elements(answer.infos[2], "Q")[255])
for step in range(30):
    actions = array("i")
    for mask in memoryview(answer.action_mask.data).cast("?", list(answer.action_mask.shape)).tolist():
        allowed = [action for action, exists in enumerate(mask) if exists]
        actions.append(allowed[step % len(allowed)])
    tensor = Tensor(dtype=DATA_TYPE_INT32, shape=[256], data=actions.tobytes())
    answer = server.Step(pb.StepRequest(session=session, actions=tensor))
pieces, lines = (sum(elements(info, "q")) for info in answer.infos[:2])
checksum = sum(n * cell for n, cell in enumerate(answer.observations[0].data, 1))
print(f"256 environments: {pieces} pieces, {lines} lines, checksum {checksum}")
server.DeleteSession(pb.DeleteSessionRequest(name=session))

# Three policies on the same twenty seeds.
lines, pieces, progress = evaluate([bcts, [-weight for weight in bcts], [0.0] * 8], Rules(width=10, height=10), 20, 500)
print(f"evaluation: {progress.games_done} of {progress.num_games} games")
for row in range(3):
    print(f"policy {row}: {lines[row]} lines, {pieces[row]} pieces")

# A cross-entropy search: every sum has a fixed order, so its result is the same in every language.
mean, std = [0.0] * 8, [10.0] * 8
for generation in range(1, 6):
    draw = itertools.count()
    population = [[mean[column] + std[column] * deviate(generation, draw) for column in range(8)] for _ in range(24)]
    lines, _, _ = evaluate(population, SMALL, 5, 200)
    elite = sorted(range(24), key=lambda row: -lines[row])[:6]
    print(f"generation {generation}: best {lines[elite[0]]} lines, elite {sum(lines[row] for row in elite)}")
    for column in range(8):
        total = squares = 0.0
        for row in elite:
            total += population[row][column]
        mean[column] = total / 6
        for row in elite:
            difference = population[row][column] - mean[column]
            squares += difference * difference
        std[column] = math.sqrt(squares / 6)
print("weights:", *(f"{weight:.9f}" for weight in mean))

try:
    server.CreateSession(pb.CreateSessionRequest(config=pb.SessionConfig(rules=Rules(width=3))))
except grpc.RpcError as error:
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"]).details:
        detail.Unpack(info) or detail.Unpack(bad_request)
    print("refused:", error.code().value[0], info.reason, bad_request.field_violations[0].field)
