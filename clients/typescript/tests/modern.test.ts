// Modern Tetris as programs see it: places under roofs, spins, a held piece, what clears are worth, and the keys to it all.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import { type ActionDigits, type Placements, KEYS, connect, decodeAction, encodeAction, keysOf, placementOf } from "../src/index.js";
import { ActionModel } from "../src/protocol.js";
import { grpcWeb } from "../src/web.js";
import { Running } from "./support.js";

let running: Running;
let digits: ActionDigits;

before(async () => {
  running = await Running.start();
  const session = await running.client.createSession({ rules: { preset: "guideline" } });
  digits = session.actionDigits;
  await session.close();
});
after(() => running.stop());

// A T fits into the notch only by a turn; the I is held.
const NOTCH = { rows: ["...#......", "#...######", "##.#######"], piece: "T", held: "I" };
/** It points down, its leftmost cell in the second column, its lowest on the floor. */
const TSPIN_DOUBLE = { orientation: 2, column: 1, row: 0, spin: 2 };

const rowOf = ({ actions }: Placements, action: number) => actions.indexOf(action);

test("placements say what they are", async () => {
  const options = { includeCells: true, features: ["lines_cleared"] };
  const found = await running.client.enumeratePlacements({ rules: { preset: "guideline" }, drawings: [NOTCH] }, options);
  const row = rowOf(found, encodeAction(digits, TSPIN_DOUBLE));
  assert.notEqual(row, -1);
  assert.deepEqual([found.lines[row], found.rewards[row], found.attacks![row], found.spins![row], found.holds![row]], [2, 1200, 4, 2, 0]);
  for (const [at, action] of found.actions.entries()) {
    const placement = placementOf(found, at);
    assert.equal(encodeAction(digits, decodeAction(digits, action)), action);
    const cells = [0, 1, 2, 3].map((cell) => [...found.cells!.subarray(8 * at + 2 * cell, 8 * at + 2 * cell + 2)]);
    const place = [Math.min(...cells.map(([row]) => row!)), Math.min(...cells.map(([, column]) => column!))];
    assert.deepEqual([placement.row, placement.column], place, `${action}`);
    assert.deepEqual([placement.spin, Number(placement.hold)], [found.spins![at], found.holds![at]], `${action}`);
    assert.ok(!placement.hold || placement.orientation < 2, "the held I lies or stands");
  }
  assert.ok(found.holds!.includes(1) && found.holds!.includes(0));
});

test("the numbers of placements say where their cells are, by every preset", async () => {
  const { rulesPresets } = await running.client.catalog();
  let tried = 0;
  for (const { name, rules } of rulesPresets.filter(({ rules }) => rules!.actionModel === ActionModel.PLACEMENT && rules!.pieceSet === "tetrominoes")) {
    for (const piece of "IOTZSJL") {
      const held = rules!.hold ? { held: piece === "J" ? "L" : "J" } : {};
      const found = await running.client.enumeratePlacements({ rules: { preset: name }, drawings: [{ rows: ["##.####.#.".slice(0, rules!.width)], piece, ...held }] }, { includeCells: true });
      const shapes = new Map<string, string>();
      for (const [at, number] of found.placements.entries()) {
        const { orientation, column, row, spin, hold } = placementOf(found, at);
        const cells = [0, 1, 2, 3].map((cell) => [...found.cells!.subarray(8 * at + 2 * cell, 8 * at + 2 * cell + 2)]);
        const [lowest, leftmost] = [0, 1].map((axis) => Math.min(...cells.map((cell) => cell[axis]!))) as [number, number];
        assert.deepEqual([row ?? lowest, column], [lowest, leftmost], `${name} ${piece} ${number}`);
        assert.deepEqual([spin, Number(hold)], [found.spins?.[at] ?? 0, found.holds?.[at] ?? 0], `${name} ${piece} ${number}`);
        // An orientation is one shape, and no other one is.
        const shape = cells.map(([row, column]) => [row! - lowest, column! - leftmost]).sort().join(" ");
        const key = `${hold} ${orientation}`;
        assert.equal(shapes.get(key) ?? shape, shape, `${name} ${piece} ${number}`);
        shapes.set(key, shape);
        tried++;
      }
      assert.equal(new Set([...shapes].map(([key, shape]) => key.slice(0, 5) + shape)).size, shapes.size, `${name} ${piece}`);
    }
  }
  assert.ok(tried > 1000, `${tried}`);
});

test("where nothing but the column can be chosen, numbers say nothing more", async () => {
  const plain = await running.client.enumeratePlacements({ drawings: [{ rows: [], piece: "T" }] });
  assert.deepEqual([plain.spins, plain.holds, plain.attacks, plain.keys], [undefined, undefined, undefined, undefined]);
  assert.deepEqual(plain.placementDigits.map(({ name, size }) => [name, size]), [["orientation", 4], ["column", 10]]);
  const row = plain.placements.indexOf(23);
  assert.deepEqual(placementOf(plain, row), { orientation: 2, column: 3, row: undefined, spin: 0, hold: false });
  assert.throws(() => placementOf(plain, plain.placements.length), /is not one of 34 placements/);
});

test("the digits of other choices of the rules", async () => {
  // Three rows above the field of four: seven rows of playfield and the one above it have places.
  const low = { preset: "guideline", width: 5, height: 7, rowsAbove: 3 };
  for (const [rules, expected] of [
    [low, { hold: 2, orientation: 4, column: 5, row: 8, spin: 3 }],
    [{ ...low, spinRule: "none", hold: false }, { orientation: 4, column: 5, row: 8 }],
    [{ preset: "lab" }, { key: 6 }],
  ] as const) {
    const session = await running.client.createSession({ rules: rules as object });
    assert.deepEqual(Object.fromEntries(session.actionDigits.map(({ name, size }) => [name, size])), expected);
    assert.equal(session.actionDigits.reduce((product, { size }) => product * size, 1), session.description.actionSpec!.high! + 1);
    await session.close();
  }
});

test("a game key by key shows the state of the piece", async () => {
  const session = await running.client.createSession({ rules: { preset: "guideline", actionModel: ActionModel.KEYPRESS, fallDelay: 40 }, numEnvs: 2 });
  const { observations } = await session.reset();
  assert.equal(observations.piece_state!.length, 16);
  assert.deepEqual([...observations.piece_state!.subarray(8, 14)], [0, 0, 40, 30, 15, 15], "as it appears: steps until it falls and locks, resets and lifts");
  const held = await session.step([9, 0]);
  assert.deepEqual([held.observations.piece_state![7], held.observations.piece_state![15]], [1, 0], "another one was held for the first");
  assert.equal(held.observations.piece_state![10], 39, "a step nearer to falling");
  await session.close();
});

test("numbers that actions do not have are refused, on both sides of each bound", () => {
  for (const number of [0, 5759]) {
    assert.equal(encodeAction(digits, decodeAction(digits, number)), number);
  }
  for (const number of [-1, 5760, 0.5, NaN, Infinity]) {
    assert.throws(() => decodeAction(digits, number), new TypeError(`action is ${number}, expected an integer from 0 to 5759`));
  }
  const corner = { orientation: 3, column: 9, row: 23, spin: 2, hold: 1 };
  assert.equal(encodeAction(digits, corner), 5759);
  assert.deepEqual(decodeAction(digits, 5759), corner);
  for (const [part, message] of [
    [{ orientation: 4 }, "orientation is 4, expected an integer from 0 to 3"],
    [{ column: -1 }, "column is -1, expected an integer from 0 to 9"],
    [{ column: 1.5 }, "column is 1.5, expected an integer from 0 to 9"],
    [{ row: 24 }, "row is 24, expected an integer from 0 to 23"],
    [{ spin: 3 }, "spin is 3, expected an integer from 0 to 2"],
    [{ hold: 2 }, "hold is 2, expected an integer from 0 to 1"],
    [{ colum: 3 }, "colum is no digit of an action, expected hold, orientation, column, row, spin"],
  ] as const) {
    assert.throws(() => encodeAction(digits, { ...corner, ...part }), new TypeError(message));
  }
});

test("the keys to each placement, or to a chosen one", async () => {
  for (const client of [running.client, connect(running.address, { transport: grpcWeb })]) {
    const session = await client.createSession({ rules: { preset: "guideline" } });
    await session.restoreState({ drawings: [NOTCH] });
    const all = await session.enumeratePlacements({ includeKeys: true });
    const action = encodeAction(digits, TSPIN_DOUBLE);
    const row = rowOf(all, action);
    const keys = keysOf(all, row);
    assert.ok(keys.at(-1) === "hard_drop" && keys.includes("turn_left") !== keys.includes("turn_right"), `${keys}`);
    for (let at = 0; at < all.actions.length; at++) {
      assert.equal(keysOf(all, at)[0] === "hold", all.holds![at] === 1);
    }
    const chosen = await session.enumeratePlacements({ includeKeys: true, actions: [action] });
    assert.deepEqual([...chosen.actions], [action]);
    assert.deepEqual(keysOf(chosen, 0), keys);
    assert.throws(() => keysOf(chosen, 1), /row 1 is not one of 1 placements/);
    const without = await session.enumeratePlacements({ actions: Int32Array.of(action) });
    assert.throws(() => keysOf(without, 0), /no keys were asked for/);
    await session.close();
  }
  assert.equal(KEYS.length, 12);
});

test("a session shows what is held, and what clears were", async () => {
  const session = await running.client.createSession({ rules: { preset: "guideline" }, pieceSequences: ["TOS"] });
  const first = await session.reset();
  assert.deepEqual([...first.observations.held!], [-1]);
  await session.restoreState({ drawings: [NOTCH] });
  const spun = await session.step([encodeAction(digits, TSPIN_DOUBLE)]);
  const { attack, combo, back_to_back, spin, lines } = spun.infos;
  assert.deepEqual([attack![0], combo![0], back_to_back![0], spin![0], lines![0]], [4, 1, 1, 2, 2]);
  assert.deepEqual([...spun.observations.held!], [0]);
  const { actions, holds } = await session.enumeratePlacements();
  const held = await session.step([actions[holds!.indexOf(1)]!]);
  assert.deepEqual([...held.observations.held!], [...spun.observations.current!]);
  assert.deepEqual([held.infos.combo![0], held.infos.back_to_back![0], held.infos.spin![0]], [0, 1, 0]);
});
