// The programs in the README compile in a project like a reader's, and print what the README says.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { transform } from "esbuild";

import { Running } from "./support.js";

// Inside the package, so that `tetrion` is this package.
const HERE = new URL("..", import.meta.url).pathname;

const readme = await readFile(join(HERE, "../README.md"), "utf8");
const programs = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, program]) => program!);

test("there are four examples", () => assert.equal(programs.length, 4));

test("the examples compile", async () => {
  const folder = await mkdtemp(join(HERE, "readme-"));
  try {
    await Promise.all(programs.map((program, number) => writeFile(join(folder, `${number}.ts`), program)));
    for (const [module, moduleResolution] of [["NodeNext", "NodeNext"], ["ESNext", "Bundler"]]) {
      const compilerOptions = { strict: true, target: "ES2022", module, moduleResolution, noEmit: true };
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
      const compiler = join(HERE, "../node_modules/.bin/tsc");
      const { stdout } = await promisify(execFile)(compiler, ["--project", folder]).catch((failed: { stdout: string }) => failed);
      assert.equal(stdout, "", module);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the examples run", async () => {
  const running = await Running.start();
  const folder = await mkdtemp(join(HERE, "readme-"));
  try {
    const outputs = await Promise.all(programs.map(async (program, number) => {
      const file = join(folder, `${number}.mjs`);
      const { code } = await transform(program.replaceAll("127.0.0.1:50451", running.address), { loader: "ts", target: "es2022" });
      await writeFile(file, code);
      return (await promisify(execFile)(process.execPath, [file])).stdout;
    }));
    assert.match(outputs[0]!, /^after \d+ pieces: lines \d+ and \d+\n[\d]+ lines per game, 95 % interval \d+ to \d+\n$/);
    assert.match(outputs[1]!, /^1 and 1 piece, \d+ placements\n$/);
    assert.equal(outputs[2], "left left turn_left sonic_drop turn_left hard_drop\n2 lines cleared, 4 sent, spin 2\n");
    assert.match(outputs[3]!, /^INVALID_ARGUMENT INVALID_FIELD config\.rules\.width\n/);
  } finally {
    await rm(folder, { recursive: true });
    await running.stop();
  }
});
