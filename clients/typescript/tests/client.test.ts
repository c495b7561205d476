import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test, { after, before } from "node:test";

import { type Client, Code, type EvaluationOptions, TetrionError, connect, tensor } from "../src/index.js";
import { grpc } from "../src/node.js";
import { type WatchFrame, DataType, EpisodeEnd, PROTOCOL_REVISION } from "../src/protocol.js";
import { grpcWeb } from "../src/web.js";
import { Running } from "./support.js";

let running: Running;
let transports: [name: string, client: Client][];

before(async () => {
  running = await Running.start();
  transports = [["gRPC", running.client], ["gRPC-Web", connect(running.address, { transport: grpcWeb })]];
});
after(() => running.stop());

/** What a call is refused with. */
async function refused(call: Promise<unknown>): Promise<TetrionError> {
  const error = await call.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof TetrionError, `expected a refusal, found ${error}`);
  return error;
}

test("the server says what it is", async () => {
  for (const [name, client] of transports) {
    const info = await client.serverInfo();
    assert.equal(info.rulesVersion, "tetrion-rules-1", name);
    assert.equal(info.protocolRevision, PROTOCOL_REVISION, name);
    assert.equal(info.limits?.sessions?.maxSessions, 1024, name);
    const { rulesPresets } = await client.catalog();
    assert.deepEqual(rulesPresets[0]?.rules?.width, 10, name);
  }
});

test("a game of seed 42 is the one that rules.proto promises", async () => {
  // `uniform TLZISIOJIJSOOOLJZZSI` for the episode seed 42.
  for (const [name, client] of transports) {
    const session = await client.createSession({ numEnvs: 2, envSeeds: [42n, 42n], actionMask: true });
    let { observations, actionMask, infos } = await session.reset();
    assert.deepEqual(infos.seed, new BigUint64Array([42n, 42n]), name);
    let pieces = "";
    for (let piece = 0; piece < 10; piece++) {
      pieces += "IOTZSJL"[observations.current![0]!];
      const legal = [...actionMask!.slice(0, 40).entries()].filter(([, exists]) => exists).map(([action]) => action);
      const action = legal[(7 * piece) % legal.length]!; // here and there: ten pieces do not top out
      const step = await session.step([action, action]);
      assert.equal(step.rewards.length, 2);
      assert.deepEqual(step.observations.board!.slice(0, 200), step.observations.board!.slice(200), name);
      assert.equal(step.infos.pieces![1], piece + 1, name);
      ({ observations, actionMask } = step);
    }
    assert.equal(pieces, "TLZISIOJIJ", name);
    await session.close();
  }
});

test("seeds keep all of their 64 bits", async () => {
  const seed = 18446744073709551615n;
  const session = await running.client.createSession({ envSeeds: [seed] });
  assert.equal((await session.reset()).infos.seed![0], seed);
  const other = 9007199254740993n; // 2^53 + 1, which is no double
  assert.equal((await session.reset({ seeds: [other] })).infos.seed![0], other);
});

test("a call on no environments has no rows and changes nothing", async () => {
  for (const [name, client] of transports) {
    const session = await client.createSession({ numEnvs: 3, seed: 7n, actionMask: true });
    await session.reset();
    await session.step([0, 1, 2]);
    const before = await session.saveState();
    const none = { envIds: [] };
    for (const { observations, actionMask, infos } of [await session.reset(none), await session.step([], none), await session.restoreState({ snapshots: before.slice(0, 1) }, none)]) {
      assert.deepEqual([observations.board!.length, actionMask!.length, infos.lines!.length], [0, 0, 0], name);
    }
    assert.deepEqual([await session.saveState(none), await session.render(none)], [[], []], name);
    const { rowOffsets, actions } = await session.enumeratePlacements(none);
    assert.deepEqual([[...rowOffsets], [...actions]], [[0], []], name);
    for await (const event of client.watchSession(session.name, none)) {
      if (event.case === "frame") {
        assert.deepEqual([event.value.envs, event.value.sequenceNumber], [[], 5n], name);
        break;
      }
      assert.deepEqual(event.value.envIds, [], name);
    }
    assert.deepEqual(await session.saveState(), before, name);
    await session.close();
  }
});

test("a session has a label, and a history of its finished episodes", async () => {
  for (const [name, client] of transports) {
    const session = await client.createSession({ numEnvs: 2, rules: { width: 4, height: 6 }, pieceSequences: ["OO", "OOO"], label: "ppo lr 3e-4", interactive: true });
    const listed = [];
    for await (const other of client.listSessions()) {
      listed.push(other);
    }
    const { label, interactive } = listed.find((other) => other.name === session.name)!.config!;
    assert.deepEqual([label, interactive], ["ppo lr 3e-4", true], name);
    await session.reset();
    assert.deepEqual((await client.getHistory(session.name)).points, [], name);
    await session.step([0, 0]);
    await session.step([2, 2]);
    await session.step([0, 0]); // the first environment begins again
    const { sequenceNumber, numEpisodes, numSteps, episodesPerPoint, points } = await client.getHistory(session.name);
    assert.deepEqual([sequenceNumber, numEpisodes, numSteps, episodesPerPoint], [4n, 2, 6, 1], name);
    const all = (number: number) => ({ mean: number, min: number, max: number });
    const { seconds } = points[1]!;
    assert.ok(seconds >= points[0]!.seconds && seconds < 600, name);
    assert.deepEqual(points.map(({ seconds: _, ...point }) => point), [
      { episodes: 1, steps: 4, lines: all(2), lengths: all(2), returns: all(2) },
      { episodes: 2, steps: 6, lines: all(2), lengths: all(3), returns: all(2) },
    ], name);
    await session.close();
    assert.equal((await refused(client.getHistory(session.name))).reason, "SESSION_NOT_FOUND", name);
  }
  const label = "two\nlines";
  assert.deepEqual((await refused(running.client.createSession({ label }))).violations.map(({ field }) => field), ["config.label"]);
});

test("the holes of explicit games lie in their columns", async () => {
  for (const [name, client] of transports) {
    const rules = { width: 6, height: 12, garbage: { linesPerPiece: 1, delayPieces: 0 } };
    const session = await client.createSession({ rules, observations: ["board_bits"], pieceSequences: ["OO"], holeColumns: [[5]] });
    const lowest = async () => {
      await session.step([0]);
      return (await session.step([0])).observations.board_bits![0];
    };
    await session.reset();
    assert.equal(await lowest(), 0b011111, name);
    await session.reset({ pieceSequences: ["OO"], holeColumns: [[0]] });
    assert.equal(await lowest(), 0b111110, name);
    const wrong = await refused(session.reset({ pieceSequences: ["OO"], holeColumns: [[6]] }));
    assert.deepEqual(wrong.violations.map(({ field }) => field), ["seeding.pieceSequences.holeColumns[0].columns[0]"], name);
    await session.close();
  }
});

test("swapped sides are for two players", async () => {
  for (const [name, client] of transports) {
    const session = await client.createSession({ numEnvs: 2, rules: { preset: "tetrio", players: 2 }, observations: ["board_bits", "garbage"] });
    const seeds = [5n, 5n];
    const play = async (swapSides: boolean, policies: readonly string[]) => {
      await session.reset({ seeds, swapSides });
      const seen = [];
      for (let turn = 0; turn < 60; turn++) {
        const chosen = [];
        for (const [env, policy] of policies.entries()) {
          const { actions, policyChoices } = await session.enumeratePlacements({ envIds: [env], policy });
          chosen.push(actions[policyChoices![0]!]!);
        }
        const { board_bits, garbage } = (await session.step(chosen)).observations;
        seen.push([board_bits!, garbage!].map((rows) => [rows.slice(0, rows.length / 2), rows.slice(rows.length / 2)]));
      }
      return seen;
    };
    const usual = await play(false, ["dt-10", "el-tetris"]);
    assert.ok(usual.some(([, garbage]) => garbage!.flat().some((lines) => lines.some((line) => line > 0))), name);
    assert.deepEqual(await play(true, ["el-tetris", "dt-10"]), usual.map((turn) => turn.map(([first, second]) => [second, first])), name);
    await session.close();
    const alone = await client.createSession();
    assert.deepEqual((await refused(alone.reset({ swapSides: true }))).violations.map(({ field }) => field), ["swapSides"], name);
    await alone.close();
  }
});

test("the types of observations and infos are the server's lists", async () => {
  const source = await readFile(new URL("../../src/session.ts", import.meta.url), "utf8");
  const { observationFields, infoFields } = await running.client.catalog();
  const arrays: Partial<Record<DataType, string>> = {
    [DataType.UINT8]: "Uint8Array", [DataType.INT8]: "Int8Array", [DataType.UINT16]: "Uint16Array", [DataType.INT32]: "Int32Array", [DataType.UINT32]: "Uint32Array",
    [DataType.INT64]: "Float64Array", [DataType.UINT64]: "BigUint64Array", [DataType.FLOAT32]: "Float32Array", [DataType.FLOAT64]: "Float64Array", [DataType.BOOL]: "Uint8Array",
  };
  for (const [name, fields] of [["Observations", observationFields], ["Infos", infoFields]] as const) {
    const body = new RegExp(`export interface ${name} \\{\n(.*?)\n\\}`, "s").exec(source)![1]!;
    const members = Object.fromEntries([...body.matchAll(/readonly (\w+)\?: (.*);/g)].map(([, member, type]) => [member, type]));
    const expected = Object.fromEntries(fields.map(({ name, dtype }) => [name, name === "board_bits" ? "Uint16Array | Uint32Array" : arrays[dtype]]));
    assert.deepEqual(members, expected);
  }
});

test("placements come with their features, cells and afterstates", async () => {
  const session = await running.client.createSession({ rules: { width: 4, height: 8 }, pieceSequences: ["OIO"] });
  await session.reset();
  const rows = await session.enumeratePlacements({ features: ["landing_height", "holes"], includeCells: true, includeAfterstates: true });
  // An O has one orientation and fits over columns 0, 1 and 2.
  assert.deepEqual([...rows.actions], [0, 1, 2]);
  assert.deepEqual([...rows.rowOffsets], [0, 3]);
  assert.deepEqual(rows.featureNames, ["landing_height", "holes"]);
  assert.deepEqual([...rows.features!.subarray(2, 4)], [0.5, 0]); // the middle of its two rows, from the floor of row 0
  assert.deepEqual([...rows.cells!.subarray(8, 16)], [0, 1, 0, 2, 1, 1, 1, 2]);
  assert.deepEqual([...rows.afterstates!.subarray(8, 11)], [0b0110, 0b0110, 0]);
  const drawn = await running.client.enumeratePlacements({ rules: { width: 4, height: 8 }, drawings: [{ rows: ["##.."], piece: "O" }] });
  assert.deepEqual([...drawn.lines], [0, 0, 1]);
  const position = { rules: { width: 4, height: 8 }, drawings: [{ rows: ["##.."], piece: "O" }] };
  const wanted = { features: ["holes", "column_height"], includeAnchors: true, includePreclearBoards: true, includePositionFeatures: true };
  const full = await running.client.enumeratePlacements(position, wanted);
  // The O that clears a line lies beside the two cells of row 0: its anchor is the cell on the right of its lower row.
  assert.deepEqual([...full.anchors!.subarray(4, 6)], [0, 3]);
  assert.deepEqual([...full.preclearBoards!.subarray(16, 19)], [0b1111, 0b1100, 0]);
  assert.deepEqual([...full.positionFeatures!], [0, 1, 1, 0, 0]);
  // The O in the middle clears two rows, and what remains is an empty playfield, whose value is known.
  const solved = await running.client.enumeratePlacements({ rules: { width: 4, height: 5 }, drawings: [{ rows: ["#..#", "#..#"], piece: "O" }] }, { includeOptimalValues: true });
  assert.equal(solved.optimalValues!.length, 3);
  assert.ok(Math.abs(solved.optimalValues![1]! - 2 - 12.506553871) < 1e-8);
  for (const features of [{}, "", [], { featureSet: "" }, { names: [] }]) {
    assert.ok((await refused(session.enumeratePlacements({ features }))).field.startsWith("features"));
  }
});

test("a snapshot takes a game back", async () => {
  const session = await running.client.createSession({ seed: 1n });
  await session.reset();
  const states = await session.saveState();
  const first = await session.step([3]);
  await session.restoreState({ snapshots: states });
  const again = await session.step([3]);
  assert.deepEqual(again.observations, first.observations);
  assert.equal((await session.render())[0]!.split("\n").length, 20);
});

test("an episode that ends is in `final`", async () => {
  const config = { rules: { width: 4, height: 4 }, autoresetMode: "same_step" as const, pieceSequences: ["OOO"] };
  const session = await running.client.createSession(config);
  await session.reset();
  await session.step([0]);
  await session.step([0]);
  const last = await session.step([0]);
  assert.deepEqual([...last.terminated], [1]);
  assert.deepEqual(last.final?.rows, [0]);
  assert.equal(last.final?.infos.pieces![0], 3);
  assert.equal(last.infos.pieces![0], 0);
});

test("a session is watched until it ends", async () => {
  for (const [name, client] of transports) {
    const session = await client.createSession({ pieceSequences: ["OIS"] });
    const frames: WatchFrame[] = [];
    const watch = async () => {
      for await (const event of client.watchSession(session.name, { maxFramesPerSecond: 60 })) {
        if (event.case === "started") {
          assert.deepEqual(event.value.envIds, [0], name);
        } else {
          frames.push(event.value);
          const [env] = event.value.envs;
          if (env!.end === EpisodeEnd.UNSPECIFIED) {
            await session.reset();
          } else if (env!.pieces === 0n) {
            await session.step([0]);
          } else {
            await session.close();
          }
        }
      }
    };
    assert.equal((await refused(watch())).reason, "SESSION_NOT_FOUND", name);
    const last = frames.at(-1)!.envs[0]!;
    assert.equal(last.piece, "I", name);
    // The O lies in the left corner: two of its cells in each of the two lowest rows.
    assert.deepEqual([...last.colors.subarray(0, 3)], [2, 2, 0], name);
    assert.deepEqual([...last.colors.subarray(10, 13)], [2, 2, 0], name);
    assert.deepEqual([...last.colors.subarray(20, 23)], [0, 0, 0], name);
  }
});

test("an evaluation streams its results", async () => {
  for (const [name, client] of transports) {
    const seen: string[] = [];
    let lines = 0;
    let mean = 0;
    for await (const event of client.evaluate({ rules: { height: 10 }, policies: ["dellacherie"], seeds: { seed: 1n, count: 3 }, maxPieces: 100n })) {
      seen.push(event.case);
      if (event.case === "results") {
        const { elementsOf } = await import("../src/index.js");
        const { DataType } = await import("../src/protocol.js");
        lines += elementsOf(event.value.lines, DataType.INT64).reduce((sum, game) => sum + game, 0);
      } else if (event.case === "summary") {
        mean = event.value.policies[0]!.lines!.mean;
      }
    }
    assert.equal(seen[0], "started", name);
    assert.equal(seen.at(-1), "summary", name);
    assert.ok(Math.abs(lines / 3 - mean) < 1e-9, `${name}: ${lines} lines in 3 games, mean ${mean}`);
  }
});

test("an evaluation is waited for, with its games in order and its summary", async () => {
  const weights = { features: ["landing_height", "holes"], weights: [[-1, -4], [-1, 0]] };
  const options = { rules: { height: 8 }, policies: [{ weights }, "dellacherie"], seeds: [[7n, 8n], [8n, 7n], [7n, 7n]], maxPieces: 50n, episodesPerSeed: 2 };
  for (const [name, client] of transports) {
    const { games, summary } = await client.evaluateAll(options);
    assert.deepEqual([...games.policyIndices], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], name);
    assert.deepEqual([...games.seedIndices], [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1], name);
    assert.deepEqual([...games.episodeIndices], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], name);
    assert.deepEqual([games.seeds[0], games.seeds[2], games.seeds[4], games.seeds[8], games.seeds[10]], [7n, 8n, 8n, 7n, 7n], name);
    assert.deepEqual(games.lines.slice(8, 10), games.lines.slice(10, 12), "the same game twice");
    const pieces = games.pieces.slice(0, 4).reduce((sum, one) => sum + one, 0);
    assert.equal(pieces / 4, summary.policies[0]!.pieces!.mean, name);
    assert.deepEqual([...games.ends], [...games.pieces].map((pieces) => (pieces === 50 ? EpisodeEnd.PIECE_LIMIT : EpisodeEnd.TOPPED_OUT)), name);
    const one = await client.evaluateAll({ ...options, pairs: [[1, 1]] });
    assert.deepEqual(one.games.lines, games.lines.slice(6, 8), name);
    const none = await client.evaluateAll({ ...options, includeResults: false });
    assert.deepEqual([none.games.lines.length, none.summary.policies.length], [0, 3], name);
    assert.equal((await refused(client.evaluateAll({ ...options, includeRecordings: true } as never))).field, "includeRecordings", name);
  }
});

test("how long games last is estimated", async () => {
  const options = { rules: { height: 6 }, policies: ["bcts", "dellacherie"], seeds: { seed: 1n, count: 3 }, trials: 16 };
  for (const [name, client] of transports) {
    const { estimates, summary } = await client.estimateAll(options);
    assert.deepEqual([...estimates.policyIndices], [0, 0, 0, 1, 1, 1], name);
    assert.ok(estimates.lossRates.every((rate) => rate > 0 && rate < 1), name);
    assert.deepEqual([...estimates.stepsPerPiece], [1, 1, 1, 1, 1, 1], name);
    const [bcts] = summary.estimates;
    assert.deepEqual([bcts!.numEstimates, summary.policies.length, summary.estimates.length], [3n, 0, 2], name);
    const rate = estimates.lossRates.slice(0, 3).reduce((sum, one) => sum + one, 0) / 3;
    assert.ok(Math.abs(bcts!.pieces!.mean * rate - 1) < 1e-12, name);
    const none = await client.estimateAll({ ...options, includeResults: false });
    assert.deepEqual([none.estimates.lossRates.length, none.summary], [0, summary], name);
    assert.equal((await refused(client.estimateAll({ ...options, trials: 1 }))).field, "lossEstimation.trials", name);
    assert.equal((await refused(client.estimateAll({ ...options, trials: 1.5 }))).field, "lossEstimation.trials", name);
  }
});

test("a policy of the server plays as it is got", async () => {
  const rules = { height: 8 };
  for (const name of ["dellacherie", "dt-10", "random", "monte_carlo"]) {
    const { info, policy } = await running.client.getPolicy(name);
    assert.equal(info!.name, name);
    const { games } = await running.client.evaluateAll({ rules, policies: [name, policy!], seeds: [1n, 2n], maxPieces: 30n });
    assert.deepEqual(games.lines.slice(0, 2), games.lines.slice(2), name);
  }
  assert.equal((await refused(running.client.getPolicy("nobody"))).reason, "UNKNOWN_NAME");
  assert.equal((await refused(running.client.getPolicy(5 as never))).field, "name");
});

test("a task is scored by its actions or its formula", async () => {
  const task = await running.client.getTask("test", 5);
  assert.deepEqual([task.suite, task.group, task.index], ["tetrion-tasks-1", "perfect_clear", 5]);
  assert.equal((await running.client.scoreTask("test", 5, task.oracleActions)).score, 1);
  assert.equal((await running.client.scoreTask("test", 5, [])).score, 0);
  assert.equal((await running.client.scoreTask("test", 5, Array.from(task.oracleActions, (action) => `${Math.floor(action / 4)}@${action % 4}`))).score, 1);
  assert.equal((await refused(running.client.scoreTask("test", 5, ["left"]))).field, "textActions[0]");
  const { oracleFormula } = await running.client.getTask("test", 6);
  assert.equal((await running.client.scoreTask("test", 6, oracleFormula)).score, 1);
  assert.equal((await refused(running.client.scoreTask("test", 5, [99]))).field, "actions[0]");
  assert.equal((await refused(running.client.getTask("dev", 0))).reason, "UNKNOWN_NAME");
});

test("drawn seeds begin the environments of a session", async () => {
  const { games } = await running.client.evaluateAll({ policies: ["random"], seeds: { seed: 9n, count: 2 }, maxPieces: 1n });
  const session = await running.client.createSession({ numEnvs: 2, envSeeds: { seed: 9n, count: 2 } });
  assert.deepEqual((await session.reset()).infos.seed, games.seeds);
  assert.deepEqual((await session.reset({ seeds: { seed: 8n, count: 1 }, envIds: [1] })).infos.seed!.length, 1);
  assert.match((await refused(session.reset({ seeds: { seed: 8n, count: 1 } }))).message, /seeding\.drawn/);
});

test("policies have their settings, and rules their names", async () => {
  const rules = { preset: "survey", height: 8, preview: 1, randomizer: "bag7" } as const;
  const lines = async (options: Partial<EvaluationOptions>) => (await running.client.evaluateAll({ rules, seeds: { seed: 1n, count: 4 }, maxPieces: 200n, ...options })).games.lines;
  const features = ["landing_height", "holes"];
  const row = { weights: { features, weights: [-1, -4] }, terminalValue: "score" } as const;
  const matrix = { weights: { features, weights: tensor(Float64Array.of(-1, -4, -1, -4), [2, 2]) }, terminalValue: "score" } as const;
  const greedy = await lines({ policies: [row] });
  assert.deepEqual([...(await lines({ policies: [matrix] }))], [...greedy, ...greedy]);
  const search = { lookahead: { pieces: 1 } };
  const looking = await lines({ policies: [{ ...row, search }] });
  assert.notDeepEqual(looking, greedy);
  assert.deepEqual([...(await lines({ policies: [{ ...matrix, search }] }))], [...looking, ...looking]);
  const scored = await lines({ policies: [{ formula: "-landing_height - 4 * holes", terminalValue: "score" }] });
  assert.deepEqual([...scored], [...greedy]);
  const formula = "-holes^2 - (if next == I then 0 else landing_height)";
  assert.deepEqual([...(await lines({ policies: [{ formula }] }))], [...(await lines({ policies: [{ formula: { text: formula } }] }))]);
  const wrong = await refused(running.client.evaluateAll({ policies: [{ formula: "-hole" }], seeds: [1n] }));
  assert.deepEqual([wrong.field, wrong.message.includes('did you mean "holes"?')], ["policies[0].formula.text", true]);
  const named = await lines({ policies: ["dt-10"] });
  assert.deepEqual([...(await lines({ policies: ["dt-10", { name: "dt-10", search: { greedy: {} } }] }))], [...named, ...named]);
});

test("a client and its sessions end with their block", async () => {
  for (const transport of [grpc, grpcWeb]) {
    let name = "";
    {
      await using client = connect(running.address, { transport });
      await using session = await client.createSession();
      name = session.name;
      await running.client.getSession(name);
    }
    assert.equal((await refused(running.client.getSession(name))).reason, "SESSION_NOT_FOUND");
  }
});

test("a closed client ends its calls and takes no others", async () => {
  for (const transport of [grpc, grpcWeb]) {
    const client = connect(running.address, { transport });
    const session = await client.createSession();
    const watching = client.watchSession(session.name);
    assert.equal((await watching.next()).value?.case, "started");
    assert.equal((await watching.next()).value?.case, "frame");
    const next = refused(watching.next());
    client.close();
    for (const error of [await next, await refused(client.serverInfo()), await refused(session.reset()), await refused(client.evaluate({ policies: ["bcts"], seeds: [1n] }).next())]) {
      assert.equal(error.codeName, "CANCELED", error.message);
    }
    await running.client.deleteSession(session.name);
  }
});

test("a refusal says code, reason and field", async () => {
  for (const [name, client] of transports) {
    const error = await refused(client.createSession({ rules: { width: 3 } }));
    assert.equal(error.code, Code.InvalidArgument, name);
    assert.equal(error.codeName, "INVALID_ARGUMENT", name);
    assert.equal(error.reason, "INVALID_FIELD", name);
    assert.equal(error.field, "config.rules.width", name);
    assert.match(error.requestId, /./, name);
    const session = await client.createSession();
    assert.equal((await refused(session.step([0]))).reason, "NOT_RESET", name);
    await session.reset();
    const outside = await refused(session.step([1000]));
    assert.equal(outside.reason, "ACTION_OUT_OF_RANGE", name);
    assert.equal(outside.info["count"], "1", name);
  }
});

test("streams are refused like calls", async () => {
  for (const [name, client] of transports) {
    const all = async () => {
      for await (const _ of client.evaluate({ policies: ["nobody"], seeds: [1n] })) {
        assert.fail("an event of a refused evaluation");
      }
    };
    assert.equal((await refused(all())).reason, "UNKNOWN_NAME", name);
  }
});

test("a token opens a server that wants one", async () => {
  const locked = await Running.start("--token", "open sesame");
  try {
    assert.equal((await locked.client.serverInfo()).rulesVersion, "tetrion-rules-1");
    for (const transport of [grpc, grpcWeb]) {
      const stranger = connect(locked.address, { transport });
      const error = await refused(stranger.serverInfo());
      assert.equal(error.codeName, "UNAUTHENTICATED");
      assert.equal(error.reason, "INVALID_TOKEN");
      await connect(locked.address, { transport, token: "open sesame" }).serverInfo();
    }
  } finally {
    await locked.stop();
  }
});

test("sessions are listed and opened by name", async () => {
  const made = await running.client.createSession({ numEnvs: 3, ttl: 1.5 });
  const names: string[] = [];
  for await (const session of running.client.listSessions()) {
    names.push(session.name);
  }
  assert.ok(names.includes(made.name));
  const opened = await running.client.getSession(made.name);
  assert.equal(opened.numEnvs, 3);
  assert.equal(opened.description.ttl?.nanos, 500_000_000);
  await made.close();
  assert.equal((await refused(running.client.getSession(made.name))).reason, "SESSION_NOT_FOUND");
});

test("nothing answers where no server is", async () => {
  const error = await refused(connect("127.0.0.1:1", { transport: grpc }).serverInfo());
  assert.equal(error.codeName, "UNAVAILABLE");
  assert.equal(error.reason, "");
  assert.throws(() => connect("http://", { transport: grpc }), TypeError);
});

test("a call can be given up", async () => {
  const stop = new AbortController();
  stop.abort();
  assert.equal((await refused(running.client.serverInfo({ signal: stop.signal }))).codeName, "CANCELED");
});
