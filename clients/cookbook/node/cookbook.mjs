// Tetrion with @grpc/grpc-js, which reads the proto files as they are: `node cookbook.mjs HOST:PORT`; see docs/languages.md.
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import protobuf from "protobufjs";

const U64 = (value) => BigInt.asUintN(64, value);
const SMALL = { width: 6, height: 8 };
const BCTS8 = { featureSet: "bcts8" };

// Seeds are up to 2^64 - 1, more than a number holds, so they are strings in messages and BigInts here.
const { v1 } = grpc.loadPackageDefinition(
  loader.loadSync(["tetrion/v1/environment_service.proto", "tetrion/v1/evaluation_service.proto"], {
    includeDirs: ["proto"],
    longs: String,
    enums: String,
  }),
).tetrion;
const server = new v1.EnvironmentService(process.argv[2], grpc.credentials.createInsecure());
const evaluator = new v1.EvaluationService(process.argv[2], grpc.credentials.createInsecure());
const call = (method, request) =>
  new Promise((resolve, reject) => server[method](request, (error, answer) => (error ? reject(error) : resolve(answer))));

function mix(z) {
  z = U64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = U64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

function word(seed, tag, n) {
  const g = 0x9e3779b97f4a7c15n;
  return mix(U64(mix(U64(seed + (tag + 1n) * g)) + (n + 1n) * g));
}

// The elements of a tensor. A typed array needs its bytes aligned, so they are copied first.
const elements = (tensor, Type) => new Type(new Uint8Array(tensor.data).buffer);

// Lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress.
async function evaluate(policies, rules, numSeeds, maxPieces) {
  const weights = { shape: [policies.length, 8], values: policies.flat() };
  const stream = evaluator.evaluatePolicies({
    rules,
    policies: [{ weights: { features: BCTS8, weights } }],
    seeding: { drawn: { seed: "1", count: numSeeds } },
    maxPieces,
    includeResults: true,
  });
  const [lines, pieces] = [policies.map(() => 0), policies.map(() => 0)];
  let progress;
  for await (const message of stream) {
    progress = message.progress ?? progress;
    if (message.results) {
      const [ofLines, ofPieces] = ["lines", "pieces"].map((name) => elements(message.results[name], BigInt64Array));
      elements(message.results.policyIndices, Int32Array).forEach((policy, game) => {
        lines[policy] += Number(ofLines[game]);
        pieces[policy] += Number(ofPieces[game]);
      });
    }
  }
  return { lines, pieces, progress };
}

console.log("rules version:", (await call("getServerInfo", {})).rulesVersion);

// A game of the controller bcts: the placement with the largest sum of weight times feature, the first of equals.
const piece = (n) => "IOTZSJL"[Number((word(42n, 0n, BigInt(n)) * 7n) >> 64n)];
console.log("computed pieces:", Array.from({ length: 20 }, (_, n) => piece(n)).join(""));
const { policy } = await call("getPolicy", { name: "bcts" });
const bcts = [...elements(policy.weights.weights, Float64Array)];
let config = {
  rules: SMALL,
  seeding: { seeds: { seeds: ["42"] } },
  observationFields: { names: ["current"] },
  infoFields: { names: ["pieces", "lines"] },
  features: BCTS8,
  maxEpisodeSteps: 60,
};
let session = (await call("createSession", { config })).session.name;
let answer = await call("reset", { session });
let dealt = "";
do {
  dealt += "IOTZSJL"[elements(answer.observations[0], Int8Array)[0]];
  const placements = await call("enumeratePlacements", { sessionEnvs: { session } });
  const features = elements(placements.features, Float32Array);
  let [best, bestScore] = [-1, -Infinity];
  elements(placements.actions, Int32Array).forEach((action, row) => {
    const score = bcts.reduce((sum, weight, column) => sum + weight * features[8 * row + column], 0);
    if (score > bestScore) [best, bestScore] = [action, score];
  });
  answer = await call("step", { session, actions: { values: [best] } });
} while (!answer.terminated.data[0] && !answer.truncated.data[0]);
console.log("dealt pieces:   ", dealt.slice(0, 20));
let [pieces, lines] = answer.infos.map((info) => elements(info, BigInt64Array)[0]);
console.log(`greedy game: ${pieces} pieces, ${lines} lines`);
console.log((await call("render", { session, format: "RENDER_FORMAT_ASCII" })).frames[0]);
await call("deleteSession", { name: session });

// 256 games in one session. Step n takes the n-th action that the mask allows, counting around; ended games start again.
const last = 2n ** 64n - 2n;
config = {
  numEnvs: 256,
  rules: SMALL,
  seeding: { seed: String(last) },
  observationFields: { names: ["board"] },
  infoFields: { names: ["pieces", "lines", "seed"] },
  actionMaskFormat: "ACTION_MASK_FORMAT_BYTES",
};
session = (await call("createSession", { config })).session.name;
answer = await call("reset", { session });
console.log("computed seed of environment 255:", String(word(last, 1n, 255n)));
console.log("reported seed of environment 255:", String(elements(answer.infos[2], BigUint64Array)[255]));
for (let step = 0; step < 30; step++) {
  const { shape, data: mask } = answer.actionMask;
  const actions = Int32Array.from({ length: 256 }, (_, env) => {
    const allowed = [...Array(shape[1]).keys()].filter((action) => mask[env * shape[1] + action]);
    return allowed[step % allowed.length];
  });
  const tensor = { dtype: "DATA_TYPE_INT32", shape: [256], data: new Uint8Array(actions.buffer) };
  answer = await call("step", { session, actions: tensor });
}
[pieces, lines] = answer.infos.map((info) => elements(info, BigInt64Array).reduce((sum, count) => sum + count, 0n));
const checksum = answer.observations[0].data.reduce((sum, cell, n) => sum + (n + 1) * cell, 0);
console.log(`256 environments: ${pieces} pieces, ${lines} lines, checksum ${checksum}`);
await call("deleteSession", { name: session });

// Three policies on the same twenty seeds.
const evaluated = await evaluate([bcts, bcts.map((weight) => -weight), Array(8).fill(0)], { width: 10, height: 10 }, 20, 500);
console.log(`evaluation: ${evaluated.progress.gamesDone} of ${evaluated.progress.numGames} games`);
evaluated.lines.forEach((cleared, row) => console.log(`policy ${row}: ${cleared} lines, ${evaluated.pieces[row]} pieces`));

// A cross-entropy search: every sum has a fixed order, so its result is the same in every language.
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const [mean, std] = [Array(8).fill(0), Array(8).fill(10)];
for (let generation = 1; generation <= 5; generation++) {
  let draws = 0n;
  // A number that is nearly normal, with nothing but additions: twelve uniform numbers minus 6.
  const uniform = () => Number(word(BigInt(generation), 0n, draws++) >> 11n) / 2 ** 53;
  const deviate = () => sum(Array.from({ length: 12 }, uniform)) - 6;
  const population = Array.from({ length: 24 }, () => mean.map((center, column) => center + std[column] * deviate()));
  const games = await evaluate(population, SMALL, 5, 200);
  const elite = [...population.keys()].sort((a, b) => games.lines[b] - games.lines[a]).slice(0, 6);
  console.log(`generation ${generation}: best ${games.lines[elite[0]]} lines, elite ${sum(elite.map((row) => games.lines[row]))}`);
  for (let column = 0; column < 8; column++) {
    mean[column] = sum(elite.map((row) => population[row][column])) / 6;
    const differences = elite.map((row) => population[row][column] - mean[column]);
    std[column] = Math.sqrt(sum(differences.map((difference) => difference * difference)) / 6);
  }
}
console.log("weights:", mean.map((weight) => weight.toFixed(9)).join(" "));

// What a refusal says to programs: a google.rpc.Status in the trailers.
const root = new protobuf.Root();
root.resolvePath = (_, file) => `proto/${file}`;
root.loadSync(["google/rpc/status.proto", "google/rpc/error_details.proto"]);
try {
  await call("createSession", { config: { rules: { width: 3 } } });
} catch (error) {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const { details } = root.lookupType("google.rpc.Status").decode(bytes);
  const find = (name) => {
    const any = details.find((detail) => detail.type_url.endsWith(`/${name}`));
    return root.lookupType(name).decode(any.value);
  };
  const { reason } = find("google.rpc.ErrorInfo");
  const [{ field }] = find("google.rpc.BadRequest").fieldViolations;
  console.log("refused:", error.code, reason, field);
}
server.close();
evaluator.close();
