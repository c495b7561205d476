// What a request cannot hold never leaves the client: not as something else, and not without a word.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";

import { type Client, Session, TetrionError, connect, encodeAction, placementOf, tensor } from "../src/index.js";
import { Link } from "../src/link.js";
import { Patience } from "../src/patience.js";
import { EnvironmentService, EvaluationService, PROTOCOL_REVISION } from "../src/protocol.js";
import { checkMessage } from "../src/requests.js";

/** A server that a request must not reach. */
const unreachable: Client = connect("127.0.0.1:1", {
  transport: () => createRouterTransport(({ service }) => {
    const fail = () => assert.fail("a request was sent");
    service(EnvironmentService, new Proxy({}, { get: () => fail }));
    service(EvaluationService, new Proxy({}, { get: () => fail }));
  }),
});

const SEED = { seeds: [1n] };

/** What a call is refused with before it leaves. */
async function refused(call: () => unknown): Promise<TetrionError> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof TetrionError, String(error));
    assert.equal(error.codeName, "INVALID_ARGUMENT", error.message);
    assert.equal(error.reason, "INVALID_FIELD", error.message);
    assert.equal(error.requestId, "");
    assert.ok(error.rawMessage.includes(error.field), error.message);
    return error;
  }
  assert.fail("nothing was refused");
}

/** Values that a field of each type must refuse. */
function wrong(field: DescField): unknown[] {
  if (field.message !== undefined) {
    return [5, "text", [], true, null, new Map(), { nonsense: 1 }];
  }
  if (field.enum !== undefined) {
    return [NaN, Infinity, 1.5, 2 ** 31, "SAME_STEP", 1n, true, null];
  }
  switch (field.scalar) {
    case ScalarType.BOOL:
      return [0, 1, NaN, "false", {}, null];
    case ScalarType.STRING:
      return [5, NaN, 1n, true, {}, ["x"], null];
    case ScalarType.BYTES:
      return [5, "text", [1, 2], new Uint16Array(2), {}, null];
    case ScalarType.DOUBLE:
      return [NaN, Infinity, -Infinity, "1", 1n, true, null];
    case ScalarType.INT32:
      return [NaN, Infinity, 1.5, -(2 ** 31) - 1, 2 ** 31, "1", 1n, true, null];
    case ScalarType.UINT32:
      return [NaN, -Infinity, 1.5, -1, 2 ** 32, "1", 1n, true, null];
    case ScalarType.INT64:
      return [NaN, Infinity, 1.5, 2 ** 53, 2n ** 63n, -(2n ** 63n) - 1n, "1", true, null];
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return [NaN, Infinity, 1.5, -1, 2 ** 53, -1n, 2n ** 64n, "1", true, null];
    default:
      return assert.fail(`no wrong values for ${field}`);
  }
}

/** Every field of a message and of all messages in it: how to write it, and its path. */
function* everyField(schema: DescMessage, within: DescMessage[] = []): Generator<{ field: DescField; path: string; around: (value: unknown) => object }> {
  for (const field of schema.fields) {
    const { localName, oneof } = field;
    const inField = (value: unknown) => (oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } });
    const isList = field.fieldKind === "list";
    const around = (value: unknown) => inField(isList ? [value] : value);
    const path = isList ? `${localName}[0]` : localName;
    yield { field, path, around };
    if (field.message !== undefined && !within.includes(schema)) {
      for (const inner of everyField(field.message, [...within, schema])) {
        yield { field: inner.field, path: `${path}.${inner.path}`, around: (value) => around(inner.around(value)) };
      }
    }
  }
}

test("no field of any call takes what it cannot hold", async () => {
  const methods: DescMethod[] = [...EnvironmentService.methods, ...EvaluationService.methods];
  let count = 0;
  for (const method of methods) {
    for (const { field, path, around } of everyField(method.input)) {
      for (const value of wrong(field)) {
        count += 1;
        const error = await refused(() => checkMessage(method.input, around(value)));
        const isUnknown = field.message !== undefined && typeof value === "object" && value !== null && "nonsense" in value;
        assert.equal(error.field, isUnknown ? `${path}.nonsense` : path, `${method.name}: ${error.message}`);
      }
      if (field.fieldKind === "list") {
        for (const value of ["text", 5, {}, null, new Int32Array(1)]) {
          assert.equal((await refused(() => checkMessage(method.input, unlisted(around, value)))).field, path.slice(0, -"[0]".length));
        }
      }
    }
  }
  assert.ok(count > 2000, `only ${count} values were tried`);
});

/** The same field with a value that is no list. */
function unlisted(around: (value: unknown) => object, value: unknown): object {
  const strip = (part: unknown): unknown => {
    if (Array.isArray(part) && part.length === 1 && part[0] === value) {
      return value;
    }
    if (typeof part === "object" && part !== null && part !== value && !ArrayBuffer.isView(part)) {
      return Array.isArray(part) ? part.map(strip) : Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, strip(inner)]));
    }
    return part;
  };
  return strip(around(value)) as object;
}

test("every call is checked before it is sent", async () => {
  const { environments, evaluations } = unreachable;
  const first = async (stream: AsyncIterable<unknown>) => {
    for await (const _ of stream) {
      assert.fail("an answer");
    }
  };
  const calls: [field: string, call: () => unknown][] = [
    ["width", () => unreachable.catalog({ width: NaN })],
    ["numEnvs", () => unreachable.createSession({ numEnvs: 1.5 })],
    ["rules.width", () => unreachable.createSession({ rules: { width: -1 } })],
    ["seed", () => unreachable.createSession({ seed: -1n })],
    ["envSeeds[1]", () => unreachable.createSession({ envSeeds: [1n, 2n ** 64n] })],
    ["rules.scoring.lines[1]", () => unreachable.createSession({ rules: { scoring: { lines: [1, NaN] } } })],
    ["actionMask", () => unreachable.createSession({ actionMask: "false" as never })],
    ["autoresetMode", () => unreachable.createSession({ autoresetMode: "SAME_STEP" as never })],
    ["ttl", () => unreachable.createSession({ ttl: NaN })],
    ["ttl", () => unreachable.createSession({ ttl: 1e300 })],
    ["ttl", () => unreachable.createSession({ ttl: 5n as never })],
    ["options", () => unreachable.createSession(null as never)],
    ["envSeeds[0]", () => unreachable.createSession({ envSeeds: [, 1n] as never })],
    ["tll", () => unreachable.createSession({ tll: 5 } as never)],
    ["width", () => unreachable.catalog({ width: null as never })],
    ["name", () => unreachable.getPolicy(undefined as never)],
    ["name", () => unreachable.getPolicy("\ud800")],
    ["name", () => unreachable.getSession(undefined as never)],
    ["name", () => unreachable.deleteSession(undefined as never)],
    ["split", () => unreachable.getTask(undefined as never, 0)],
    ["index", () => unreachable.getTask("test", undefined as never)],
    ["index", () => unreachable.getTask("test", 0.5)],
    ["index", () => unreachable.scoreTask("test", undefined as never, [])],
    ["answer", () => unreachable.scoreTask("test", 5, undefined as never)],
    ["answer", () => unreachable.scoreTask("test", 5, null as never)],
    ["answer[1]", () => unreachable.scoreTask("test", 5, [0, undefined as never])],
    ["answer[0]", () => unreachable.scoreTask("test", 5, [0.5])],
    ["positions", () => unreachable.enumeratePlacements(undefined as never)],
    ["session", () => first(unreachable.watchSession(undefined as never))],
    ["seeds.seed", () => first(unreachable.evaluate({ seeds: { seed: undefined, count: 1 } as never }))],
    ["seeds.count", () => first(unreachable.evaluate({ seeds: { seed: 1n } as never }))],
    ["includeResults", () => first(unreachable.evaluate({ ...SEED, policies: ["bcts"], includeResults: null as never }))],
    ["pairs[0]", () => first(unreachable.evaluate({ ...SEED, pairs: [[2 ** 31, 0]] }))],
    ["name", () => unreachable.getSession(5 as never)],
    ["name", () => unreachable.deleteSession(5 as never)],
    ["positions.drawings.drawings[0].rows", () => unreachable.enumeratePlacements({ drawings: [{ rows: "#" as never, piece: "T" }] })],
    ["includeCell", () => unreachable.enumeratePlacements({}, { includeCell: true } as never)],
    ["actions[0]", () => unreachable.enumeratePlacements({}, { actions: [NaN] })],
    ["maxFramesPerSecond", () => first(unreachable.watchSession("sessions/1", { maxFramesPerSecond: 0.5 }))],
    ["session", () => first(unreachable.watchSession(5 as never))],
    ["options", () => first(unreachable.watchSession("sessions/1", null as never))],
    ["envIds", () => first(unreachable.watchSession("sessions/1", { envIds: null as never }))],
    ["seeds", () => first(unreachable.evaluate())],
    ["seeds", () => first(unreachable.evaluate({ policies: ["bcts"] }))],
    ["pieceSequences", () => first(unreachable.evaluate({ policies: ["bcts"], seeds: [1n], pieceSequences: ["I"] }))],
    ["seeds", () => first(unreachable.evaluate({ seeds: null as never }))],
    ["seeds.count", () => first(unreachable.evaluate({ seeds: { seed: 1n, count: NaN } }))],
    ["seeds.from", () => first(unreachable.evaluate({ seeds: { from: 1n, count: 1 } as never }))],
    ["seeds[1]", () => first(unreachable.evaluate({ seeds: [1n, -1n] }))],
    ["seeds[1]", () => first(unreachable.evaluate({ seeds: [1n, , 2n] as never }))],
    ["seeds", () => first(unreachable.evaluate({ seeds: [[1n, 2n], [1n]] }))],
    ["seeds[1]", () => first(unreachable.evaluate({ seeds: [[1n], [-1n]] }))],
    ["pieceSequences", () => first(unreachable.evaluate({ pieceSequences: "IO" as never }))],
    ["holeColumns", () => unreachable.createSession({ holeColumns: [[1]] })],
    ["holeColumns", () => unreachable.createSession({ pieceSequences: ["I"], holeColumns: 1 as never })],
    ["holeColumns[1].columns[0]", () => unreachable.createSession({ pieceSequences: ["I", "O"], holeColumns: [[0], [-1]] })],
    ["policies", () => first(unreachable.evaluate({ ...SEED, policies: "bcts" as never }))],
    ["policies[1]", () => first(unreachable.evaluate({ ...SEED, policies: ["bcts", 5 as never] }))],
    ["policies[0].weights.weights[1]", () => first(unreachable.evaluate({ ...SEED, policies: [{ weights: { weights: [1, Infinity] } }] }))],
    ["policies[0].weights.weights[2]", () => first(unreachable.evaluate({ ...SEED, policies: [{ weights: { weights: [[1, 2], [NaN, 3]] } }] }))],
    ["policies[1].weights.weights", () => first(unreachable.evaluate({ ...SEED, policies: ["bcts", { weights: { weights: [[1, 2], [3]] } }] }))],
    ["policies[0].weights.weights", () => first(unreachable.evaluate({ ...SEED, policies: [{ weights: { weights: new Float64Array(2) as never } }] }))],
    ["policies[0].weights.features.names.names[0]", () => first(unreachable.evaluate({ ...SEED, policies: [{ weights: { features: [1 as never], weights: [1] } }] }))],
    ["policies[0].terminalValue", () => first(unreachable.evaluate({ ...SEED, policies: [{ name: "bcts", terminalValue: "nonsense" as never }] }))],
    ["policies[0].search.lookahead.pieces", () => first(unreachable.evaluate({ ...SEED, policies: [{ name: "bcts", search: { lookahead: { pieces: 0.5 } } }] }))],
    ["policies[0].weights", () => first(unreachable.evaluate({ ...SEED, policies: [{ name: "bcts", weights: { weights: [1] } }] }))],
    ["lossEstimation.trials", () => first(unreachable.evaluate({ ...SEED, lossEstimation: { trials: -1 } }))],
    ["pairs", () => first(unreachable.evaluate({ ...SEED, pairs: null as never }))],
    ["pairs[1]", () => first(unreachable.evaluate({ ...SEED, pairs: [[0, -1]] }))],
    ["progressInterval", () => first(unreachable.evaluate({ ...SEED, progressInterval: NaN }))],
    ["drawn", () => first(unreachable.evaluate({ drawn: { seed: 1n, count: 1 } } as never))],
    ["envSeeds", () => unreachable.createSession({ seed: 1n, envSeeds: [1n] })],
    ["envSeeds.count", () => unreachable.createSession({ envSeeds: { seed: 1n, count: -1 } })],
    ["pageSize", () => environments.listSessions({ pageSize: NaN })],
    ["maxPieces", () => first(evaluations.evaluatePolicies({ maxPieces: -1n }))],
  ];
  for (const [field, call] of calls) {
    assert.equal((await refused(call)).field, field);
  }
});

test("the actions and the environments of a step are integers", async () => {
  const description = { name: "sessions/1", config: { numEnvs: 2, rules: {} }, actionSpec: { high: 5 }, actionDigits: [{ name: "key", size: 6 }] };
  const session = new Session(new Link(unreachable.environments, new Patience(0), "sessions/1", 0n, PROTOCOL_REVISION), description as never);
  for (const action of [NaN, 1.9, Infinity, 2 ** 31, -(2 ** 31) - 1, "1", undefined, null, 1n, true]) {
    assert.equal((await refused(() => session.step([0, action as never]))).field, "actions[1]");
  }
  assert.equal((await refused(() => session.step(new Float32Array([0, 1.9]) as never))).field, "actions[1]");
  for (const actions of [3, "ab", "", undefined, null, NaN, {}, new Set([0]), new DataView(new ArrayBuffer(4))]) {
    assert.equal((await refused(() => session.step(actions as never))).field, "actions");
  }
  for (const name of [0, undefined, null, {}, "\ud800"]) {
    assert.equal((await refused(() => session.step(["a", name] as never))).field, "actions[1]");
  }
  assert.equal((await refused(() => session.restoreState(undefined as never))).field, "positions");
  assert.equal((await refused(() => session.step([1], { envIds: [NaN] }))).field, "envIds[0]");
  assert.equal((await refused(() => session.reset({ seeds: [1.5 as never] }))).field, "seeds[0]");
  assert.equal((await refused(() => session.reset({ swapSides: 1 as never }))).field, "swapSides");
  assert.equal((await refused(() => session.restoreState({ snapshots: ["text" as never] }))).field, "positions.snapshots.states[0]");
  assert.equal((await refused(() => session.render({ format: NaN }))).field, "format");
});

test("no value passes for environments, actions or options that it is not", async () => {
  const description = { name: "sessions/1", config: { numEnvs: 2, rules: {} }, actionSpec: { high: 5 }, actionDigits: [{ name: "key", size: 6 }] };
  const session = new Session(new Link(unreachable.environments, new Patience(0), "sessions/1", 0n, PROTOCOL_REVISION), description as never);
  const positions = { snapshots: [] };
  const values = [null, NaN, 0, "", "0", true, 1n, {}, new Set([0]), new Map(), new DataView(new ArrayBuffer(4)), () => 0];
  const withEnvironments: ((envIds: never) => unknown)[] = [
    (envIds) => session.reset({ envIds }),
    (envIds) => session.step([0], { envIds }),
    (envIds) => session.enumeratePlacements({ envIds }),
    (envIds) => session.saveState({ envIds }),
    (envIds) => session.restoreState(positions, { envIds }),
    (envIds) => session.render({ envIds }),
  ];
  for (const value of values as never[]) {
    for (const call of withEnvironments) {
      assert.equal((await refused(() => call(value))).field, "envIds", String(call));
    }
    if (!ArrayBuffer.isView(value)) {
      assert.equal((await refused(() => session.enumeratePlacements({ actions: value }))).field, "actions");
    }
  }
  const withOptions: ((options: never) => unknown)[] = [
    (options) => unreachable.serverInfo(options),
    (options) => unreachable.createSession(options),
    (options) => unreachable.getSession("sessions/1", options),
    (options) => unreachable.listSessions(options).next(),
    (options) => unreachable.enumeratePlacements(positions, options),
    (options) => unreachable.watchSession("sessions/1", options).next(),
    (options) => unreachable.evaluate(options).next(),
    (options) => session.reset(options),
    (options) => session.step([0, 0], options),
    (options) => session.enumeratePlacements(options),
    (options) => session.saveState(options),
    (options) => session.restoreState(positions, options),
    (options) => session.render(options),
    (options) => session.close(options),
  ];
  for (const call of withOptions) {
    for (const value of [null, NaN, 5, "text", true, [], new Map()] as never[]) {
      assert.equal((await refused(() => call(value))).field, "options", String(call));
    }
    assert.match((await refused(() => call({ singal: 1 } as never))).rawMessage, /^singal is no option, did you mean signal\?/);
    for (const signal of [null, 5, "stop", {}]) {
      assert.equal((await refused(() => call({ signal } as never))).field, "signal", String(call));
    }
  }
});

test("the types have the names of every enum that a call takes", async () => {
  const source = await readFile(new URL("../../src/plain.ts", import.meta.url), "utf8");
  const listed = [.../type Enum =\n(.*?);/s.exec(source)![1]!.matchAll(/typeof (\w+)/g)].map(([, name]) => name);
  const methods: DescMethod[] = [...EnvironmentService.methods, ...EvaluationService.methods];
  const enums = methods.flatMap(({ input }) => [...everyField(input)].flatMap(({ field }) => field.enum?.name ?? []));
  // The element type of a tensor is that of its array.
  assert.deepEqual(listed, [...new Set(enums)].filter((name) => name !== "DataType").sort());
});

test("a misspelt field is refused with the one that was meant", async () => {
  const message = async (config: object) => (await refused(() => unreachable.createSession(config))).rawMessage;
  assert.match(await message({ rules: { widht: 6 } }), /^rules\.widht is no field of Rules, did you mean width\? expected one of preset, width, /);
  assert.match(await message({ num_envs: 2 }), /^num_envs is no option, did you mean numEnvs\?/);
  assert.match(await message({ rules: { scoring: { line: [1] } } }), /did you mean lines\?/);
  assert.match(await message({ zebra: 2 }), /^zebra is no option, expected one of signal, numEnvs, /);
  assert.match(await message({ rules: { randomizer: "bag" } }), /^rules\.randomizer is "bag", expected one of Randomizer: uniform \(1\), bag7 \(2\), /);
  assert.match(await message({ autoresetMode: "same" }), /^autoresetMode is "same", expected one of AutoresetMode: next_step \(1\), /);
  const evaluation = async () => unreachable.evaluate({ seed: 1n } as never).next();
  assert.match((await refused(evaluation)).rawMessage, /^seed is no option, did you mean seeds\?/);
  const games = async () => unreachable.evaluations.evaluatePolicies({ seeding: { drawn: { count: 1 } } } as never)[Symbol.asyncIterator]().next();
  assert.match((await refused(games)).rawMessage, /^seeding\.drawn is a case of kind, expected kind: \{ case: "drawn", value: \.\.\. \}$/);
  const both = async () => unreachable.evaluate({ seeds: [1n], policies: [{ name: "bcts", monteCarlo: {} }] }).next();
  assert.match((await refused(both)).rawMessage, /^policies\[0\]\.monteCarlo is given with name, expected one of the two$/);
  assert.throws(() => connect("127.0.0.1:1", { transport: () => assert.fail(), tokn: "secret" } as never), /tokn is no option, did you mean token\?/);
});

test("an address is a host and a port", () => {
  for (const address of ["http://", "ftp://127.0.0.1", "http://127.0.0.1/path", "http://127.0.0.1?query", "127.0.0.1:99999", "", "a b:1", "me:secret@127.0.0.1:1", undefined, null, 5]) {
    assert.throws(() => connect(address as never, { transport: () => assert.fail() }), /^TypeError: the address is .*, expected HOST:PORT/, String(address));
  }
  for (const transport of [undefined, null, 5, "grpc"]) {
    assert.throws(() => connect("127.0.0.1:1", { transport: transport as never }), /^TypeError: transport is /);
  }
  for (const token of [null, 5, {}, "a\nb", "é"]) {
    assert.throws(() => connect("127.0.0.1:1", { transport: () => assert.fail(), token: token as never }), /^TypeError: token is not a string of printable ASCII/);
  }
  for (const options of [undefined, null, 5]) {
    assert.throws(() => connect("127.0.0.1:1", options as never), /options is/);
  }
  for (const maxResponseBytes of [NaN, 0, 1.5, 2 ** 32]) {
    assert.throws(() => connect("127.0.0.1:1", { transport: () => assert.fail(), maxResponseBytes }), TypeError);
  }
  for (const patience of [NaN, -1, Infinity, "60", null]) {
    assert.throws(() => connect("127.0.0.1:1", { transport: () => assert.fail(), patience: patience as never }), /^TypeError: patience is /);
  }
  for (const anyVersion of [null, 0, "yes"]) {
    assert.throws(() => connect("127.0.0.1:1", { transport: () => assert.fail(), anyVersion: anyVersion as never }), /^TypeError: anyVersion is .*, expected true or false/);
  }
  for (const onWarning of [null, true, "warn"]) {
    assert.throws(() => connect("127.0.0.1:1", { transport: () => assert.fail(), onWarning: onWarning as never }), /^TypeError: onWarning is .*, expected a function/);
  }
});

test("a digit or a row that is no number is none", () => {
  const digits = [{ name: "orientation", size: 4 }, { name: "column", size: 10 }];
  assert.equal(encodeAction(digits, { orientation: 2 }), 20);
  for (const column of [undefined, null, NaN, 0.5, "1", -1, 10]) {
    assert.throws(() => encodeAction(digits, { column: column as never }), /^TypeError: column is .*, expected an integer from 0 to 9/);
  }
  const placements = { placements: Int32Array.of(7), placementDigits: digits } as never;
  assert.equal(placementOf(placements, 0).column, 7);
  for (const row of [undefined, "0", "length", 1, -1, NaN]) {
    assert.throws(() => placementOf(placements, row as never), /^TypeError: row .* is not one of 1 placements/);
  }
});

test("a tensor holds what its array holds", () => {
  assert.throws(() => tensor([1, 2] as never), TypeError);
  assert.throws(() => tensor(new BigInt64Array(2) as never), /expected one of Uint8Array, /);
  for (const shape of [[3], [1], [NaN], [-2], [0.5, 4], []]) {
    assert.throws(() => tensor(new Int32Array(2), shape), TypeError, String(shape));
  }
  assert.deepEqual(tensor(new Int32Array(6), [2, 3]).shape, [2, 3]);
});
