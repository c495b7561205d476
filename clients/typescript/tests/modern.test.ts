// Modern Tetris as programs see it: places under roofs, spins, a held piece, what clears are worth, and the keys to it all.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import { create } from "@bufbuild/protobuf";

import { type Placements, KEYS, actionOf, connect, keysOf, placementOf } from "../src/index.js";
import { ActionModel, Reach, type Rules, RulesSchema, SpinRule } from "../src/protocol.js";
import { grpcWeb } from "../src/web.js";
import { Running } from "./support.js";

let running: Running;
let rules: Rules;

before(async () => {
  running = await Running.start();
  const { rulesPresets } = await running.client.catalog();
  rules = rulesPresets.find(({ name }) => name === "guideline")!.rules!;
});
after(() => running.stop());

// A T fits into the notch only by a turn; the I is held.
const NOTCH = { rows: ["...#......", "#...######", "##.#######"], piece: "T", held: "I" };
/** It points down, its leftmost cell in the second column, its lowest on the floor. */
const TSPIN_DOUBLE = { orientation: 2, column: 1, row: 0, spin: 2, hold: false };

const rowOf = ({ actions }: Placements, action: number) => actions.indexOf(action);

test("placements say what they are", async () => {
  const options = { includeCells: true, features: ["lines_cleared"] };
  const found = await running.client.enumeratePlacements({ rules: { preset: "guideline" }, drawings: [NOTCH] }, options);
  const row = rowOf(found, actionOf(rules, TSPIN_DOUBLE));
  assert.notEqual(row, -1);
  assert.deepEqual([found.lines[row], found.rewards[row], found.attacks![row], found.spins![row], found.holds![row]], [2, 1200, 4, 2, 0]);
  for (const [at, action] of found.actions.entries()) {
    const placement = placementOf(rules, action);
    assert.equal(actionOf(rules, placement), action);
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
        const { orientation, column, row, spin, hold } = placementOf(rules!, number);
        assert.equal(actionOf(rules!, { orientation, column, row, spin, hold }), number);
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
  const { rulesPresets } = await running.client.catalog();
  const simplified = rulesPresets[0]!.rules!;
  assert.deepEqual(placementOf(simplified, 23), { orientation: 2, column: 3, row: undefined, spin: 0, hold: false });
  for (const action of plain.actions) {
    assert.equal(actionOf(simplified, placementOf(simplified, action)), action);
  }
});

test("the numbers of other choices of the rules", () => {
  // Two rows above the field of four: six rows of playfield and the one above it have places.
  const low = { ...rules, width: 5, height: 6, rowsAbove: 2 };
  assert.deepEqual(placementOf(low, ((3 * 5 + 4) * 7 + 6) * 3 + 1), { orientation: 3, column: 4, row: 6, spin: 1, hold: false });
  assert.equal(actionOf({ ...low, spinRule: 1 }, { orientation: 3, column: 4, row: 6, spin: 0, hold: true }), (3 * 5 + 4) * 7 + 6 + 4 * 5 * 7);
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

test("numbers that rules do not have are refused, on both sides of each bound", async () => {
  const { rulesPresets } = await running.client.catalog();
  const simplified = rulesPresets[0]!.rules!;
  // 4 orientations, 10 columns, 24 rows, 3 spins, 2 pieces; 4 orientations and 10 columns.
  for (const [of, most] of [[rules, 5759], [{ ...rules, hold: false }, 2879], [{ ...rules, hold: false, spinRule: SpinRule.NONE }, 959], [simplified, 39]] as const) {
    for (const number of [0, most]) {
      assert.equal(actionOf(of, placementOf(of, number)), number);
    }
    for (const number of [-1, most + 1, 0.5, NaN, Infinity]) {
      assert.throws(() => placementOf(of, number), new TypeError(`placement is ${number}, expected an integer from 0 to ${most}`));
    }
  }
  const corner = { orientation: 3, column: 9, row: 23, spin: 2, hold: true };
  assert.equal(actionOf(rules, corner), 5759);
  for (const [part, message] of [
    [{ orientation: 4 }, "orientation is 4, expected an integer from 0 to 3"],
    [{ orientation: -1 }, "orientation is -1, expected an integer from 0 to 3"],
    [{ column: 10 }, "column is 10, expected an integer from 0 to 9"],
    [{ column: -1 }, "column is -1, expected an integer from 0 to 9"],
    [{ column: 1.5 }, "column is 1.5, expected an integer from 0 to 9"],
    [{ row: 24 }, "row is 24, expected an integer from 0 to 23"],
    [{ row: -1 }, "row is -1, expected an integer from 0 to 23"],
    [{ row: undefined }, "row is undefined, expected an integer from 0 to 23"],
    [{ spin: 3 }, "spin is 3, expected an integer from 0 to 2"],
    [{ spin: -1 }, "spin is -1, expected an integer from 0 to 2"],
    [{ hold: undefined as unknown as boolean }, "hold is undefined, expected true or false"],
  ] as const) {
    assert.throws(() => actionOf(rules, { ...corner, ...part }), new TypeError(message));
  }
  const plain = { orientation: 3, column: 9, row: undefined, spin: 0, hold: false };
  assert.equal(actionOf(simplified, plain), 39);
  for (const [part, message] of [
    [{ row: 0 }, "row is 0, expected undefined: under these rules a piece drops, and the column says where it lands"],
    [{ spin: 1 }, "spin is 1, expected 0"],
    [{ hold: true }, "hold is true, expected false: these rules have no hold"],
  ] as const) {
    assert.throws(() => actionOf(simplified, { ...plain, ...part }), new TypeError(message));
  }
});

test("rules without every field are refused, not taken for others", () => {
  for (const [part, found] of [
    [{ width: undefined }, "width is undefined"],
    [{ height: undefined }, "height is undefined"],
    [{ rowsAbove: undefined }, "rowsAbove is undefined"],
    [{ reach: undefined }, "reach is undefined"],
    [{ reach: Reach.UNSPECIFIED }, "reach is 0"],
    [{ spinRule: undefined }, "spinRule is undefined"],
    [{ spinRule: SpinRule.UNSPECIFIED }, "spinRule is 0"],
    [{ hold: undefined }, "hold is undefined"],
  ] as const) {
    const lacking = { ...rules, ...part } as Rules;
    const message = `rules.${found}, expected rules with every field, as session.rules has them`;
    assert.throws(() => placementOf(lacking, 0), new TypeError(message));
    assert.throws(() => actionOf(lacking, TSPIN_DOUBLE), new TypeError(message));
  }
  assert.throws(() => placementOf(create(RulesSchema, { preset: "guideline" }), 0), /rules.width is undefined/);
});

test("the keys to each placement, or to a chosen one", async () => {
  for (const client of [running.client, connect(running.address, { transport: grpcWeb })]) {
    const session = await client.createSession({ rules: { preset: "guideline" } });
    await session.restoreState({ drawings: [NOTCH] });
    const all = await session.enumeratePlacements({ includeKeys: true });
    const action = actionOf(rules, TSPIN_DOUBLE);
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
  const spun = await session.step([actionOf(rules, TSPIN_DOUBLE)]);
  const { attack, combo, back_to_back, spin, lines } = spun.infos;
  assert.deepEqual([attack![0], combo![0], back_to_back![0], spin![0], lines![0]], [4n, 1, 1, 2, 2n]);
  assert.deepEqual([...spun.observations.held!], [0]);
  const { actions, holds } = await session.enumeratePlacements();
  const held = await session.step([actions[holds!.indexOf(1)]!]);
  assert.deepEqual([...held.observations.held!], [...spun.observations.current!]);
  assert.deepEqual([held.infos.combo![0], held.infos.back_to_back![0], held.infos.spin![0]], [0, 1, 0]);
});
