// A session over one long call: the games of single calls, requests sent ahead, and a connection that breaks.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import { type Session, TetrionError, connect } from "../src/index.js";
import { StepStream, grpc } from "../src/node.js";
import { grpcWeb } from "../src/web.js";
import { type Break, Breaking } from "./breaking.js";
import { Running } from "./support.js";

let running: Running;
let breaking: Breaking;

before(async () => {
  running = await Running.start();
  breaking = await Breaking.start(running.address);
});
after(async () => {
  breaking.stop();
  await running.stop();
});

async function refused(call: Promise<unknown>): Promise<TetrionError> {
  const error = await call.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof TetrionError, `expected a refusal, found ${error}`);
  return error;
}

const SESSION = { numEnvs: 2, envSeeds: [5n, 6n], rules: { height: 8 } };

/** Calls of every kind, and what they return. */
async function* game(calls: Session | StepStream): AsyncGenerator<unknown> {
  yield await calls.reset();
  for (const action of [3, 0, 7]) {
    yield await calls.step([action, action]);
    yield await calls.step([action], { envIds: [1] });
    yield await calls.enumeratePlacements({ features: ["holes"], envIds: [1] });
  }
  const states = await calls.saveState();
  yield states;
  yield await calls.step([1, 1]);
  yield await calls.restoreState({ snapshots: [states[0]!] }, { reseed: 3n });
  yield await calls.step([1, 2]);
}

test("a game over a stream is the game of single calls, whether or not the connection breaks", async () => {
  const whole = await running.client.createSession(SESSION);
  const expected: unknown[] = [];
  for await (const answer of game(whole)) {
    expected.push(answer);
  }
  for (const when of ["never", "before the request", "after the answer"] as Break[]) {
    const client = connect(breaking.address, { transport: grpc });
    const session = await client.createSession(SESSION);
    const stream = new StepStream(session);
    const before = breaking.broken;
    const found: unknown[] = [];
    breaking.next = when;
    for await (const answer of game(stream)) {
      found.push(answer);
      breaking.next = when;
    }
    breaking.next = "never";
    assert.deepEqual(found, expected, when);
    assert.equal(breaking.broken - before, when === "never" ? 0 : expected.length, when);
    await stream.close();
    assert.equal(session.sequenceNumber, whole.sequenceNumber);
    assert.equal((await client.getSession(session.name)).sequenceNumber, whole.sequenceNumber);
    await session.step([0, 0]);
    await session.close();
    client.close();
  }
  await whole.close();
});

test("requests that are sent ahead are answered in order", async () => {
  const session = await running.client.createSession({ numEnvs: 4, seed: 1n });
  const whole = await running.client.createSession({ numEnvs: 4, seed: 1n });
  await whole.reset();
  {
    await using stream = new StepStream(session);
    void stream.reset();
    for (let piece = 0; piece < 20; piece++) {
      const sent = [stream.step([piece % 7, piece % 7], { envIds: [0, 1] }), stream.step([0, 1], { envIds: [2, 3] }), stream.enumeratePlacements()] as const;
      const [left, right, placements] = await Promise.all(sent);
      assert.deepEqual(left, await whole.step([piece % 7, piece % 7], { envIds: [0, 1] }));
      assert.deepEqual(right, await whole.step([0, 1], { envIds: [2, 3] }));
      assert.deepEqual(placements, await whole.enumeratePlacements());
    }
    // The block ends with answers on their way.
    void stream.step([0, 0, 0, 0]);
  }
  assert.equal(session.sequenceNumber, 42n);
  assert.equal((await running.client.getSession(session.name)).sequenceNumber, 42n);
  await session.close();
  await whole.close();
});

test("what was sent ahead of a lost answer is done once", async () => {
  const client = connect(breaking.address, { transport: grpc });
  const session = await client.createSession({ seed: 1n });
  await using stream = new StepStream(session);
  await stream.reset();
  for (const when of ["before the request", "after the answer"] as Break[]) {
    breaking.next = when;
    const before = session.sequenceNumber;
    const [step, placements] = await Promise.all([stream.step([0]), stream.enumeratePlacements({ features: ["holes"] })]);
    assert.deepEqual(placements, await stream.enumeratePlacements({ features: ["holes"] }), when);
    assert.equal(step.infos.pieces![0], Number(before), when);
    assert.equal(breaking.next, "never");
  }
  client.close();
});

test("a refused request changes nothing, and those that were sent after it fail", async () => {
  const session = await running.client.createSession({ seed: 1n });
  await using stream = new StepStream(session);
  assert.equal((await refused(stream.step([0]))).reason, "NOT_RESET");
  await stream.reset();
  const outside = stream.step([1000]);
  const [later, placements] = [stream.step([0]), stream.enumeratePlacements()];
  const error = await refused(outside);
  assert.deepEqual([error.codeName, error.reason, error.field, error.info["count"]], ["INVALID_ARGUMENT", "ACTION_OUT_OF_RANGE", "actions[0]", "1"]);
  assert.match(error.requestId, /./);
  assert.equal((await refused(later)).reason, "SEQUENCE_MISMATCH");
  assert.ok((await placements).actions.length > 0);
  assert.equal((await stream.step([0])).infos.pieces![0], 1);
  // What a request cannot hold is refused before it is sent.
  assert.equal((await refused(stream.step([NaN]))).field, "actions[0]");
  assert.equal((await refused(stream.reset({ envIds: [-1] }))).field, "envIds[0]");
  assert.equal((await refused(stream.restoreState({ snapshots: ["text" as never] }))).reason, "INVALID_FIELD");
  assert.equal((await stream.step([5])).infos.pieces![0], 2);
});

test("a wait for an answer can be aborted, and the call still happens", async () => {
  const session = await running.client.createSession({ seed: 1n });
  await using stream = new StepStream(session);
  await stream.reset();
  const stop = new AbortController();
  const step = stream.step([0], { signal: stop.signal });
  stop.abort();
  assert.equal((await refused(step)).codeName, "CANCELED");
  assert.equal((await stream.step([5])).infos.pieces![0], 2);
});

test("a closed stream takes no calls, and browsers have no streams", async () => {
  const session = await running.client.createSession({ seed: 1n });
  const stream = new StepStream(session);
  await stream.reset();
  await stream.close();
  await stream.close();
  assert.equal((await refused(stream.step([0]))).codeName, "CANCELED");
  const web = await connect(running.address, { transport: grpcWeb }).createSession();
  const error = await refused(new StepStream(web).reset());
  assert.match(error.rawMessage, /stream/);
});
