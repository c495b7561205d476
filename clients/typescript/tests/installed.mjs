// What a new user of the packed package does: steps, an evaluation, and a cross-entropy search over three features.
// `tests/release.py` runs it where only the package is installed: node installed.mjs ADDRESS.

import assert from "node:assert/strict";

import { connect } from "tetrion";
import { StepStream, grpc } from "tetrion/node";

const client = connect(process.argv[2], { transport: grpc });
const rules = { height: 10 };
const session = await client.createSession({ numEnvs: 2, rules, envSeeds: [1n, 1n], autoresetMode: "disabled" });
await session.reset();
const stream = new StepStream(session);
const { infos } = await stream.step([0, 0]);
assert.deepEqual([...infos.pieces], [1, 1]);
await stream.close();
await session.close();

// Equal draws in every run: xorshift, and the sum of twelve draws as a normal number.
let state = 1n;
const draw = () => {
  state ^= (state << 13n) & 0xffff_ffff_ffff_ffffn;
  state ^= state >> 7n;
  state ^= (state << 17n) & 0xffff_ffff_ffff_ffffn;
  return Number(state >> 11n) / 2 ** 53;
};
const normal = () => Array.from({ length: 12 }, draw).reduce((sum, each) => sum + each, -6);

const features = ["holes", "max_height", "bumpiness"];
const scored = async (weights) => {
  const { summary } = await client.evaluateAll({ policies: [{ weights: { features, weights } }], rules, seeds: { seed: 1n, count: 10 }, maxPieces: 500n });
  return summary.policies.map(({ lines }) => lines.mean);
};
let [mean, deviation] = [features.map(() => 0), features.map(() => 3)];
const [before] = await scored([mean]);
for (let generation = 0; generation < 4; generation++) {
  const rows = Array.from({ length: 24 }, () => mean.map((center, at) => center + deviation[at] * normal()));
  const scores = await scored(rows);
  const elite = rows.map((row, at) => [scores[at], row]).sort(([one], [other]) => other - one).slice(0, 6).map(([, row]) => row);
  mean = features.map((_, at) => elite.reduce((sum, row) => sum + row[at], 0) / elite.length);
  deviation = features.map((_, at) => Math.sqrt(elite.reduce((sum, row) => sum + (row[at] - mean[at]) ** 2, 0) / elite.length) + 0.1);
}
const [after] = await scored([mean]);
assert.ok(after > before + 20, `${before} lines before the search, ${after} after it`);
console.log(`the TypeScript package steps, evaluates and trains: ${before} lines per game before the search, ${after} after it`);
await client.close();
