// What a client takes from a server: no message above its limit, and no answer that does not fit its request.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import test from "node:test";
import { gzipSync } from "node:zlib";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";

import { type Client, type ConnectOptions, type TransportFactory, TetrionError, VERSION, connect, tensor } from "../src/index.js";
import { RULES_VERSION } from "../src/versions.js";
import { grpc } from "../src/node.js";
import {
  ActionMaskFormat,
  DataType,
  EnumeratePlacementsResponseSchema,
  EnvironmentService,
  EvaluatePoliciesResponseSchema,
  EvaluationService,
  PROTOCOL_REVISION,
  SessionSchema,
  StepResponseSchema,
  WatchSessionResponseSchema,
} from "../src/protocol.js";
import { grpcWeb } from "../src/web.js";

async function refused(call: () => unknown): Promise<TetrionError> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof TetrionError, String(error));
    return error;
  }
  assert.fail("nothing was refused");
}

/** Checks that the answer of a call is refused, and with what words. */
async function unfit(call: () => unknown, problem: RegExp): Promise<void> {
  const { codeName, reason, rawMessage } = await refused(call);
  assert.deepEqual([codeName, reason], ["INTERNAL", "INVALID_ANSWER"], rawMessage);
  assert.match(rawMessage, problem);
}

/** A server with these answers. */
function answering(environments: Record<string, unknown>, evaluation: MessageInitShape<typeof EvaluatePoliciesResponseSchema>[] = [], options: Omit<ConnectOptions, "transport"> = {}): Client {
  const calls = Object.fromEntries(Object.entries(environments).map(([name, answer]) => [name, () => answer]));
  return connect("127.0.0.1:1", {
    ...options,
    transport: () => createRouterTransport(({ service }) => {
      service(EnvironmentService, {
        getServerInfo: () => ({ protocolRevision: PROTOCOL_REVISION, rulesVersion: RULES_VERSION }),
        ...calls,
        async *watchSession() {
          yield* (environments["watchSession"] ?? []) as never[];
        },
      });
      service(EvaluationService, {
        async *evaluatePolicies() {
          yield* evaluation;
        },
      });
    }),
  });
}

test("a server of a lower revision is refused at the first call", async () => {
  const outdated = () => answering({ getServerInfo: { serverVersion: "7.0.0", protocolRevision: 0 }, createSession: { session: SESSION } });
  for (const call of [
    () => outdated().serverInfo(),
    () => outdated().createSession({ numEnvs: 2 }),
    () => outdated().enumeratePlacements({ drawings: [{ rows: [], piece: "I" }] }),
    () => outdated().watchSession("sessions/1").next(),
    () => outdated().evaluate({ policies: ["bcts"], seeds: [1n] }).next(),
    () => outdated().evaluateAll({ policies: ["bcts"], seeds: [1n] }),
    () => outdated().estimateAll({ policies: ["bcts"], seeds: [1n], trials: 100 }),
  ]) {
    const { codeName, reason, rawMessage, info } = await refused(call);
    assert.deepEqual([codeName, reason, info], ["FAILED_PRECONDITION", "REVISION_TOO_OLD", { expected: "0", got: "1" }], rawMessage);
    const words = `the server at 127.0.0.1:1 is Tetrion 7.0.0 with protocol_revision 0, and this package, Tetrion ${VERSION}, needs 1; use a newer server`;
    assert.equal(rawMessage, words);
  }
  const newer = { protocolRevision: PROTOCOL_REVISION + 1, rulesVersion: RULES_VERSION };
  assert.equal((await answering({ getServerInfo: newer }).serverInfo()).protocolRevision, 2);
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  assert.equal(VERSION, manifest.version);
});

test("with anyVersion a server of a lower revision is used, and no request relies on a revision", async () => {
  const revisions: (number | undefined)[] = [];
  const client = (anyVersion: boolean) => connect("127.0.0.1:1", {
    anyVersion,
    transport: () => createRouterTransport(({ service }) => {
      service(EnvironmentService, {
        getServerInfo: () => ({ protocolRevision: anyVersion ? 0 : PROTOCOL_REVISION, rulesVersion: RULES_VERSION }),
        createSession: ({ config }) => (revisions.push(config?.minRevision), { session: SESSION }),
        enumeratePlacements: ({ minRevision }) => (revisions.push(minRevision), {}),
      });
      service(EvaluationService, {
        async *evaluatePolicies({ minRevision }) {
          revisions.push(minRevision);
        },
      });
    }),
  });
  for (const [anyVersion, revision] of [[true, 0], [false, PROTOCOL_REVISION]] as const) {
    revisions.length = 0;
    const session = await client(anyVersion).createSession({ numEnvs: 2 });
    await refused(() => session.enumeratePlacements());
    await refused(() => client(anyVersion).enumeratePlacements({ drawings: [{ rows: [], piece: "I" }] }));
    await refused(() => client(anyVersion).evaluateAll({ policies: ["bcts"], seeds: [1n] }));
    assert.deepEqual(revisions, [revision, revision, revision, revision]);
  }
});

test("a server with other rules is used after one warning", async (t) => {
  const warnings: string[] = [];
  const other = { getServerInfo: { protocolRevision: PROTOCOL_REVISION, rulesVersion: "tetrion-rules-9" }, createSession: { session: SESSION } };
  const client = answering(other, [], { onWarning: (message) => warnings.push(message) });
  await client.createSession({ numEnvs: 2 });
  await client.serverInfo();
  const words = `the server at 127.0.0.1:1 has the rules version tetrion-rules-9, and this package is made for ${RULES_VERSION}: equal seeds and actions may give other games`;
  assert.deepEqual(warnings, [words]);
  const printed = t.mock.method(console, "warn", () => undefined);
  await answering(other).serverInfo();
  assert.deepEqual(printed.mock.calls.map((call) => call.arguments), [[words]]);
});

/** Two environments of 4 x 6 with 16 actions. */
const SESSION: MessageInitShape<typeof SessionSchema> = {
  name: "sessions/1",
  config: { numEnvs: 2, rules: { width: 4, height: 6 }, actionMaskFormat: ActionMaskFormat.BITS },
  observationSpecs: [{ name: "current", dtype: DataType.INT8, shape: [] }, { name: "heights", dtype: DataType.UINT8, shape: [4] }],
  infoSpecs: [{ name: "seed", dtype: DataType.UINT64, shape: [] }],
  actionSpec: { name: "action", dtype: DataType.INT32, high: 15 },
  actionDigits: [{ name: "orientation", size: 4 }, { name: "column", size: 4 }],
};
const bytes = (...shape: number[]) => tensor(new Uint8Array(shape.reduce((a, b) => a * b, 1)), shape);
const flags = (...shape: number[]) => ({ ...bytes(...shape), dtype: DataType.BOOL });
const longs = (...values: number[]) => tensor(BigUint64Array.from(values, BigInt));
const ints = (...values: number[]) => tensor(Int32Array.from(values));
const counts = (...values: number[]) => ({ ...longs(...values), dtype: DataType.INT64 });

const STEP = (rows = 2): MessageInitShape<typeof StepResponseSchema> => ({
  observations: [tensor(new Int8Array(rows)), bytes(rows, 4)],
  infos: [tensor(new BigUint64Array(rows))],
  actionMask: bytes(rows, 2),
  rewards: tensor(new Float32Array(rows)),
  terminated: flags(rows),
  truncated: flags(rows),
  sequenceNumber: 1n,
});

test("the answer of a step has the rows and the columns of the session", async () => {
  const step = async (answer: object, envIds?: number[]) => {
    const session = await answering({ createSession: { session: SESSION }, step: { ...STEP(), ...answer } }).createSession({ numEnvs: 2 });
    return session.step(envIds === undefined ? [0, 0] : [0], { envIds });
  };
  assert.equal((await step({})).rewards.length, 2);
  assert.equal((await step(STEP(1), [1])).rewards.length, 1);
  await unfit(() => step(STEP(1)), /current is INT8 \[1\], expected INT8 \[2\]/);
  await unfit(() => step({}, [1]), /expected INT8 \[1\]/);
  await unfit(() => step({ observations: [tensor(new Int8Array(2))] }), /1 as columns, expected 2/);
  await unfit(() => step({ observations: [bytes(2), bytes(2, 4)] }), /current is UINT8/);
  await unfit(() => step({ observations: [tensor(new Int8Array(2)), bytes(2, 5)] }), /heights is UINT8 \[2,5\], expected UINT8 \[2,4\]/);
  await unfit(() => step({ infos: [{ dtype: DataType.UINT64, shape: [2], data: new Uint8Array(8) }] }), /seed: a tensor of shape \[2\] has 8 bytes, expected 16/);
  await unfit(() => step({ infos: [{ dtype: 77, shape: [2], data: new Uint8Array(8) }] }), /seed is 77 \[2\]/);
  await unfit(() => step({ infos: [{ dtype: DataType.UINT64, shape: [2 ** 31, 2 ** 31, 2], data: new Uint8Array(16) }] }), /seed is UINT64/);
  await unfit(() => step({ actionMask: undefined }), /it has no action_mask/);
  await unfit(() => step({ actionMask: bytes(2, 5) }), /action_mask is UINT8 \[2,5\], expected UINT8 \[2,2\]/);
  await unfit(() => step({ rewards: undefined }), /it has no rewards/);
  await unfit(() => step({ terminated: bytes(2) }), /terminated is UINT8/);
  await unfit(() => step({ truncated: flags(3) }), /truncated is BOOL \[3\]/);
  await unfit(() => step({ sequenceNumber: 2n }), /2 as sequence number, expected 1/);
  const ended = (rows: number[], count = rows.length) => ({ finalBatch: { rows, observations: [tensor(new Int8Array(count)), bytes(count, 4)], infos: [tensor(new BigUint64Array(count))] } });
  assert.deepEqual((await step(ended([0, 1]))).final?.rows, [0, 1]);
  await unfit(() => step(ended([2])), /final_batch/);
  await unfit(() => step(ended([1, 0])), /final_batch/);
  await unfit(() => step(ended([0, 0])), /final_batch/);
  await unfit(() => step(ended([1], 2)), /expected INT8 \[1\]/);
});

test("a session is the one that was asked for", async () => {
  const make = (session: object | undefined, config: object = { numEnvs: 2 }) => answering({ createSession: { session } }).createSession(config);
  await make(SESSION);
  await unfit(() => make(undefined), /no session/);
  await unfit(() => make({ ...SESSION, name: "" }), /without a name/);
  await unfit(() => make({ ...SESSION, config: {} }), /without a name, rules/);
  await unfit(() => make({ ...SESSION, actionDigits: [{ name: "key", size: 6 }] }), /6 as number of actions, expected 16/);
  await unfit(() => make(SESSION, { numEnvs: 3 }), /2 as number of environments, expected 3/);
  await unfit(() => make(SESSION, {}), /2 as number of environments, expected 1/);
  await unfit(() => make(SESSION, { numEnvs: 2, observations: ["board"] }), /current,heights as observations, expected board/);
  await unfit(() => make(SESSION, { numEnvs: 2, infos: ["seed", "pieces"] }), /seed as infos/);
  await unfit(() => answering({ getSession: { session: SESSION } }).getSession("sessions/2"), /sessions\/1 as session, expected sessions\/2/);
  const column = (shape: number[]) => ({ dtype: DataType.FLOAT64, shape, data: new Uint8Array(8 * shape.reduce((one, other) => one * other, 1)) });
  const counts = { dtype: DataType.INT64, shape: [2], data: new Uint8Array(16) };
  const fits = { episodes: counts, steps: counts, seconds: column([2]), lines: column([2, 3]), lengths: column([2, 3]), returns: column([2, 3]) };
  assert.equal((await answering({ getHistory: fits }).getHistory("sessions/1")).points.length, 2);
  const history = (more: object) => answering({ getHistory: { ...fits, ...more } }).getHistory("sessions/1");
  await unfit(() => history({ lines: column([2, 2]) }), /lines is FLOAT64 \[2,2\], expected FLOAT64 \[2,3\]/);
  await unfit(() => history({ seconds: column([3]) }), /seconds is FLOAT64 \[3\]/);
  await unfit(() => history({ steps: undefined }), /it has no steps/);
  const pages = answering({ listSessions: { sessions: [SESSION], nextPageToken: "again" } });
  await unfit(async () => {
    for await (const _ of pages.listSessions());
  }, /same page/);
  const session = await answering({ createSession: { session: SESSION }, saveState: { states: [new Uint8Array(1)] }, render: { frames: ["", "", ""] } }).createSession({ numEnvs: 2 });
  await unfit(() => session.saveState(), /1 as number of snapshots, expected 2/);
  await unfit(() => session.render(), /3 as number of frames, expected 2/);
});

test("placements are those of the positions, with what was asked for", async () => {
  const three = { actions: tensor(new Int32Array(3)), placements: tensor(new Int32Array(3)), rewards: tensor(new Float32Array(3)), lines: bytes(3), terminated: flags(3) };
  const good: MessageInitShape<typeof EnumeratePlacementsResponseSchema> = { rowOffsets: ints(0, 1, 3), ...three };
  const list = async (answer: object, options: object = {}) => {
    const client = answering({ createSession: { session: SESSION }, enumeratePlacements: { ...good, ...answer } });
    return (await client.createSession({ numEnvs: 2 })).enumeratePlacements(options);
  };
  assert.deepEqual([...(await list({})).rowOffsets], [0, 1, 3]);
  await unfit(() => list({ rowOffsets: ints(0, 3) }), /row_offsets is INT32 \[2\], expected INT32 \[3\]/);
  for (const rowOffsets of [[1, 1, 3], [0, 2, 1], [0, 4, 3], [0, -1, 3]]) {
    await unfit(() => list({ rowOffsets: ints(...rowOffsets) }), /row_offsets do not ascend from 0 to 3/);
  }
  await unfit(() => list({ rewards: tensor(new Float32Array(2)) }), /rewards is FLOAT32 \[2\]/);
  await unfit(() => list({ lines: undefined }), /no lines/);
  await unfit(() => list({}, { features: ["holes"] }), /no features/);
  await unfit(() => list({ features: tensor(new Float32Array(6), [3, 2]), featureColumns: { names: ["holes"] } }), /features is FLOAT32 \[3,2\], expected FLOAT32 \[3,1\]/);
  await unfit(() => list({}, { includeCells: true }), /no cells/);
  await unfit(() => list({}, { includeAfterstates: true }), /no afterstates/);
  await unfit(() => list({}, { includePreclearBoards: true }), /no preclear_boards/);
  await unfit(() => list({}, { includeAnchors: true }), /no anchors/);
  await unfit(() => list({}, { includePositionFeatures: true }), /no position_features/);
  await unfit(() => list({}, { includeKeys: true }), /no key_offsets/);
  await unfit(() => list({}, { includeOptimalValues: true }), /no optimal_values/);
  await unfit(() => list({}, { policy: "dt-10" }), /no policy_values/);
  await unfit(() => list({ policyValues: tensor(new Float64Array(3)), policyChoices: ints(0) }, { policy: "dt-10" }), /policy_choices is INT32 \[1\], expected INT32 \[2\]/);
  await unfit(() => list({ keyOffsets: ints(0, 1, 1, 9), keys: bytes(2) }, { includeKeys: true }), /key_offsets do not ascend from 0 to 2/);
  await unfit(() => list({ keyOffsets: ints(0, 1, 1, 1), keys: tensor(new Uint8Array([12])) }, { includeKeys: true }), /no key/);
  const drawn = answering({ enumeratePlacements: good }).enumeratePlacements({ drawings: [{ rows: [], piece: "O" }] });
  await unfit(() => drawn, /row_offsets is INT32 \[3\], expected INT32 \[2\]/);
});

test("an evaluation has the games that were asked for, each once, and a summary", async () => {
  type Events = MessageInitShape<typeof EvaluatePoliciesResponseSchema>[];
  const started = (of: object = {}): Events[number] => ({ event: { case: "started", value: { numPolicies: 2, numSeeds: 2, episodesPerSeed: 1, ...of } } });
  const results = (...games: [policy: number, seed: number][]): Events[number] => {
    const zeros = games.map(() => 0);
    const value = {
      policyIndices: ints(...games.map(([policy]) => policy)), seedIndices: ints(...games.map(([, seed]) => seed)), episodeIndices: ints(...games.map(() => 0)),
      seeds: longs(...zeros), lines: counts(...zeros), pieces: counts(...zeros), steps: counts(...zeros), scores: tensor(new Float64Array(games.length)), ends: bytes(games.length),
    };
    return { event: { case: "results", value } };
  };
  const policy = (policyIndex: number, numGames = 2n) => ({ policyIndex, numGames, lines: {}, pieces: {}, steps: {}, score: {} });
  const summary = (...policies: object[]): Events[number] => ({ event: { case: "summary", value: { policies } } });
  const options = { policies: ["a", "b"], seeds: { seed: 1n, count: 2 } };
  const run = async (events: Events, change: object = {}) => {
    let count = 0;
    for await (const _ of answering({}, events).evaluate({ ...options, ...change })) {
      count += 1;
    }
    return count;
  };
  const all = results([0, 0], [0, 1], [1, 1], [1, 0]);
  const end = summary(policy(0), policy(1));
  assert.equal(await run([started(), all, end]), 3);
  assert.equal(await run([started(), end], { includeResults: false }), 2);
  const weights = { features: "a", weights: [[0], [1]] };
  const four = [started({ numPolicies: 4 }), summary(policy(0), policy(1), policy(2), policy(3))];
  assert.equal(await run(four, { policies: [{ weights }, "a", { weights: { ...weights, weights: [0] } }], includeResults: false }), 2);
  const pairs = [[0, 1], [1, 1]];
  assert.equal(await run([started(), results([0, 1], [1, 1]), summary(policy(0, 1n), policy(1, 1n))], { pairs }), 3);

  await unfit(() => run([all, end]), /results is out of order/);
  await unfit(() => run([started(), started()]), /started is out of order/);
  await unfit(() => run([started(), all, end, all]), /results is out of order/);
  await unfit(() => run([started({ numPolicies: 3 })]), /3 policies, 2 seeds and 1 episodes each, which were not asked for/);
  await unfit(() => run([started({ numSeeds: 4_000_000_000 })]), /4000000000 seeds/);
  await unfit(() => run([started({ episodesPerSeed: 2 })]), /2 episodes/);
  await unfit(() => run([started(), results([0, 0], [0, 0])]), /policy 0, seed 0 and episode 0 was not asked for, or comes twice/);
  for (const game of [[2, 0], [0, 2], [-1, 0]] as [number, number][]) {
    await unfit(() => run([started(), results(game)]), /was not asked for/);
  }
  await unfit(() => run([started(), results([0, 0])], { pairs }), /was not asked for/);
  await unfit(() => run([started(), all], { includeResults: false }), /was not asked for/);
  await unfit(() => run([started(), { event: { case: "recording", value: { recording: {} } } }]), /was not asked for/);
  await unfit(() => run([started(), { event: { case: "recording", value: {} } }]), /a recording is empty/);
  await unfit(() => run([started(), { event: { case: "estimates", value: {} } }]), /estimates came, expected results/);
  await unfit(() => run([started(), all], { lossEstimation: { trials: 9 } }), /results came, expected estimates/);
  await unfit(() => run([started(), all]), /ended before the summary/);
  await unfit(() => run([]), /ended before the summary/);
  await unfit(() => run([started(), results([0, 0]), end]), /3 results are missing/);
  await unfit(() => run([started(), all, end], { includeRecordings: true }), /4 results are missing/);
  await unfit(() => run([started(), all, summary(policy(0))]), /0 as policies of the summary, expected 0,1/);
  await unfit(() => run([started(), all, summary(policy(0), policy(0))]), /0,0 as policies/);
  await unfit(() => run([started(), all, summary(policy(0), policy(1, 5n))]), /5 as number of games of policy 1, expected 2/);
  await unfit(() => run([started(), all, summary(policy(0), { policyIndex: 1, numGames: 2n })]), /lacks statistics/);
  const uneven = results([0, 0]);
  (uneven.event!.value as { seeds: unknown }).seeds = longs(1, 2);
  await unfit(() => run([started(), uneven]), /seeds is UINT64 \[2\], expected UINT64 \[1\]/);
});

test("a session that is watched is the one asked for", async () => {
  type Events = MessageInitShape<typeof WatchSessionResponseSchema>[];
  const started = (envIds = [1], session: object = SESSION): Events[number] => ({ event: { case: "started", value: { session, envIds } } });
  const frame = (envId = 1, cells = 24): Events[number] => ({ event: { case: "frame", value: { envs: [{ envId, colors: new Uint8Array(cells) }] } } });
  const watch = async (events: Events) => {
    for await (const _ of answering({ watchSession: events }).watchSession("sessions/1", { envIds: [1] }));
  };
  await watch([started(), frame(), frame(1, 0)]);
  await unfit(() => watch([frame()]), /frame is out of order/);
  await unfit(() => watch([started(), started()]), /started is out of order/);
  await unfit(() => watch([started([1], { ...SESSION, name: "sessions/2" })]), /sessions\/2 as session/);
  await unfit(() => watch([started([0])]), /0 as environments, expected 1/);
  await unfit(() => watch([started(), frame(0)]), /0 as environments of a frame/);
  await unfit(() => watch([started(), frame(1, 25)]), /25 as number of colors, expected 24/);
});

/** Runs an HTTP server that answers every call with these bytes, as gRPC over HTTP/2 or as gRPC-Web. */
async function withBytes(kind: "grpc" | "web", body: Uint8Array, headers: Record<string, string>, use: (address: string) => Promise<void>): Promise<void> {
  const type = { "content-type": kind === "grpc" ? "application/grpc+proto" : "application/grpc-web+proto", ...headers };
  const server = kind === "grpc"
    ? createHttp2Server().on("stream", (stream) => {
      stream.on("error", () => undefined); // the client hangs up
      stream.respond(type);
      stream.write(body);
    })
    : createServer((_, response) => response.writeHead(200, type).write(body));
  // What is half answered would go on for ever.
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => connections.add(socket));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
    connections.forEach((socket) => socket.destroy());
  }
}

/** The five bytes before a message, and the message as far as it goes. */
function message(flags: number, length: number, data = new Uint8Array()): Uint8Array {
  const framed = new Uint8Array(5 + data.length);
  framed[0] = flags;
  new DataView(framed.buffer).setUint32(1, length);
  framed.set(data, 5);
  return framed;
}

test("a message above the limit is refused before there is room for it", async () => {
  const transports: ["grpc" | "web", TransportFactory][] = [["grpc", grpc], ["web", grpcWeb]];
  for (const [kind, transport] of transports) {
    for (const [length, maxResponseBytes] of [[4 * 2 ** 20 + 1, undefined], [0xffffffff, undefined], [1001, 1000]] as const) {
      // Not one byte of the message comes: the client must not wait for it.
      await withBytes(kind, message(0, length), {}, async (address) => {
        const client = connect(address, { transport, ...(maxResponseBytes && { maxResponseBytes }) });
        const before = process.memoryUsage().arrayBuffers;
        for (const call of [() => client.serverInfo(), () => client.evaluate({ seeds: [1n] }).next()]) {
          const error = await refused(call);
          assert.equal(error.codeName, "RESOURCE_EXHAUSTED", `${kind}: ${error.message}`);
          assert.match(error.rawMessage, new RegExp(`${length}.* ${maxResponseBytes ?? 4 * 2 ** 20}; connect\\(\\) takes a larger maxResponseBytes$`));
        }
        assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20);
      });
    }
  }
});

test("a message that grows as it is unpacked is refused", async () => {
  const zeros = new Uint8Array(64 * 2 ** 20);
  const packed = gzipSync(zeros);
  await withBytes("grpc", message(1, packed.length, packed), { "grpc-encoding": "gzip" }, async (address) => {
    const error = await refused(() => connect(address, { transport: grpc }).serverInfo());
    assert.match(error.rawMessage, /unsupported response encoding "gzip"/);
  });
  await withBytes("web", gzipSync(message(0, zeros.length, zeros)), { "content-encoding": "gzip" }, async (address) => {
    const error = await refused(() => connect(address, { transport: grpcWeb }).serverInfo());
    assert.equal(error.codeName, "RESOURCE_EXHAUSTED", error.message);
  });
});

test("an answer that is no message is an error of the client's own", async () => {
  for (const [kind, transport] of [["grpc", grpc], ["web", grpcWeb]] as const) {
    await withBytes(kind, message(0, 3, new Uint8Array([0xff, 0xff, 0xff])), {}, async (address) => {
      assert.equal((await refused(() => connect(address, { transport }).serverInfo())).codeName, "INTERNAL");
    });
  }
});
