// Calls whose answers are lost: they are made again, and done once.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import { type Client, type Session, TetrionError, connect } from "../src/index.js";
import { grpc } from "../src/node.js";
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

const TRANSPORTS = [["gRPC", grpc], ["gRPC-Web", grpcWeb]] as const;
const BREAKS: Break[] = ["before the request", "after the answer"];

async function refused(call: Promise<unknown>): Promise<TetrionError> {
  const error = await call.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof TetrionError, `expected a refusal, found ${error}`);
  return error;
}

/** Makes a call whose connection breaks, and checks that it did. */
async function broken<Answer>(when: Break, call: () => Promise<Answer>): Promise<Answer> {
  const before = breaking.broken;
  breaking.next = when;
  const answer = await call();
  assert.equal(breaking.broken, before + 1, `the connection broke ${when}`);
  return answer;
}

/** A client that has had an answer over the connection that breaks. */
async function connected(transport: typeof grpc, patience = 10): Promise<Client> {
  const client = connect(breaking.address, { transport, patience });
  await client.serverInfo();
  return client;
}

const SESSION = { numEnvs: 2, envSeeds: [5n, 6n], rules: { height: 8 } };

test("a game whose connection breaks at every call is the game of a connection that holds", async () => {
  for (const [name, transport] of TRANSPORTS) {
    const client = await connected(transport);
    const whole = await running.client.createSession(SESSION);
    const session = await broken("after the answer", () => client.createSession(SESSION));
    const both = async <Answer>(call: (session: Session) => Promise<Answer>, when: Break, words: string) => {
      const expected = await call(whole);
      assert.deepEqual(await broken(when, () => call(session)), expected, `${name}, ${words} ${when}`);
      return expected;
    };
    for (const when of BREAKS) {
      await both((session) => session.reset(), when, "reset");
      for (const action of [3, 0, 7]) {
        await both((session) => session.step([action, action]), when, `step ${action}`);
        await both((session) => session.step([action], { envIds: [1] }), when, `step ${action} of one`);
      }
      await both((session) => session.enumeratePlacements({ features: ["holes"] }), when, "placements");
      const states = await both((session) => session.saveState(), when, "save");
      await both((session) => session.restoreState({ snapshots: states }, { reseed: 3n }), when, "restore");
      const { infos } = await both((session) => session.step([1, 2]), when, "step after restore");
      assert.deepEqual(infos.pieces, new Float64Array([4, 7]), name);
      await both((session) => session.render(), when, "render");
    }
    // Both counted the same calls: those that were lost count once.
    assert.equal(session.sequenceNumber, whole.sequenceNumber, name);
    assert.equal((await client.getSession(session.name)).sequenceNumber, whole.sequenceNumber, name);
    await broken("after the answer", () => client.deleteSession(session.name));
    await whole.close();
  }
});

test("a session whose answer is lost is made once", async () => {
  const client = await connected(grpc);
  const names = async () => {
    const found: string[] = [];
    for await (const { name } of client.listSessions()) {
      found.push(name);
    }
    return found;
  };
  const before = await names();
  const session = await broken("after the answer", () => client.createSession());
  assert.deepEqual((await names()).filter((name) => !before.includes(name)), [session.name]);
  await session.close();
});

test("without patience a lost call fails at once, and the next one goes on from where the session is", async () => {
  for (const [name, transport] of TRANSPORTS) {
    for (const [when, pieces] of [["before the request", 1], ["after the answer", 2]] as const) {
      const session = await (await connected(transport, 0)).createSession({ seed: 1n });
      await session.reset();
      const error = await broken(when, () => refused(session.step([0])));
      assert.deepEqual([error.reason, error.requestId], ["", ""], name);
      assert.equal((await session.step([5])).infos.pieces![0], pieces, `${name}, ${when}`);
      await session.close();
    }
  }
});

test("an aborted step ends the wait, and happens if it was sent", async () => {
  const session = await running.client.createSession({ seed: 1n });
  await session.reset();
  const sent = new AbortController();
  const step = session.step([0], { signal: sent.signal });
  await new Promise((resolve) => setImmediate(resolve));
  sent.abort();
  assert.equal((await refused(step)).codeName, "CANCELED");
  assert.equal((await session.step([5])).infos.pieces![0], 2);
  assert.equal((await refused(session.step([0], { signal: AbortSignal.abort() }))).codeName, "CANCELED");
  assert.equal((await session.step([3])).infos.pieces![0], 3);
  await session.close();
});

test("calls that are made at once run in order, and an aborted one does not hold up the others", async () => {
  const session = await running.client.createSession({ numEnvs: 2, seed: 1n });
  await session.reset();
  const stop = new AbortController();
  const steps = [session.step([0], { envIds: [0] }), session.step([1], { envIds: [1], signal: stop.signal }), session.step([2], { envIds: [0] }), session.saveState()];
  stop.abort();
  const [first, aborted, third, states] = await Promise.allSettled(steps);
  assert.deepEqual([first!.status, aborted!.status, third!.status, states!.status], ["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  assert.deepEqual((await session.step([3, 3])).infos.pieces, new Float64Array([3, 1]));
  await session.close();
});

test("another client's steps are noticed, not played over", async () => {
  const session = await running.client.createSession({ seed: 1n });
  await session.reset();
  const other = await running.client.getSession(session.name);
  assert.equal(other.sequenceNumber, 1n);
  await other.step([0]);
  assert.equal((await refused(session.step([1]))).reason, "SEQUENCE_MISMATCH");
  const again = await running.client.getSession(session.name);
  assert.equal((await again.step([5])).infos.pieces![0], 2);
  await session.close();
});

test("a server that has never answered is given up at once", async () => {
  const began = performance.now();
  const error = await refused(connect("127.0.0.1:1", { transport: grpc }).createSession());
  assert.equal(error.codeName, "UNAVAILABLE");
  assert.ok(performance.now() - began < 5000);
});

test("a session closes without its server", async () => {
  const leaving = await Running.start();
  const session = await leaving.client.createSession();
  await leaving.stop();
  await session.close();
});
