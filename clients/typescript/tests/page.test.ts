// The parts of the page that need no screen: what a person points at, what controllers choose, which words things have.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import { create } from "@bufbuild/protobuf";

import { Reader, readAddress, seedOf, wholeNumber, writeAddress } from "../page/address.js";
import { Aim, type Place, placesOf } from "../page/aim.js";
import { App } from "../page/app.js";
import { Field, GIVEN } from "../page/field.js";
import { foreseen, moved } from "../page/foresight.js";
import { type Act, Keyboard, Repeats } from "../page/keyboard.js";
import { type Hand, boardOf, choosing, comingInWords, handOf } from "../page/pieces.js";
import { type Chosen, STEPS_PER_SECOND, TIMING, allowsMatches, choicesOf, chosenOf, configOf, measuresOf, readChosen, sizeInWords, tetrominoPresets, visibleRows } from "../page/rules.js";
import { RULES_FIELDS, messageOf } from "../page/rules_fields.js";
import { curveOf, unitOf } from "../page/runs.js";
import { axisOf, brief } from "../page/scale.js";
import { snippets } from "../page/snippets.js";
import { survivalOf } from "../page/survival.js";
import { NOTHING, deedInWords, endInWords, nameOf } from "../page/tally.js";
import { termsOf } from "../page/terms.js";
import { type Cell, DRAWINGS, LETTERS, turned } from "../page/tetromino.js";
import { type Weighing, cellsOf, judgementOf, leads, policyOfWeights, runnerUp, tiesInWords } from "../page/weighing.js";
import { AttackTable, AutoresetMode, ClearPoints, HalfTurns, Randomizer, RandomizerSchema, type Rules, RulesPresetSchema, RulesSchema, ScoringSchema, SpinRule } from "../src/protocol.js";
import { Running } from "./support.js";

let running: Running;
let app: App;

before(async () => {
  running = await Running.start();
  app = new App(running.client, await running.client.serverInfo(), await running.client.catalog(), {}, () => undefined);
});
after(() => running.stop());

/** The rules of a preset with some of its choices changed, and every field. */
async function rulesOf(preset: string, choice: Partial<Chosen> = {}): Promise<Rules> {
  const chosen = { ...chosenOf(app.catalog.rulesPresets.find(({ name }) => name === preset)!), ...choice };
  const session = await running.client.createSession(configOf(app, chosen));
  await session.close();
  return session.description.config!.rules!;
}

/** The placements of a drawn position, and where they are. */
async function drawn(rules: Rules, drawing: { rows: string[]; piece: string; queue?: string; held?: string }): Promise<Place[]> {
  return placesOf(await running.client.enumeratePlacements({ rules, drawings: [drawing] }, { includeCells: true }));
}

/** Numbers that are as good as random, and the same each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Every place that the keys lead to: each way round, each column, each place below it, and the same after holding. */
function pointedAt(aim: Aim): Set<number> {
  const seen = new Set<number>();
  for (let hand = 0; hand < 2; hand++) {
    for (let turns = 0; turns < 4; turns++) {
      for (const toTheRight of [false, true]) {
        for (let column = 0; column < 10; column++) {
          const first = aim.place.at;
          do {
            seen.add(aim.place.at);
            aim.deepen();
          } while (aim.place.at !== first);
          aim.shift(toTheRight);
        }
      }
      aim.turn(1);
    }
    aim.swap();
  }
  return seen;
}

test("keys lead to every placement", async () => {
  const random = numbers(17);
  const cases = [["guideline", {}], ["guideline", { changes: { half_turns: "tetrio" }, width: 7 }], ["genetic", {}], ["simplified", { width: 5 }], ["leiden", {}]] as const;
  let count = 0;
  for (const [preset, choice] of cases) {
    const rules = await rulesOf(preset, choice);
    for (let game = 0; game < 60; game++) {
      // Rows with some holes, as high as the lower half.
      const high = Math.floor(random() * 10);
      const rows = Array.from({ length: high }, () => Array.from({ length: rules.width! }, () => (random() < 0.55 ? "#" : ".")).join("").replace(/^#+$/, ".".repeat(rules.width!)));
      const [piece, held] = [LETTERS[Math.floor(random() * 7)]!, LETTERS[Math.floor(random() * 7)]!];
      const places = await drawn(rules, { rows, piece, ...(rules.hold === true && { held }) });
      if (places.length === 0) {
        continue; // a drawing on which the game is over
      }
      const found = pointedAt(new Aim(rules, places));
      assert.deepEqual([...found].sort((a, b) => a - b), places.map(({ at }) => at), `${preset} ${piece} ${held}\n${rows.join("\n")}`);
      count += places.length;
    }
  }
  assert.ok(count > 5000, `${count} placements`);
});

test("a T is turned under a roof, and counts as what is most", async () => {
  const rules = await rulesOf("guideline");
  const places = await drawn(rules, { rows: ["...#......", "#...######", "##.#######"], piece: "T", held: "I" });
  const aim = new Aim(rules, places);
  const at = () => (({ orientation, column, row, spin, hold }: Place) => ({ orientation, column, row, spin, hold }))(aim.place);
  assert.deepEqual(at(), { orientation: 0, column: 3, row: 3, spin: 0, hold: false });
  aim.turn(1);
  aim.turn(1);
  aim.shift(false);
  aim.shift(false);
  const down = [];
  for (let step = 0; step < 3; step++) {
    down.push([at().orientation, at().column, at().row, at().spin]);
    aim.deepen();
  }
  // On top of the roof first, then under it with the spin, and then round again.
  assert.deepEqual(down, [[2, 1, 2, 0], [2, 1, 0, 2], [2, 1, 2, 0]]);
  assert.equal(aim.swap(), true);
  assert.deepEqual([at().hold, at().orientation, at().column, at().row], [true, 0, 3, 3]);
  aim.turn(2);
  assert.equal(at().orientation, 0, "half a turn of an I looks the same");
  assert.equal(aim.swap(), true);
  assert.deepEqual([at().hold, at().orientation], [false, 0]);
  const same = new Aim(rules, await drawn(rules, { rows: [], piece: "T", held: "T" }));
  assert.equal(same.swap(), false, "there is nothing to hold it for");
  assert.equal(same.place.hold, false);
});

test("turns go round as they are called, by every table of orientations", async () => {
  const drawing = ({ cells }: Place) => turned(cells, 0).map(String).sort().join(" ");
  const counterClockwise = ({ cells }: Place, turns: number) => turned(cells, turns).map(String).sort().join(" ");
  for (const { name, rules: preset } of tetrominoPresets(app).filter(({ rules }) => rules?.actionModel === 1)) {
    const rules = await rulesOf(name);
    for (const piece of LETTERS) {
      for (const [quarters, turns] of [[1, 3], [2, 2], [3, 1]] as const) {
        const aim = new Aim(rules, await drawn(rules, { rows: [], piece }));
        for (let step = 0; step < 4; step++) {
          const before = aim.place;
          aim.turn(quarters);
          assert.equal(drawing(aim.place), counterClockwise(before, turns), `${name} ${piece} ${quarters} ${preset?.orientationTable}`);
        }
      }
    }
  }
});

/** Places of a T in these orientations on the floor; `order` has the orientations by quarter turns to the right. */
function lying(order: readonly number[], orientations: readonly number[]): Place[] {
  return orientations.map((orientation, at) => {
    const cells = turned(DRAWINGS[LETTERS.indexOf("T")]!, 4 - order.indexOf(orientation));
    return { at, orientation, column: 3, row: 0, spin: 0, hold: false, cells: cells.map(([row, column]) => [row, column + 3] as const) };
  });
}

test("a turn skips orientations without a placement, and never stops on one", async () => {
  const orders = { guideline: [0, 1, 2, 3], simplified: [0, 3, 2, 1], genetic: [0, 1, 3, 2] };
  for (const [preset, has, quarters, way] of [
    ["guideline", [2], 1, [2, 2]],
    ["guideline", [2], 2, [2, 2]],
    ["guideline", [2], 3, [2, 2]],
    // Without 1, a quarter to the right leads to 2 and one to the left from there to 0.
    ["guideline", [0, 2, 3], 1, [2, 3, 0, 2]],
    ["guideline", [0, 2, 3], 3, [3, 2, 0, 3]],
    ["guideline", [0, 2, 3], 2, [2, 0, 2]],
    // Half a turn to where there is nothing leaves it as it is.
    ["guideline", [0, 1, 3], 2, [0, 0]],
    // Counter-clockwise numbers: 0 3 2 1 by quarters to the right.
    ["simplified", [0, 2, 3], 1, [3, 2, 0, 3]],
    ["simplified", [0, 2, 3], 3, [2, 3, 0, 2]],
    // 0 1 3 2.
    ["genetic", [0, 2, 3], 1, [3, 2, 0, 3]],
    ["genetic", [1], 3, [1, 1]],
  ] as const) {
    const aim = new Aim(await rulesOf(preset), lying(orders[preset], has));
    const turned = way.map(() => {
      aim.turn(quarters);
      return aim.place.orientation;
    });
    assert.deepEqual(turned, way, `${preset}, placements in ${has}, ${quarters} quarters`);
  }
});

test("keys never lead to where there is no placement, up to the end of a game", async () => {
  const random = numbers(29);
  let fewer = 0;
  for (const [preset, height] of [["genetic", 6], ["nes", 6], ["guideline", 5]] as const) {
    const chosen = { ...chosenOf(app.catalog.rulesPresets.find(({ name }) => name === preset)!), height };
    const envSeeds = Array.from({ length: 20 }, (_, seed) => BigInt(seed));
    const session = await running.client.createSession({ ...configOf(app, chosen), envSeeds, numEnvs: envSeeds.length, autoresetMode: AutoresetMode.NEXT_STEP });
    const rules = session.description.config!.rules!;
    let { observations } = await session.reset();
    for (let piece = 0; piece < 60; piece++) {
      const found = await session.enumeratePlacements({ includeCells: true });
      const actions = envSeeds.map((seed, env) => {
        const places = placesOf(found, env);
        if (places.length === 0) {
          return 0; // the game is over, and another one begins
        }
        const hand = handOf(observations, rules, env);
        const aim = new Aim(rules, places);
        for (let press = 0; press < 12; press++) {
          const deed = Math.floor(random() * 7);
          const words = `${preset}, seed ${seed}, piece ${piece}, key ${press}`;
          if (deed < 3) {
            aim.turn(([1, 2, 3] as const)[deed]!);
          } else if (deed < 5) {
            aim.shift(deed === 3);
          } else if (deed === 5) {
            aim.deepen();
          } else {
            aim.swap();
          }
          assert.equal(places[aim.place.at - found.rowOffsets[env]!], aim.place, words);
        }
        const ways = new Set(places.filter(({ hold }) => !hold).map(({ orientation }) => orientation)).size;
        fewer += ways < new Set([0, 1, 2, 3].map((turns) => turned(DRAWINGS[hand.current]!, turns).map(String).sort().join())).size ? 1 : 0;
        return found.actions[aim.place.at]!;
      });
      ({ observations } = await session.step(actions));
    }
    await session.close();
  }
  assert.ok(fewer > 50, `${fewer} pieces could not be placed in every orientation`);
});

test("controllers choose as they do in an evaluation, whatever they hold and weigh", async () => {
  const pieces = 40;
  const randomizers = RandomizerSchema.values.map(({ number }) => number).filter((number) => number !== Randomizer.UNSPECIFIED);
  let [held, followed] = [0, 0];
  for (const [name, preset, preview, height, randomizer] of [
    ["dellacherie", "guideline", 5, 20],
    ["tetrion-10x10-expectation", "guideline", 1, 6],
    ["tetrion-10x10-expectation", "guideline", 5, 20],
    ["tetrion-10x10-preview", "guideline", 1, 20],
    ["tetrion-10x10-preview", "guideline", 2, 5],
    ["tetrion-10x10-preview", "survey", 1, 6],
    // The piece after the one in play is not shown: its odds decide, whatever deals the pieces.
    ...randomizers.map((randomizer) => ["tetrion-10x10-expectation", "simplified", 0, 8, randomizer] as const),
  ] as const) {
    const chosen = { ...chosenOf(app.catalog.rulesPresets.find((other) => other.name === preset)!), preview, height };
    const asked = configOf(app, chosen);
    const config = { ...asked, rules: { ...asked.rules, ...(randomizer !== undefined && { randomizer }) } };
    const weighing: Weighing = await app.weighing(name, 10);
    const policy = app.policy(name, preview);
    for (const seed of [5n, 6n]) {
      let expected: readonly number[] = [];
      for await (const event of running.client.evaluate({ rules: config.rules, policies: [policy], seeds: [seed], maxPieces: BigInt(pieces), maxSteps: BigInt(pieces), includeRecordings: true })) {
        expected = event.case === "recording" ? event.value.recording!.actions : expected;
      }
      assert.ok(expected.length > 5, `${name} ${preset}: ${expected.length} actions`);
      const session = await running.client.createSession({ ...config, envSeeds: [seed], autoresetMode: AutoresetMode.DISABLED });
      const rules = session.description.config!.rules!;
      let hand = handOf((await session.reset()).observations, rules);
      for (const [piece, action] of expected.entries()) {
        // The weights of the sliders play like the controller by its name.
        const found = await session.enumeratePlacements({ policy: piece % 2 === 0 ? policy : policyOfWeights(weighing, preview) });
        const { best, first, values } = judgementOf(found);
        assert.equal(values[best - first], Math.max(...values));
        assert.equal(found.actions[best], action, `${name}, ${preset} ${randomizer ?? ""}, preview ${preview}, seed ${seed}, piece ${piece}`);
        const { observations } = await session.step([action]);
        held += found.holds?.[best] ?? 0;
        const after = choosing(hand, found.holds?.[best] === 1);
        hand = handOf(observations, rules);
        assert.equal(hand.held, after.held);
        if (after.next.length > 0 && piece + 1 < expected.length) {
          assert.equal(hand.current, after.next[0]);
          followed++;
        }
      }
      await session.close();
    }
  }
  assert.ok(held > 50 && followed > 300, `${held} held, ${followed} followed`);
});

test("pieces keep their colours when garbage rises below them, by placements and by keys", async () => {
  for (const byKeys of [false, true]) {
    const chosen = { ...chosenOf(app.catalog.rulesPresets.find(({ name }) => name === "guideline")!), byKeys, changes: { "garbage.lines_per_piece": "0.7" } };
    const session = await running.client.createSession({ ...configOf(app, chosen), envSeeds: [3n], autoresetMode: AutoresetMode.DISABLED });
    const rules = session.description.config!.rules!;
    let { observations } = await session.reset();
    const field = new Field(rules.width!, rules.height!);
    let [rows, pieces] = [0, 0];
    for (let piece = 0; piece < 12; piece++) {
      const kind = observations.current![0]!;
      const found = byKeys ? undefined : await session.enumeratePlacements({ includeCells: true });
      const falling = observations.falling_cells;
      const step = await session.step([found?.actions[(5 * piece) % found.actions.length] ?? 5]);
      const board = step.observations.board!;
      const was = [0, 2, 4, 6].map((at): Cell => [falling?.[at] ?? 0, falling?.[at + 1] ?? 0]);
      const landing = found ? cellsOf(found, (5 * piece) % found.actions.length) : field.landing(kind, was, board);
      assert.ok(landing !== undefined, `piece ${piece} was not found`);
      field.land(kind, landing, true);
      field.agree(board);
      pieces += 4;
      const given = field.cells.filter((cell) => cell === GIVEN).length;
      assert.equal(given % (rules.width! - 1), 0, `piece ${piece}: ${given} cells of garbage`);
      rows = given / (rules.width! - 1);
      assert.equal(field.cells.filter((cell) => cell !== 0).length, given + pieces);
      assert.deepEqual([...field.cells].map(Number).map((cell) => Number(cell !== 0)), [...board]);
      if (step.terminated[0] === 1) {
        break;
      }
      ({ observations } = step);
    }
    assert.ok(rows > 2, `${rows} rows rose`);
    await session.close();
  }
});

test("every other field of the rules is read from text, and written back as it was", async () => {
  const paths = RULES_FIELDS.map(({ path }) => path);
  assert.deepEqual(paths, [...new Set(paths)]);
  for (const { name, rules } of app.catalog.rulesPresets) {
    for (const { path, parse, read } of RULES_FIELDS) {
      const text = read(rules);
      if (text !== "") {
        const message = messageOf({ [path]: text });
        assert.equal(read(create(RulesSchema, message)), text, `${name} ${path}`);
        assert.throws(() => parse(`${text}?`), path === "half_turns" ? /^RangeError: one of none, tetrio, cobra$/ : RangeError, `${name} ${path}`);
      }
    }
  }
  const changes = { "scoring.lines": "0,1,2,9", hold: "no", spawn_row: "20", "garbage.lines_per_piece": "0.5", "garbage.delay_pieces": "2" };
  assert.deepEqual(messageOf(changes), { scoring: { lines: [0, 1, 2, 9] }, hold: false, spawnRow: 20, garbage: { linesPerPiece: 0.5, delayPieces: 2 } });
  const played = await rulesOf("guideline", { changes: { ...changes, hold: "yes" } });
  assert.deepEqual([played.spawnRow, played.garbage?.linesPerPiece, played.garbage?.delayPieces, played.scoring?.lines, played.scoring?.piece], [20, 0.5, 2, [0, 1, 2, 9], 0]);
});

test("a landing in words", () => {
  const [before, after] = [{ ...NOTHING, sent: 2 }, { ...NOTHING, sent: 2 }];
  const [T, S] = [LETTERS.indexOf("T"), LETTERS.indexOf("S")];
  for (const [words, kind, was, is, isEmpty] of [
    ["", T, {}, {}, false],
    ["Single", T, {}, { lines: 1, combo: 1 }, false],
    ["Double, 1 line sent", T, {}, { lines: 2, sent: 3, combo: 1 }, false],
    ["Tetris, 4 lines sent", T, {}, { lines: 4, sent: 6, combo: 1, backToBack: 1 }, false],
    ["T-spin", T, {}, { spin: 2 }, false],
    ["Mini T-spin single, back-to-back", T, { backToBack: 1 }, { lines: 1, spin: 1, combo: 1, backToBack: 2 }, false],
    ["T-spin double, 6 lines sent, back-to-back 2, combo 3", T, { backToBack: 2, combo: 3 }, { lines: 2, spin: 2, sent: 8, combo: 4, backToBack: 3 }, false],
    ["S-spin triple", S, { backToBack: 0 }, { lines: 3, spin: 2, combo: 1, backToBack: 1 }, false],
    ["T-spin", T, { backToBack: 3 }, { spin: 2, backToBack: 3 }, false],
    ["Tetris, 3 lines cancelled, 1 line sent", T, {}, { lines: 4, cancelled: 3, sent: 3, combo: 1, backToBack: 1 }, false],
    ["Single, 6 lines sent, surge of 5", T, { backToBack: 6, surge: 4 }, { lines: 1, sent: 8, surge: 9, combo: 1 }, false],
    ["Triple, perfect clear, 10 lines sent, combo 1", T, { combo: 1, backToBack: 1 }, { lines: 3, sent: 12, combo: 2 }, true],
  ] as const) {
    assert.equal(deedInWords(kind, { ...before, ...was }, { ...after, ...is }, isEmpty), words);
  }
  assert.equal(deedInWords(T, NOTHING, { ...NOTHING, lines: 2 }, false), "", "where nothing is sent, lines say it all");
  assert.deepEqual([undefined, -1, 0, 1].map((won) => endInWords({ ...NOTHING, lines: 1200, sent: 3, won })), ["Topped out\n1,200 lines", "Lost\n3 lines sent", "Draw\n3 lines sent", "Won\n3 lines sent"]);
  assert.equal(nameOf(T, 0, 6), "6 lines", "a drawn playfield may have more full rows than a piece completes");
});

test("what is shown once a piece is held", () => {
  const hand: Hand = { current: 2, next: [0, 1, 3], held: -1, garbage: [2] };
  assert.deepEqual(choosing(hand, false), hand);
  assert.deepEqual(choosing(hand, true), { current: 0, next: [1, 3], held: 2, garbage: [2] });
  assert.deepEqual(choosing({ ...hand, held: 6 }, true), { current: 6, next: [0, 1, 3], held: 2, garbage: [2] });
});

/** A key without others, pressed once. */
const ALONE = { repeat: false, ctrlKey: false, metaKey: false, altKey: false };

test("shift alone holds when it is let go, and does nothing to the piece with another key", async () => {
  const [simplified, guideline] = [await rulesOf("simplified"), await rulesOf("guideline")];
  // `+` goes down, `-` is let go, `=` repeats, `*` is a click.
  for (const [events, acts] of [
    ["+Shift -Shift", ["hold"]],
    ["+Shift =Shift =Shift -Shift", ["hold"]],
    ["+Shift -Shift +Shift -Shift", ["hold", "hold"]],
    ["+Shift +Tab -Tab -Shift", []],
    ["+Shift +Tab -Shift -Tab", []],
    ["+Shift +Tab -Tab =Shift -Shift", []],
    ["+Shift +Tab -Tab -Shift +Shift -Shift", ["hold"]],
    ["+Shift +H -H -Shift", ["hint"]],
    ["+Shift +ArrowLeft -ArrowLeft -Shift", ["left"]],
    ["+ArrowLeft +Shift -ArrowLeft -Shift", ["left", "hold"]],
    ["+Shift * -Shift", []],
    ["+Shift +Control -Control -Shift", []],
    ["-Shift", []],
  ] as const) {
    const keyboard = new Keyboard();
    const done = events.split(" ").map((event) => {
      const [way, key] = [event.charAt(0), event.slice(1)];
      if (way === "*") {
        return keyboard.interrupt();
      }
      return way === "-" ? keyboard.up({ key }, guideline) : keyboard.down({ ...ALONE, key, repeat: way === "=" }, guideline);
    });
    assert.deepEqual(done.filter((act) => act !== undefined), acts, events);
  }
  const keyboard = new Keyboard();
  keyboard.down({ ...ALONE, key: "Shift", ctrlKey: true }, guideline);
  assert.equal(keyboard.up({ key: "Shift" }, guideline), undefined, "control and shift are another pair");
  keyboard.down({ ...ALONE, key: "Shift" }, simplified);
  assert.equal(keyboard.up({ key: "Shift" }, simplified), undefined, "there is no hold");
});

test("keys by the rules", async () => {
  const [simplified, guideline, turning] = [await rulesOf("simplified"), await rulesOf("guideline"), await rulesOf("guideline", { changes: { half_turns: "cobra" } })];
  for (const [key, plain, modern, halves] of [
    ["ArrowUp", "turn", "turn", "turn"], ["X", "turn", "turn", "turn"], ["z", "turnLeft", "turnLeft", "turnLeft"],
    ["a", "left", "left", "turnHalf"], ["c", undefined, "hold", "hold"], ["C", undefined, "hold", "hold"], [" ", "drop", "drop", "drop"], ["ArrowDown", "down", "down", "down"], ["q", undefined, undefined, undefined], ["Tab", undefined, undefined, undefined],
  ] as const) {
    for (const [rules, act] of [[simplified, plain], [guideline, modern], [turning, halves]] as const) {
      assert.equal(new Keyboard().down({ ...ALONE, key }, rules), act, key);
      assert.equal(new Keyboard().down({ ...ALONE, key, ctrlKey: true }, rules), undefined, `control ${key}`);
    }
  }
  assert.equal(new Keyboard().down({ ...ALONE, key: "c", repeat: true }, guideline), undefined, "a key that is held down holds once");
  // The page has repeats of its own, with a delay that can be chosen.
  for (const [key, act] of [["ArrowLeft", undefined], [" ", undefined], ["ArrowUp", undefined], ["n", undefined], ["u", "undo"]] as const) {
    assert.equal(new Keyboard().down({ ...ALONE, key, repeat: true }, guideline), act, `${key} is held down`);
  }
});

test("keys that are held down repeat after a delay", () => {
  const repeats = new Repeats({ delay: 170, repeat: 50, down: 30 });
  const due = (now: number) => repeats.due(now).map(({ act, times }) => `${act} ${times}`);
  repeats.press("left", 1000);
  assert.deepEqual([due(1169), due(1170), due(1219), due(1220)], [[], ["left 1"], [], ["left 1"]]);
  assert.deepEqual([due(9000), due(9001)], [["left 1"], []], "what was missed is not made up for");
  repeats.press("right", 9010);
  assert.deepEqual([due(9179), due(9180)], [[], ["right 1"]], "the last direction counts");
  repeats.press("down", 9180);
  assert.deepEqual([due(9209), due(9210), due(9230)], [[], ["down 1"], ["right 1"]]);
  repeats.release("right");
  assert.deepEqual([due(9240), due(9250), due(9289), due(9290)], [["left 1", "down 1"], [], ["down 1"], ["left 1"]], "left is held still, and goes on at once");
  repeats.press("right", 9300);
  repeats.release("left");
  assert.deepEqual([due(9469), due(9470)], [["down 1"], ["right 1"]]);
  repeats.release("right");
  assert.deepEqual([due(9500), repeats.isHeld], [["down 1"], true]);
  repeats.release("down");
  assert.deepEqual([due(9999), repeats.isHeld], [[], false]);
  for (const act of ["turn", "drop", "hold", "hint", "undo", "new", "bottom"] as const) {
    repeats.press(act, 0);
    assert.equal(repeats.isHeld, false, act);
  }
  repeats.handling = { delay: 0, repeat: 0, down: 30 };
  repeats.press("left", 10);
  assert.deepEqual(due(10), ["left Infinity"]);
  repeats.releaseAll();
  assert.deepEqual(due(20), []);
});

test("what keys do to a falling piece is foreseen where no rules are needed", () => {
  // A field of 4 x 4 with a cell in the lowest row of column 1.
  const isFree = ([row, column]: Cell) => row >= 0 && column >= 0 && column < 4 && !(row === 0 && column === 1);
  const piece: Cell[] = [[3, 1], [3, 2]];
  const lowest = (cells: readonly Cell[]) => `${cells[0]}`;
  for (const [acts, place] of [
    [[], "3,1"], [["left"], "3,0"], [["left", "left"], "3,0"], [["right"], "3,2"], [["right", "right"], "3,2"], [["down"], "2,1"], [["down", "down", "down"], "1,1"],
    [["bottom"], "1,1"], [["drop"], "1,1"], [["right", "drop", "left"], "0,2"], [["bottom", "right", "down"], "0,2"],
    [["turn", "left"], "3,1"], [["left", "turnLeft", "left"], "3,0"], [["hold", "drop"], "3,1"], [["turnHalf"], "3,1"],
  ] as [Act[], string][]) {
    assert.equal(lowest(foreseen(piece, acts, isFree)), place, acts.join());
  }
  assert.deepEqual(moved([], "drop", isFree), [], "there is no piece");
});

test("a row a second and half a second on the ground", () => {
  assert.deepEqual([TIMING.fallDelay / STEPS_PER_SECOND, TIMING.lockDelay / STEPS_PER_SECOND], [1, 0.5]);
});

test("an address has the choices of a view, and gives them back", () => {
  const presets = tetrominoPresets(app);
  for (const chosen of [
    ...presets.flatMap((preset) => [chosenOf(preset), chosenOf(preset, true)]),
    { ...chosenOf(presets[0]!), width: 7, height: 9, preview: 2 },
    { ...chosenOf(presets.find(({ name }) => name === "guideline")!), changes: { half_turns: "cobra", "garbage.lines_per_piece": "0.4" }, preview: 1, byKeys: true },
    { ...chosenOf(presets.find(({ name }) => name === "botris")!), isMatch: true },
  ]) {
    const address = writeAddress("play", choicesOf(app, chosen));
    const { view, choices } = readAddress(address);
    const reader = new Reader(choices);
    // What a view would show else must not matter.
    const otherwise = { ...chosenOf(presets[1]!), width: 5 };
    assert.deepEqual([view, readChosen(app, presets, reader, otherwise, { keys: true, matches: true }), reader.problems], ["play", chosen, []], address);
  }
  assert.equal(writeAddress("race", { rules: "lab", seed: "1", weights_a: "-1,2" }), "#race?rules=lab&seed=1&weights_a=-1,2");
  assert.deepEqual(readAddress("#race"), { view: "race", choices: {} });
  assert.deepEqual(readAddress(""), { view: "", choices: {} });
  assert.deepEqual(readAddress("#play?a=b?c&d=%20%26"), { view: "play", choices: { a: "b?c", d: " &" } });
});

test("an address that cannot be used says what was expected, and changes nothing", () => {
  const presets = tetrominoPresets(app);
  const usual = chosenOf(presets.find(({ name }) => name === "guideline")!);
  for (const [name, value, expected] of [
    ["width", "33", "a whole number from 4 to 32"], ["width", "1e1", "a whole number from"], ["width", "", "a whole number from"], ["height", "37", "a whole number from"], ["preview", "0", "a whole number from 1 to 6"],
    ["rules", "constructor", "one of simplified, "], ["half_turns", "on", "one of none, tetrio, cobra"], ["control", "mouse", "one of placements, keys"],
    ["players", "2", "1: the command tetrion match measures matches"],
  ] as const) {
    const reader = new Reader({ [name]: value });
    assert.deepEqual(readChosen(app, presets, reader, usual, { keys: true }), usual);
    assert.equal(reader.problems.length, 1, name);
    assert.ok(reader.problems[0]!.startsWith(`The address has ${name}=${value}, expected ${expected}`), reader.problems[0]);
  }
  const long = new Reader({ rules: "x".repeat(1000) });
  readChosen(app, presets, long, usual);
  assert.ok(long.problems[0]!.startsWith(`The address has rules=${"x".repeat(40)}…, expected`));
});

test("numbers and seeds as people type them", () => {
  assert.deepEqual([wholeNumber(" 7 ", 4, 32), wholeNumber("+4", 4, 32), wholeNumber("-1", -1, 0)], [7, 4, -1]);
  assert.deepEqual([seedOf("0"), seedOf(" 18446744073709551615 ")], [0n, 2n ** 64n - 1n]);
  for (const text of ["", " ", "3", "33", "7.5", "7,5", "0x7", "1e1", "seven", "NaN", "Infinity"]) {
    assert.throws(() => wholeNumber(text, 4, 32), { name: "RangeError", message: "a whole number from 4 to 32" }, text);
  }
  for (const text of ["", "-1", "1.5", "18446744073709551616", "99999999999999999999", "abc", "0x1"]) {
    assert.throws(() => seedOf(text), RangeError, text);
  }
});

test("axes have round numbers, also where there is nothing yet", () => {
  const bounds = (numbers: readonly number[], mayBreak = false) => {
    const { low, high, isLog } = axisOf(numbers, { mayBreak });
    assert.equal(isLog, false);
    return [low, high];
  };
  assert.deepEqual(bounds([]), [0, 1.05]);
  assert.deepEqual(bounds([0, 0, 0]), [0, 1], "learners that have cleared no line");
  assert.deepEqual(bounds([-20, -10]), [-21, 0]);
  assert.deepEqual(bounds([5, 100]), [0, 105]);
  assert.deepEqual(bounds([5, 100], true), [0, 105], "as much of the axis is data");
  assert.deepEqual(bounds([900, 1000], true), [895, 1005]);
  assert.deepEqual(bounds([NaN, 7, Infinity, 7], true), [6.65, 7.35]);
  const labels = (numbers: readonly number[], wanted = 5) => axisOf(numbers, { wanted }).ticks.map(brief);
  assert.deepEqual(labels([0, 0]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
  assert.deepEqual(labels([12_000]), ["0", "5,000", "10k"]);
  assert.deepEqual(labels([0.156]), ["0", "0.05", "0.1", "0.15"]);
  // Values that span two powers of ten are spread by their logarithm, and 0 lies at the lower end.
  const grown = axisOf([0, 2, 20, 400]);
  assert.deepEqual([grown.isLog, grown.ticks, grown.place(0)], [true, [2, 5, 10, 20, 50, 100, 200], 0]);
  assert.ok(Math.abs(grown.place(Math.sqrt(grown.low * grown.high)) - 0.5) < 1e-9);
  assert.deepEqual([axisOf([2, 400], { log: false }).isLog, axisOf([2, 4], { log: true }).isLog, axisOf([-2, 400]).isLog], [false, true, false]);
  assert.deepEqual(axisOf([1, 1e6]).ticks, [1, 10, 100, 1000, 1e4, 1e5, 1e6]);
});

test("a formula is split into the terms of its sum", () => {
  for (const [formula, ...names] of [
    ["-holes", "-holes"],
    ["-4*holes - max(0, max_height - 6)^2 - bumpiness", "-4*holes", "-max(0, max_height - 6)^2", "-bumpiness"],
    ["holes + -2*bumpiness*-1 - 1e-3*lines_cleared", "holes", "-2*bumpiness*- 1", "-1e-3*lines_cleared"],
    ["(holes + 2) * 3", "(holes + 2)*3"],
    ["column_height[3] - sum(column_height) # the end - here", "column_height[3]", "-sum(column_height)"],
    ["holes + (if next == I then 2*deep_wells else 0) - 1", "holes", "(if next == I then 2*deep_wells else 0)", "-1"],
    ["holes - if lines > 3 then holes + 1 else 2 - holes", "holes", "-if lines > 3 then holes + 1 else 2 - holes"],
  ] as const) {
    const terms = termsOf(formula!);
    assert.deepEqual(terms.map(({ name }) => name), names, formula);
    assert.deepEqual(terms.map(({ formula }) => formula), names, "nothing else is named");
  }
  const [first, second, ...more] = termsOf("let roof = max(0, max_height - 12); # rows\nlet danger = roof > 0;\n-holes - roof^2");
  assert.deepEqual([first!.name, second!.name, more.length], ["-holes", "-roof^2", 0]);
  assert.match(second!.formula, /^let roof = .*; let danger = .*; -roof\^2$/);
});

test("the terms of a formula add up to its value, for each placement", async () => {
  const rules = await rulesOf("simplified", { height: 12, preview: 1 });
  const drawing = { rows: ["#.........", "##.#......", "##.##..###", "####.#####"], piece: "T", queue: "I" };
  const values = async (formula: string) => judgementOf(await running.client.enumeratePlacements({ rules, drawings: [drawing] }, { policy: { formula } })).values;
  for (const formula of [
    "-4.5*holes - 3.2*cumulative_wells + 3.4*eroded_piece_cells - max(0, max_height - 3)^2",
    "let roof = max(0, max_height - 2); let danger = roof > 0 and holes > 2;\n-4.5*holes - roof^2 + (if danger then 8*lines_cleared else 3.4*eroded_piece_cells) + (if next == I then 2*deep_wells else 0)",
    "holes - -2*bumpiness*-1 - exp(-holes/3)",
  ]) {
    const terms = await Promise.all(termsOf(formula).map(({ formula }) => values(formula)));
    assert.ok(terms.length >= 3, formula);
    for (const [at, value] of (await values(formula)).entries()) {
      const sum = terms.reduce((sum, values) => sum + values[at]!, 0);
      assert.ok(Math.abs(sum - value) < 1e-9 || value === -Infinity, `${formula}: ${sum}, not ${value}`);
    }
  }
});

/** The presets for two players, which one can also play alone. */
const VERSUS = ["tetrio", "tetrio_season_1", "botris", "versus_simple"];

test("hints come from the controller that looks furthest with what is shown", () => {
  const strongest = (preset: string, choice: Partial<Chosen> = {}) => app.strongest({ ...chosenOf(app.catalog.rulesPresets.find(({ name }) => name === preset)!), ...choice });
  const presets = tetrominoPresets(app).map(({ name }) => [name, strongest(name)]);
  assert.deepEqual(Object.fromEntries(presets), {
    simplified: "tetrion-10x10-expectation", lab: "tetrion-10x10-expectation", survey: "tetrion-10x10-expectation", genetic: "tetrion-10x10-expectation",
    leiden: "tetrion-10x10-expectation", guideline: "tetrion-guideline-preview", nes: "tetrion-10x10-preview",
    ...Object.fromEntries(VERSUS.map((name) => [name, "tetrion-guideline-preview"])),
  });
  assert.equal(strongest("simplified", { preview: 1 }), "tetrion-10x10-preview");
});

test("a lead is explained by what differs from the second best", async () => {
  const rules = await rulesOf("simplified", { height: 12 });
  const weighing = await app.weighing("dellacherie", 10);
  const placements = await running.client.enumeratePlacements({ rules, drawings: [{ rows: ["##.#......", "##.##..###", "####.#####"], piece: "T" }] }, { policy: "dellacherie", features: weighing.columns, includeCells: true });
  const judgement = judgementOf(placements);
  const other = runnerUp(judgement)!;
  const values = judgement.values.filter(Number.isFinite).sort((one, other) => other - one);
  assert.equal(judgement.values[other - judgement.first], values[1]);
  const all = leads(weighing, placements, judgement.best, other);
  assert.ok(Math.abs(all.reduce((sum, { adds }) => sum + adds, 0) - (values[0]! - values[1]!)) < 1e-9);
  assert.deepEqual(all.map(({ name }) => name), weighing.columns.map((name) => name.replaceAll("_", " ")));
  assert.equal(runnerUp({ first: 4, values: [-Infinity, 1, -Infinity], best: 5 }), undefined);
  assert.equal(runnerUp({ first: 4, values: [1, 0, 1, 0.5], best: 4 }), 7, "equal ones explain nothing");
  assert.deepEqual([[1, 0], [1, 1], [0, 1, 1, 1]].map((values) => tiesInWords({ first: 4, values, best: 5 - Number(values[0] === 1) })), ["", "; 1 other is as good", "; 2 others are as good"]);
});

test("a curve has the mean of the last episodes, whatever its points hold", () => {
  const point = (episodes: number, mean: number) => {
    const spread = { mean, min: 0, max: mean };
    return { episodes, steps: 10 * episodes, seconds: episodes / 2, lines: spread, returns: { ...spread, mean: -mean }, lengths: spread };
  };
  // Four episodes per point, and one in the last.
  const points = [point(4, 1), point(8, 3), point(12, 5), point(13, 20)];
  const ys = (episodes: number) => curveOf(points, "lines", "episodes", episodes).map(({ y }) => y);
  assert.deepEqual(ys(1), [1, 3, 5, 20]);
  assert.deepEqual(ys(4), [1, 3, 5, 8], "the last point alone is one episode, too few");
  assert.deepEqual(ys(5), [1, 2, 4, 8]);
  assert.deepEqual(ys(1000), [1, 2, 3, 56 / 13]);
  assert.deepEqual(curveOf(points, "returns", "steps", 1).map(({ x, y }) => [x, y]), [[40, -1], [80, -3], [120, -5], [130, -20]]);
  assert.deepEqual(curveOf(points, "lengths", "time", 1).map(({ x }) => x), [2, 4, 6, 6.5]);
  assert.deepEqual(curveOf([], "lines", "episodes", 50), []);
  assert.deepEqual([0, 179, 180, 10_800].map((seconds) => unitOf(seconds)[0]), ["seconds", "seconds", "minutes", "hours"]);
});

test("snippets name the server, and a token where it needs one", () => {
  for (const [origin, address] of [["http://127.0.0.1:50451", "127.0.0.1:50451"], ["http://[::1]:50451", "[::1]:50451"], ["https://tetris.example:8443", "https://tetris.example:8443"]] as const) {
    for (const needsToken of [false, true]) {
      for (const [name, text] of snippets(origin, needsToken)) {
        assert.ok(text.includes(name === "Any language" ? origin : address), `${name} for ${origin}`);
        assert.equal(text.includes("TOKEN"), needsToken, `${name} for ${origin}`);
      }
    }
  }
});

test("the share of games still going is that of Kaplan and Meier, with cut games", () => {
  const lost = (...pieces: number[]) => pieces.map((pieces) => ({ pieces, isCut: false }));
  const cut = (...pieces: number[]) => pieces.map((pieces) => ({ pieces, isCut: true }));
  const round = (value: number) => Number(value.toFixed(4));
  const steps = (games: readonly { pieces: number; isCut: boolean }[]) => survivalOf(games).map(({ x, y }) => [x, round(y)]);
  assert.deepEqual(steps(lost(30, 10, 20, 20)), [[0, 1], [10, 1], [10, 0.75], [20, 0.75], [20, 0.25], [30, 0.25], [30, 0]]);
  // Of four games one is cut after 15 pieces: the next loss is one of two.
  assert.deepEqual(steps([...lost(10, 20), ...cut(15, 40)]), [[0, 1], [10, 1], [10, 0.75], [15, 0.75], [20, 0.75], [20, 0.375], [40, 0.375]]);
  assert.deepEqual(steps(cut(5, 5)), [[0, 1], [5, 1]]);
  // The acute leukaemia trial of Freireich and others (1963), 6-MP: after 6 and after 23 weeks 0.857 and 0.448.
  const trial = survivalOf([...lost(6, 6, 6, 7, 10, 13, 16, 22, 23), ...cut(6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35)]);
  const at = (weeks: number) => trial.findLast(({ x }) => x === weeks)!;
  assert.deepEqual([at(6), at(23)].map(({ y, low, high }) => [y, low!, high!].map((value) => Number(value.toFixed(3)))), [[0.857, 0.62, 0.952], [0.448, 0.188, 0.68]]);
  const many = survivalOf(lost(...Array.from({ length: 5000 }, (_, at) => at + 1)));
  assert.ok(many.length <= 402 && many.at(-1)!.y === 0 && many[0]!.y === 1, String(many.length));
});

test("what can be counted of a game, by every preset", async () => {
  const measures: Record<string, readonly string[]> = {
    simplified: ["lines"],
    survey: ["lines"],
    genetic: ["lines", "points"],
    leiden: ["lines"],
    guideline: ["lines", "points", "lines sent"],
    nes: ["lines", "points"],
    lab: ["lines"],
    ...Object.fromEntries(VERSUS.map((name) => [name, ["lines", "points", "lines sent"]])),
  };
  for (const { name, rules } of tetrominoPresets(app)) {
    assert.deepEqual(measuresOf(rules!), measures[name], name);
  }
  const guideline = await rulesOf("guideline");
  for (const [part, expected] of [
    [{ clearPoints: ClearPoints.LINES }, ["lines", "lines sent"]],
    [{ attackTable: AttackTable.NONE }, ["lines", "points"]],
    [{ clearPoints: ClearPoints.LINES, attackTable: AttackTable.NONE }, ["lines"]],
    [{ clearPoints: ClearPoints.LINES, scoring: create(ScoringSchema, { piece: 0, lines: [1, 2, 3, 5], gameEnd: 0 }) }, ["lines", "points", "lines sent"]],
    [{ clearPoints: ClearPoints.LINES, scoring: create(ScoringSchema, { piece: 0, lines: [1, 2, 3, 4], gameEnd: -1 }) }, ["lines", "points", "lines sent"]],
    [{ clearPoints: ClearPoints.LINES, scoring: create(ScoringSchema, { piece: 1, lines: [1, 2, 3, 4], gameEnd: 0 }) }, ["lines", "points", "lines sent"]],
  ] as const) {
    assert.deepEqual(measuresOf({ ...guideline, ...part }), expected);
  }
});

test("a session is asked for what the server has of these rules, and for no more", async () => {
  const common = ["lines", "pieces", "episode_return"];
  const clears = ["attack", "combo", "back_to_back_count"];
  for (const [part, infos] of [
    [{}, [...common, ...clears, "spin"]],
    [{ spinRule: SpinRule.NONE }, [...common, ...clears]],
    [{ clearPoints: ClearPoints.LINES }, [...common, ...clears, "spin"]],
    [{ attackTable: AttackTable.NONE }, [...common, ...clears, "spin"]],
    [{ attackTable: AttackTable.NONE, clearPoints: ClearPoints.LINES }, [...common, "spin"]],
    [{ attackTable: AttackTable.NONE, clearPoints: ClearPoints.LINES, spinRule: SpinRule.NONE }, common],
  ] as const) {
    // A preset of a server to come, which this one can play too.
    const { name, rules, source } = app.catalog.rulesPresets.find(({ name }) => name === "guideline")!;
    const preset = create(RulesPresetSchema, { name, source, rules: { ...rules!, ...part } });
    const config = configOf({ info: app.info, catalog: { ...app.catalog, rulesPresets: [preset] } }, chosenOf(preset));
    assert.deepEqual(config.infos, infos);
    const session = await running.client.createSession({ ...config, rules: { ...config.rules, ...part } });
    await session.close();
  }
});

test("matches are offered where lines are sent, and each side is read from its row", async () => {
  const { info, catalog } = app;
  assert.deepEqual(catalog.rulesPresets.filter(({ rules }) => allowsMatches(rules!)).map(({ name }) => name), VERSUS);
  const chosen = { ...chosenOf(catalog.rulesPresets.find(({ name }) => name === "botris")!), isMatch: true };
  const session = await running.client.createSession({ ...configOf({ info, catalog }, chosen), envSeeds: [7n, 7n], autoresetMode: AutoresetMode.DISABLED });
  let { observations } = await session.reset();
  for (let turn = 1; turn < 100; turn++) {
    assert.deepEqual([0, 1].map((env) => handOf(observations, session.rules, env).garbage.length), [2, 2], "this piece, and the next");
    const chosen = await Promise.all(["tetrion-guideline", "dt-10"].map(async (policy, env) => {
      const { actions, policyChoices } = await session.enumeratePlacements({ policy, envIds: [env] });
      return actions[policyChoices![0]!]!;
    }));
    const step = await session.step(chosen);
    ({ observations } = step);
    // The first lines are ten, for a perfect clear of the second side.
    if (step.infos.received!.some((lines) => lines > 0)) {
      assert.deepEqual([0, 1].map((env) => comingInWords(handOf(observations, session.rules, env))), [", 10 rows of garbage to come", ""]);
      const filled = [0, 1].map((env) => boardOf(observations, session.rules, env).reduce((sum, cell) => sum + cell, 0));
      assert.deepEqual(filled, [0, 1].map((env) => 4 * turn - 10 * step.infos.lines![env]!));
      await session.close();
      return;
    }
    assert.equal(step.terminated[0], 0);
  }
  assert.fail("no line was sent");
});

test("the rules of a form", async () => {
  const guideline = await rulesOf("guideline");
  assert.deepEqual([guideline.height, guideline.rowsAbove, visibleRows(guideline), sizeInWords(guideline)], [40, 20, 20, "10 × 20"]);
  const high = await rulesOf("guideline", { height: 36, changes: { half_turns: "tetrio" } });
  assert.deepEqual([high.height, high.rowsAbove, high.halfTurns], [40, 4, HalfTurns.TETRIO]);
  const low = await rulesOf("guideline", { height: 4, preview: 1 });
  assert.deepEqual([low.height, low.rowsAbove, low.preview], [24, 20, 1]);
  const simplified = await rulesOf("simplified", { height: 10 });
  assert.deepEqual([simplified.height, simplified.rowsAbove], [10, 0]);
});
