// What a request cannot hold never leaves the client: not as something else, and not without a word.

import assert from "node:assert/strict";
import test from "node:test";

import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";

import { type Server, type Session, TetrionError, connect, tensor } from "../src/index.js";
import { EnvironmentService, EvaluationService } from "../src/protocol.js";
import { checkMessage } from "../src/requests.js";

/** A server that a request must not reach. */
const unreachable: Server = connect("127.0.0.1:1", {
  transport: () => createRouterTransport(({ service }) => {
    const fail = () => assert.fail("a request was sent");
    service(EnvironmentService, new Proxy({}, { get: () => fail }));
    service(EvaluationService, new Proxy({}, { get: () => fail }));
  }),
});

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
    ["width", () => unreachable.info(NaN)],
    ["config.numEnvs", () => unreachable.session({ numEnvs: 1.5 })],
    ["config.rules.width", () => unreachable.session({ rules: { width: -1 } })],
    ["config.seed", () => unreachable.session({ seed: -1n })],
    ["config.envSeeds[1]", () => unreachable.session({ envSeeds: [1n, 2n ** 64n] })],
    ["config.rules.scoring.lines[1]", () => unreachable.session({ rules: { scoring: { lines: [1, NaN] } } })],
    ["config.actionMask", () => unreachable.session({ actionMask: "false" as never })],
    ["config.autoresetMode", () => unreachable.session({ autoresetMode: "SAME_STEP" as never })],
    ["ttl", () => unreachable.session({}, { ttl: NaN })],
    ["ttl", () => unreachable.session({}, { ttl: 1e300 })],
    ["ttl", () => unreachable.session({}, { ttl: 5n as never })],
    ["config", () => unreachable.session(null as never)],
    ["config.envSeeds[0]", () => unreachable.session({ envSeeds: [, 1n] as never })],
    ["tll", () => unreachable.session({}, { tll: 5 } as never)],
    ["name", () => unreachable.open(5 as never)],
    ["positions.drawings[0].rows", () => unreachable.placements({ drawings: [{ rows: "#" as never, piece: "T" }] })],
    ["includeCell", () => unreachable.placements({}, { includeCell: true } as never)],
    ["actions[0]", () => unreachable.placements({}, { actions: [NaN] })],
    ["maxFramesPerSecond", () => first(unreachable.watch({ session: "sessions/1", maxFramesPerSecond: 0.5 }))],
    ["seedRange.count", () => first(unreachable.evaluate({ games: { case: "seedRange", value: { seed: 1n, count: NaN } } }))],
    ["agents[0].weights[1]", () => first(unreachable.evaluate({ agents: [{ name: "linear", weights: [1, Infinity] }] }))],
    ["seedRange", () => first(unreachable.evaluate({ seedRange: { seed: 1n, count: 1 } } as never))],
    ["games", () => first(unreachable.evaluate({ games: { case: "seeds" } } as never))],
    ["games", () => first(unreachable.evaluate({ games: { case: "seedRanges", value: {} } } as never))],
    ["games", () => first(unreachable.evaluate({ games: { value: { count: 1 } } } as never))],
    ["the request", () => first(unreachable.evaluate(undefined as never))],
    ["the request", () => first(unreachable.watch(null as never))],
    ["envIds", () => first(unreachable.watch({ session: "sessions/1", envIds: null as never }))],
    ["pairs", () => first(unreachable.evaluate({ pairs: null as never }))],
    ["pageSize", () => environments.listSessions({ pageSize: NaN })],
    ["maxPieces", () => first(evaluations.evaluatePolicies({ maxPieces: -1n }))],
  ];
  for (const [field, call] of calls) {
    assert.equal((await refused(call)).field, field);
  }
});

test("the actions and the environments of a step are integers", async () => {
  const description = { name: "sessions/1", config: { numEnvs: 2, rules: {} } };
  const { Session: Opened } = await import("../src/index.js");
  const session: Session = new Opened(unreachable.environments, description as never);
  for (const action of [NaN, 1.9, Infinity, 2 ** 31, -(2 ** 31) - 1, "1", undefined, null, 1n, true]) {
    assert.equal((await refused(() => session.step([0, action as never]))).field, "actions[1]");
  }
  assert.equal((await refused(() => session.step(new Float32Array([0, 1.9]) as never))).field, "actions[1]");
  assert.equal((await refused(() => session.step(3 as never))).field, "actions");
  assert.equal((await refused(() => session.step([1], [NaN]))).field, "envIds[0]");
  assert.equal((await refused(() => session.reset({ seeds: [1.5 as never] }))).field, "seeds[0]");
  assert.equal((await refused(() => session.restore({ states: ["text" as never] }))).field, "positions.states[0]");
  assert.equal((await refused(() => session.render(NaN))).field, "format");
  // An empty list would mean all of them to the server.
  for (const call of [
    () => session.reset({ envIds: [] }),
    () => session.step([], []),
    () => session.placements({}, []),
    () => session.save([]),
    () => session.restore({ states: [] }, []),
    () => session.render(1, []),
  ]) {
    assert.equal((await refused(call)).field, "envIds");
  }
});

test("no value passes for environments, actions or options that it is not", async () => {
  const description = { name: "sessions/1", config: { numEnvs: 2, rules: {} } };
  const { Session: Opened } = await import("../src/index.js");
  const session: Session = new Opened(unreachable.environments, description as never);
  const positions = { states: [] };
  const values = [null, NaN, 0, "", "0", true, 1n, {}, new Set([0]), new Map(), new DataView(new ArrayBuffer(4)), () => 0];
  const withEnvironments: ((envIds: never) => unknown)[] = [
    (envIds) => session.reset({ envIds }),
    (envIds) => session.step([0], envIds),
    (envIds) => session.placements({}, envIds),
    (envIds) => session.save(envIds),
    (envIds) => session.restore(positions, envIds),
    (envIds) => session.render(1, envIds),
  ];
  for (const value of values as never[]) {
    for (const call of withEnvironments) {
      assert.equal((await refused(() => call(value))).field, "envIds", String(call));
    }
    if (!ArrayBuffer.isView(value)) {
      assert.equal((await refused(() => session.placements({ actions: value }))).field, "actions");
    }
  }
  const withOptions: ((options: never) => unknown)[] = [
    (options) => unreachable.info(10, options),
    (options) => unreachable.session({}, options),
    (options) => unreachable.open("sessions/1", options),
    (options) => unreachable.sessions(options).next(),
    (options) => unreachable.placements(positions, options),
    (options) => unreachable.watch({ session: "sessions/1" }, options).next(),
    (options) => unreachable.evaluate({}, options).next(),
    (options) => session.reset({}, options),
    (options) => session.step([0, 0], undefined, options),
    (options) => session.placements(options),
    (options) => session.save(undefined, options),
    (options) => session.restore(positions, undefined, options),
    (options) => session.render(1, undefined, options),
    (options) => session.delete(options),
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

test("a misspelt field is refused with the one that was meant", async () => {
  const message = async (config: object) => (await refused(() => unreachable.session(config))).rawMessage;
  assert.match(await message({ rules: { widht: 6 } }), /^config\.rules\.widht is no field of Rules, did you mean width\? expected one of preset, width, /);
  assert.match(await message({ num_envs: 2 }), /^config\.num_envs is no field of SessionConfig, did you mean numEnvs\?/);
  assert.match(await message({ rules: { scoring: { line: [1] } } }), /did you mean lines\?/);
  assert.match(await message({ zebra: 2 }), /^config\.zebra is no field of SessionConfig, expected one of numEnvs, /);
  const evaluation = async () => unreachable.evaluate({ seedRange: { count: 1 } } as never).next();
  assert.match((await refused(evaluation)).rawMessage, /^seedRange is a case of games, expected games: \{ case: "seedRange", value: \.\.\. \}$/);
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
});

test("a tensor holds what its array holds", () => {
  assert.throws(() => tensor([1, 2] as never), TypeError);
  assert.throws(() => tensor(new Int16Array(2) as never), /expected one of Uint8Array, /);
  for (const shape of [[3], [1], [NaN], [-2], [0.5, 4], []]) {
    assert.throws(() => tensor(new Int32Array(2), shape), TypeError, String(shape));
  }
  assert.deepEqual(tensor(new Int32Array(6), [2, 3]).shape, [2, 3]);
});
