// Every use of the page, in a browser, against the real server. Screens are asserted on by what they say and by the colours of
// their cells; with SHOTS=FOLDER each test leaves a picture of what it saw, to be looked at. UPDATE_PICTURES=1 makes the pictures of
// the documents anew.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";

import { toJson } from "@bufbuild/protobuf";

import { connect } from "../../dist/src/index.js";
import { grpc } from "../../dist/src/node.js";
import { RulesSchema } from "../../dist/src/protocol.js";
import { Aim, placesOf } from "../../dist/page/aim.js";
import { LETTERS } from "../../dist/page/tetromino.js";
import { Server, launch, open } from "./browser.mjs";

const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };
const LOOKS = Object.entries(SIZES).flatMap(([size, viewport]) => ["light", "dark"].map((scheme) => ({ name: `${size}, ${scheme}`, ...viewport, scheme })));
const DESKTOP = LOOKS[0];

let browser;
let server;

before(async () => {
  browser = await launch();
  server = await Server.start();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs a test on a view, in a page of its own; nothing may go wrong on the way. */
async function on(path, look, use, { of = server, expected = [] } = {}) {
  const { page, problems, close } = await open(browser, of, { ...look, path });
  try {
    page.setDefaultTimeout(20_000);
    await use(page);
    await shot(page, `${path.slice(2) || "front"}-${look.name}`);
    assert.deepEqual(problems.filter((problem) => !expected.some((part) => problem.includes(part))), []);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`);
  } finally {
    await close();
  }
}

/** A learner with a session of its own on a server, which steps it with actions that exist until it is stopped. */
class Learner {
  static async start(server, options, pause = 2) {
    const learner = new Learner();
    learner.client = connect(server.address, { transport: grpc });
    learner.session = await learner.client.createSession({ seed: 1n, actionMask: true, ...options });
    learner.goes = learner.go(pause);
    return learner;
  }

  async go(pause) {
    const { session } = this;
    let { actionMask } = await session.reset();
    while (!this.isOver) {
      const width = actionMask.length / session.numEnvs;
      const actions = Array.from({ length: session.numEnvs }, (_, env) => {
        const exist = [...actionMask.subarray(env * width, (env + 1) * width).keys()].filter((action) => actionMask[env * width + action] === 1);
        return exist[Math.floor(Math.random() * exist.length)];
      });
      ({ actionMask } = await session.step(actions));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Ends the learner, with its session. */
  async stop() {
    this.isOver = true;
    await this.goes;
    await this.session.close();
    this.client.close();
  }
}

async function shot(page, name) {
  const folder = process.env.SHOTS;
  if (folder !== undefined) {
    await mkdir(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name.replaceAll(/\W+/g, "-")}.png`) });
  }
}

/** The number in the text of an element. */
const count = async (locator) => Number((await locator.textContent()).replaceAll(",", ""));

/** Waits until a check holds, and says what was found if it never does. */
async function until(check, what, milliseconds = 20_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const found = await check();
    if (found === true) {
      return;
    }
    assert.ok(Date.now() < end, `${what}: ${found}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** The colours of a column of cells, from the bottom, in the middle of each; null where it is the playfield's own. */
async function column(page, selector, { column, columns, rows }) {
  return await page.locator(selector).evaluate((canvas, { column, columns, rows }) => {
    const pen = canvas.getContext("2d");
    const size = Math.min(canvas.width / columns, canvas.height / rows);
    const floor = getComputedStyle(document.documentElement).getPropertyValue("--screen").trim();
    return Array.from({ length: rows }, (_, row) => {
      const x = (canvas.width - Math.floor(size) * columns) / 2 + (column + 0.5) * Math.floor(size);
      const y = (canvas.height + Math.floor(size) * rows) / 2 - (row + 0.5) * Math.floor(size);
      const [red, green, blue] = pen.getImageData(Math.round(x), Math.round(y), 1, 1).data;
      const found = `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
      return found === floor ? null : found;
    });
  }, { column, columns, rows });
}

/** Waits until a column of the playfield has these colours, from the bottom. */
async function shows(page, place, colours) {
  await until(async () => {
    const found = (await column(page, ".playfield canvas.board", place)).slice(0, colours.length);
    return found.every((colour, row) => colour === colours[row]) || `${found}`;
  }, `${colours} in column ${place.column}`);
}

/** Games of an evaluation by the program itself: `{ seed, lines, pieces, score }`. */
async function evaluated(...flags) {
  const folder = await mkdtemp(join(tmpdir(), "tetrion-page-"));
  try {
    const table = join(folder, "games.csv");
    const evaluation = spawn(process.env.TETRION_BINARY, ["evaluate", "--games-csv", table, ...flags], { stdio: "ignore" });
    assert.deepEqual(await once(evaluation, "exit"), [0, null]);
    const [head, ...rows] = (await readFile(table, "utf8")).trim().split("\n").map((line) => line.split(","));
    // Counted from the end: a formula in the first column may have commas.
    const [seed, lines, pieces, score] = ["seed", "lines", "pieces", "score"].map((name) => head.indexOf(name) - head.length);
    return rows.map((row) => ({ seed: row.at(seed), lines: Number(row.at(lines)), pieces: Number(row.at(pieces)), score: Number(row.at(score)) }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Lines and pieces, as the playfield of a player says them. */
async function standing(page, selector) {
  const label = await page.locator(`${selector} canvas.board`).getAttribute("aria-label");
  return (/: ([\d,]+) lines, ([\d,]+) pieces/.exec(label) ?? []).slice(1).map((text) => Number(text.replaceAll(",", "")));
}

for (const look of LOOKS) {
  test(`two controllers race (${look.name})`, async () => {
    await on("/#race", look, async (page) => {
      const lines = page.locator(".lane-a output.big");
      const pieces = page.locator(".lane-a .fact output").nth(1);
      const speed = page.getByLabel("Speed");
      await speed.fill("7");
      await until(async () => (await count(pieces)) > 60 || `${await count(pieces)} pieces`, "the race goes on", 60_000);
      // A piece is four cells and a line ten, so of 60 pieces some 20 lines have gone: the controllers are what they say.
      assert.ok((await count(lines)) > 10, `${await count(lines)} lines`);
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Play", exact: true }).waitFor();
      await page.waitForTimeout(300);
      const stands = await count(pieces);
      await page.getByRole("button", { name: "Step" }).click();
      await until(async () => (await count(pieces)) === stands + 1 || (await count(pieces)), "one step is one piece");
      const words = new RegExp(`^Playfield of A, 10 by 10: [\\d,]+ lines, ${stands + 1} pieces, filled up to row \\d+$`);
      const label = () => page.locator(".lane-a canvas.board").getAttribute("aria-label");
      await until(async () => words.test(await label()) || label(), "it says what is on the playfield");
      assert.match(await page.locator(".lane-a canvas.heat").getAttribute("aria-label"), /^\d+ placements; the best is orientation \d, column \d+$/);
    });
  });

  test(`a person plays with keys (${look.name})`, async () => {
    await on("/#play?rules=simplified", look, async (page) => {
      const pieces = page.locator(".left .fact output").nth(1);
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      await page.getByLabel("Seed").fill("42");
      await page.getByLabel("Seed").press("Enter");
      await page.getByLabel("Seed").blur();
      // Seed 42 deals T L Z: rules.proto says so. The T goes to the left wall.
      await until(async () => (await count(pieces)) === 0, "a new game");
      await page.locator("main").focus();
      for (let step = 0; step < 10; step++) {
        await page.keyboard.press("ArrowLeft");
      }
      await until(async () => (await page.locator("p[aria-live]").textContent()).startsWith("T, columns 1 to 2,") || page.locator("p[aria-live]").textContent(), "it says where the piece is");
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 1 || count(pieces), "a piece has landed");
      const columns = { columns: 10, rows: 24 };
      await shows(page, { column: 0, ...columns }, ["#a95bd6", "#a95bd6", "#a95bd6", null]);
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      await until(async () => (await count(pieces)) === 2 || count(pieces), "another one");
      await page.keyboard.press("h");
      await page.locator(".why table").waitFor();
      // The strongest controller of these rules, and every feature of it.
      assert.match(await page.locator(".why").textContent(), /tetrion-10x10-expectation would .*Second best.*by the features.*by the pieces to come.*in all\+/s);
      for (const name of ["landing height", "holes", "pattern diversity", "steps\\[6\\]"]) {
        assert.match(await page.locator(".why").textContent(), new RegExp(name));
      }
      await page.keyboard.press("u");
      await page.keyboard.press("u");
      await until(async () => (await count(pieces)) === 0 || count(pieces), "undo goes back to the beginning");
      await shows(page, { column: 0, ...columns }, [null, null, null]);
      assert.equal(await page.getByRole("button", { name: "Undo" }).isDisabled(), true);
    });
  });

  test(`a controller plays beside a person (${look.name})`, async () => {
    const few = ["--width", "10", "--height", "20", "--games", "1", "--seed", "11"];
    const [game] = await evaluated("dt-10", "--max-pieces", "12", ...few);
    const [start] = await evaluated("dt-10", "--max-pieces", "11", ...few);
    await on("/#play?rules=simplified", look, async (page) => {
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      assert.equal(await page.locator(".rival").isVisible(), false);
      await page.getByLabel("Seed").fill(game.seed);
      await page.getByLabel("Seed").press("Enter");
      await page.getByLabel("Against").selectOption("dt-10");
      await page.getByLabel("Against").blur();
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      const own = page.locator(".left .fact output").nth(1);
      await page.locator("main").focus();
      for (let piece = 1; piece <= 12; piece++) {
        for (let step = 0; step < 5; step++) {
          await page.keyboard.press(["ArrowLeft", "ArrowRight", "ArrowUp"][piece % 3]);
        }
        await page.keyboard.press(" ");
        await until(async () => (await count(own)) === piece || count(own), "a piece has landed");
      }
      const stands = async ({ lines }, pieces) => {
        const found = await standing(page, ".rival");
        return (found[0] === lines && found[1] === pieces) || `${found}`;
      };
      await until(() => stands(game, 12), `${game.lines} lines, 12 pieces`);
      assert.equal(await page.locator(".rival-facts h2").textContent(), "dt-10");
      await page.keyboard.press("u");
      await until(() => stands(start, 11), `${start.lines} lines, 11 pieces`);
      await page.keyboard.press(" ");
      await until(() => stands(game, 12), "the same game goes on");
    });
  });

  test(`modern Tetris is played by hand (${look.name})`, async () => {
    await on("/#play", look, async (page) => {
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      // Four columns, so that four pieces make a T-spin. Seed 7 deals L I O S T Z.
      await page.getByLabel("Control").selectOption("placements");
      await page.getByLabel("Width").fill("4");
      await page.getByLabel("Width").press("Enter");
      await page.getByLabel("Seed").fill("7");
      await page.getByLabel("Seed").press("Enter");
      await page.getByLabel("Seed").blur();
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      const [pieces, sent] = [page.locator(".left .fact output").nth(1), page.locator(".left .fact output").nth(3)];
      const says = async (text) => await until(async () => (await page.locator("p[aria-live]").textContent()).includes(text) || page.locator("p[aria-live]").textContent(), text);
      const label = (kind) => page.locator(`:is(.left, .right) canvas.${kind}`).getAttribute("aria-label");
      const press = async (...keys) => {
        for (const key of keys) {
          await page.keyboard.press(key);
        }
      };
      await until(async () => (await label("pieces")) === "Next: I, O, S, T, Z" || label("pieces"), "the next pieces");
      assert.equal(await label("held"), "No piece is held");
      await page.locator("main").focus();
      await press("z", "ArrowRight", " ", "x", "ArrowLeft", " ", "ArrowLeft", " ");
      await until(async () => (await count(pieces)) === 3 || count(pieces), "three pieces");
      await press("c");
      await says("Holds S for T, columns 1 to 3, rests on row 7");
      assert.equal(await label("held"), "Held: S");
      await press("x", "ArrowDown");
      await says("T-spin, clears 2 lines, 4 lines sent");
      await press(" ");
      await says("T-spin double, 4 lines sent. 2 lines.");
      assert.equal(await page.locator(".left .deed").first().textContent(), "T-spin double, 4 lines sent");
      assert.equal(await count(sent), 4);
      // What is left of the I are its lowest and its highest cell, with the O on it; of the L it is the lowest.
      await shows(page, { column: 0, columns: 4, rows: 24 }, ["#2fc6e0", "#2fc6e0", "#f2cf3c", "#f2cf3c"]);
      await shows(page, { column: 3, columns: 4, rows: 24 }, ["#ee8c2f"]);
      await press("h");
      await page.locator(".why table").waitFor();
      assert.match(await page.locator(".why").textContent(), /tetrion-guideline-preview would .*Keys: .*hard drop .*landing height/s);
      await press("u");
      await until(async () => (await label("held")) === "No piece is held" || label("held"), "the held piece is taken back");
      assert.deepEqual([await count(sent), await page.locator(".left .deed").first().textContent()], [0, ""]);
    });
  });

  test(`controllers are evaluated (${look.name})`, async () => {
    await on("/#evaluate", look, async (page) => {
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      await page.getByLabel("Height").fill("8");
      await page.getByLabel("Games each").selectOption("200");
      await page.getByLabel("Cut after").selectOption("10000");
      await page.getByRole("button", { name: "Evaluate", exact: true }).click();
      await until(async () => ((await page.locator(".remark[aria-live]").textContent()).startsWith("600 games in") || page.locator(".remark[aria-live]").textContent()), "600 games", 60_000);
      const rows = await page.locator("tbody tr").allTextContents();
      assert.equal(rows.length, 3);
      for (const row of rows) {
        assert.match(row, /^(dellacherie|bcts|el-tetris)200[\d.,]+/);
      }
      assert.match(await page.locator("ul").textContent(), /bcts − dellacherie: -?[\d.,]+ lines per game/);
      assert.match(await page.locator("canvas.strips").getAttribute("aria-label"), /bcts: mean [\d.,]+, plus or minus [\d.,]+, over 200 games/);
    });
  });

  test(`it says what the server is (${look.name})`, async () => {
    await on("/#server", look, async (page) => {
      await page.getByText("tetrion-rules-1").waitFor();
      assert.equal(await page.locator("tbody th", { hasText: "simplified" }).count(), 1);
      await page.getByRole("link", { name: "docs/watching.md" }).click();
      await page.getByRole("link", { name: "the reasons for every choice" }).click();
      assert.ok(await page.getByRole("heading", { name: "Why a placement is chosen" }).evaluate((heading) => heading.getBoundingClientRect().top < 200), "it is at the top");
      await page.getByRole("link", { name: "All documents" }).click();
      await page.getByRole("heading", { name: "All documents" }).waitFor();
      await page.goto(`${server.address}/#server`);
      await page.getByRole("tab", { name: "Any language" }).click();
      await page.getByText(`${server.address}/tetrion.v1.EnvironmentService/GetServerInfo`).waitFor();
    });
  });
}

for (const { preset, height, preview, game, ways } of [
  { preset: "simplified", height: 4, preview: 0, game: 3, ways: ["weighs the next piece", "greedy: needs a preview of 1"] },
  { preset: "simplified", height: 4, preview: 1, game: 9, ways: ["weighs the next piece", "weighs the next 2 pieces"] },
  { preset: "survey", height: 5, preview: 0, game: 1, ways: ["weighs the next piece", "greedy"] },
]) {
  test(`controllers that weigh the pieces to come play as the server plays them (${preset}, preview ${preview})`, async () => {
    const names = ["tetrion-10x10-expectation", ways[1] === "greedy" ? "dt-10" : "tetrion-10x10-preview"];
    const rules = ["--rules", preset, "--width", "10", "--height", String(height), "--preview", String(preview), "--games", "10", "--seed", "3"];
    const games = await Promise.all(names.map((name, at) => evaluated(name, ...rules, ...(ways[at].startsWith("greedy") ? ["--search", "greedy"] : []))));
    const expected = games.map((games) => games[game]);
    await on("/#race", DESKTOP, async (page) => {
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByLabel("Rules").selectOption(preset);
      for (const [name, value] of [["Height", height], ["Preview", preview]]) {
        await page.getByLabel(name, { exact: true }).fill(String(value));
        await page.getByLabel(name, { exact: true }).press("Enter");
      }
      for (const [at, side] of ["A", "B"].entries()) {
        await page.getByLabel(`Controller ${side}`).selectOption(names[at]);
        await until(async () => (await page.locator(".way").nth(at).textContent()) === ways[at] || page.locator(".way").nth(at).textContent(), ways[at]);
      }
      await page.getByLabel("Seed").fill(expected[0].seed);
      await page.getByLabel("Seed").press("Enter");
      await page.getByLabel("Speed").fill("7");
      await page.getByRole("button", { name: "Play", exact: true }).click();
      // The end of a game stands for three seconds.
      const want = expected.map(({ lines, pieces }) => [lines, pieces]);
      const found = async () => [await standing(page, ".lane-a"), await standing(page, ".lane-b")];
      await until(async () => `${await found()}` === `${want}` || `${await found()}`, `lines and pieces: ${want}`, 60_000);
      await page.waitForTimeout(1000);
      assert.deepEqual(await found(), want);
    });
  });
}

test("controllers that hold race as the server plays them", async () => {
  const names = ["dellacherie", "bcts"];
  const rules = ["--rules", "guideline,rows_above=20", "--height", "24", "--games", "3", "--seed", "3", "--max-pieces", "300"];
  const games = await Promise.all(names.map((name) => evaluated(name, ...rules)));
  const expected = games.map((games) => games[2]);
  await on("/#race", DESKTOP, async (page) => {
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Rules").selectOption("guideline");
    await page.getByLabel("Height", { exact: true }).fill("4");
    await page.getByLabel("Height", { exact: true }).press("Enter");
    await page.getByLabel("Seed").fill(expected[0].seed);
    await page.getByLabel("Seed").press("Enter");
    const board = page.locator(".lane-a canvas.board");
    const heat = page.locator(".lane-a canvas.heat");
    // Step by step until the first piece is held: it says so, and of the two blocks of the heat the lower one has the best.
    const holds = /filled up to row \d+, holds ([IOTZSJL]) for [IOTZSJL]$/;
    await until(async () => {
      if (!holds.test(await board.getAttribute("aria-label"))) {
        await page.getByRole("button", { name: "Step" }).click();
        await page.waitForTimeout(150);
        return board.getAttribute("aria-label");
      }
      return true;
    }, "a piece is held");
    assert.match(await heat.getAttribute("aria-label"), /^\d+ placements; the best is orientation \d, column \d+, after holding$/);
    const [, letter] = holds.exec(await board.getAttribute("aria-label"));
    assert.equal(await page.locator(".lane-a canvas.held").getAttribute("aria-label"), `Held: ${letter}`);
    assert.match(await page.locator(".lane-a canvas.pieces").getAttribute("aria-label"), /^Next: [IOTZSJL](, [IOTZSJL]){3,4}$/);
    await page.getByLabel("Speed").fill("7");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    // The end of a game stands for three seconds.
    const want = expected.map(({ lines, pieces }) => [lines, pieces]);
    const found = async () => [await standing(page, ".lane-a"), await standing(page, ".lane-b")];
    await until(async () => `${await found()}` === `${want}` || `${await found()}`, `lines and pieces: ${want}`, 60_000);
    assert.match(await page.locator(".lane-a .deed").textContent(), /^(Single|Double|Triple|Tetris)/);
  });
});

test("weights that are changed change the choices, and can be evaluated", async () => {
  await on("/#race", DESKTOP, async (page) => {
    await page.getByRole("button", { name: "Pause" }).click();
    await page.waitForTimeout(300);
    const holes = page.getByRole("slider", { name: "A: weight of holes" });
    const heat = page.locator(".lane-a canvas.heat");
    const before = await heat.getAttribute("aria-label");
    // A controller that loves height builds a tower.
    const height = page.getByRole("slider", { name: "A: weight of landing height" });
    await height.fill(await height.getAttribute("max"));
    await holes.fill(await holes.getAttribute("max"));
    await until(async () => (await heat.getAttribute("aria-label")) !== before, "another placement is the best");
    await page.locator(".lane-a .controller.edited").waitFor();
    await page.getByLabel("Speed").fill("7");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await until(async () => (await page.locator(".lane-a .fact output").nth(2).textContent()) === "10" || page.locator(".lane-a .facts").textContent(), "it tops out");
    await page.getByRole("link", { name: "Evaluate" }).click();
    await page.getByLabel("Controller 1").selectOption({ label: "dellacherie, weights of A" });
    await page.getByLabel("Controller 2").selectOption("dellacherie");
    await page.getByRole("button", { name: "Leave out el-tetris" }).click();
    await page.getByLabel("Games each").selectOption("50");
    await page.getByLabel("Cut after").selectOption("10000");
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    await page.getByText("100 games in").waitFor({ timeout: 60_000 });
    assert.match(await page.locator("ul").textContent(), /dellacherie − dellacherie, weights of A: [\d.,]+ lines per game.*better/);
  });
});

test("under rules of keys controllers race as the server plays them, and go back", async () => {
  const client = connect(server.address, { transport: grpc });
  const players = ["lab-optimised", "lab-uniform"];
  const { games } = await client.evaluateAll({ rules: { preset: "lab", height: 8 }, policies: players, seeds: [3n] });
  client.close();
  const ends = players.map((_, at) => [Number(games.lines[at]), Number(games.pieces[at])]);
  await on("/#race?rules=lab&height=8&seed=3&a=lab-optimised&b=lab-uniform&speed=Infinity", DESKTOP, async (page) => {
    const both = async () => [await standing(page, ".lane-a"), await standing(page, ".lane-b")];
    await until(async () => String(await both()) === String(ends) || both(), `games that end at ${ends}`, 60_000);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Back" }).click();
    const before = ends.map(([, pieces]) => Math.min(pieces, Math.max(ends[0][1], ends[1][1]) - 1));
    await until(async () => String((await both()).map(([, pieces]) => pieces)) === String(before) || both(), "one piece less");
    await page.getByRole("button", { name: "Step" }).click();
    await until(async () => String(await both()) === String(ends) || both(), "and the end again");
  });
});

test("a formula races as the server plays it, and is rewritten during the game", async () => {
  const formula = "-holes^2 - max(0, max_height - 4)^2 - bumpiness + pieces/1000*lines_cleared";
  const [game] = await evaluated("--formula", formula, "--height", "10", "--games", "1", "--seed", "4");
  const sure = encodeURIComponent(formula);
  await on(`/#race?height=10&seed=${game.seed}&formula_a=${sure}&b=bcts&speed=Infinity`, DESKTOP, async (page) => {
    const want = [game.lines, game.pieces];
    await until(async () => `${await standing(page, ".lane-a")}` === `${want}` || standing(page, ".lane-a"), `lines and pieces: ${want}`, 60_000);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "New game" }).click();
    const text = page.getByLabel("Formula of A");
    assert.equal(await text.inputValue(), formula);
    // On an empty playfield the formula is negative, and the one below positive, whatever the piece.
    const value = page.locator(".lane-a .controls > .source");
    await until(async () => /^Value of the choice: -[\d.]+$/.test(await value.textContent()) || value.textContent(), "the values");
    // Its terms say why: those that differ from the second best, or that they are equal.
    const terms = page.getByRole("region", { name: "Terms of A" });
    await until(async () => /in all\+?[\d.]+/.test(await terms.textContent()) || terms.textContent(), "the lead");
    assert.match(await page.locator(".lane-a .why").textContent(), /-holes\^2/);
    const heat = page.locator(".lane-a canvas.heat");
    const before = await heat.getAttribute("aria-label");
    // A mistake changes nothing but what is said below the formula; the player goes on by the last one.
    await text.fill("-hole");
    await text.blur();
    await page.locator(".lane-a .problem").waitFor();
    assert.match(await page.locator(".lane-a .problem").textContent(), /hole.*did you mean/s);
    assert.equal(await heat.getAttribute("aria-label"), before);
    assert.equal(await page.locator("#notice").isVisible(), false);
    await text.fill("landing_height + holes");
    await text.blur();
    await until(async () => /^Value of the choice: [\d.]+$/.test(await value.textContent()) || value.textContent(), "the values of the new formula");
    assert.equal(await page.locator(".lane-a .problem").count(), 0);
    assert.match(decodeURIComponent(new URL(page.url()).hash).replaceAll("+", " "), /formula_a=landing_height {3}holes|formula_a=landing_height . holes/);
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await until(async () => (await page.locator(".lane-a .fact output").nth(2).textContent()) === "10" || page.locator(".lane-a .facts").textContent(), "it tops out");
    // From a controller to a formula and back.
    await page.getByLabel("Controller A").selectOption("dellacherie");
    await page.getByRole("slider", { name: "A: weight of holes" }).waitFor();
    await page.getByLabel("Controller B").selectOption("a formula");
    await page.getByLabel("Formula of B").waitFor();
  });
  await on("/#race?formula_a=-hole&b=bcts", DESKTOP, async (page) => {
    await page.locator(".lane-a .problem").waitFor();
    await until(async () => (await standing(page, ".lane-a"))[1] > 2 || standing(page, ".lane-a"), "the race goes on by another formula");
  });
});

/** Has the page evaluate `dellacherie` and `bcts`, 50 games of 500 pieces each; returns what it says of the distributions. */
async function evaluateTwo(page) {
  await page.getByRole("button", { name: "Leave out el-tetris" }).click();
  await page.getByLabel("Games each").selectOption("50");
  await page.getByLabel("Cut after").selectOption("500");
  await page.getByRole("button", { name: "Evaluate", exact: true }).click();
  await page.getByText("100 games in").waitFor({ timeout: 60_000 });
  return await page.locator("canvas.strips").getAttribute("aria-label");
}

test("formulas are evaluated, and a mistake in one is shown below it", async () => {
  const formulas = ["-4*holes - max(0, max_height - 6)^2 - bumpiness", "-holes - max_height^2"];
  const means = await Promise.all(formulas.map(async (formula) => {
    const games = await evaluated("--formula", formula, "--height", "10", "--max-pieces", "500", "--games", "50", "--seed", "1");
    return games.reduce((sum, { lines }) => sum + lines, 0) / games.length;
  }));
  await on("/#evaluate", DESKTOP, async (page) => {
    const formula = (at) => page.getByLabel(`Formula ${at}`, { exact: true });
    await page.getByRole("button", { name: "Leave out bcts" }).click();
    for (const at of [0, 1]) {
      await page.getByRole("button", { name: "Add a formula" }).click();
      await formula(3 + at).fill(formulas[at]);
    }
    await page.getByRole("button", { name: "Leave out dellacherie" }).click();
    await page.getByRole("button", { name: "Leave out el-tetris" }).click();
    await page.getByLabel("Games each").selectOption("50");
    await page.getByLabel("Cut after").selectOption("500");
    await formula(1).fill("-hole");
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    const problem = page.getByRole("alert");
    await problem.waitFor();
    assert.match(await problem.textContent(), /nothing is called "hole", did you mean "holes"\?.*\n *-hole\n *\^{4}/s);
    assert.equal(await formula(1).getAttribute("aria-invalid"), "true");
    assert.equal(await page.locator("#notice").isVisible(), false);
    await formula(1).fill(formulas[0]);
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    await page.getByText("100 games in").waitFor({ timeout: 60_000 });
    assert.equal(await problem.count(), 0);
    const spoken = await page.locator("canvas.strips").getAttribute("aria-label");
    assert.deepEqual([...spoken.matchAll(/formula \d: mean ([\d.]+)/g)].map(([, mean]) => Number(mean)), means.map((mean) => Number(mean.toPrecision(3))), spoken);
    // The address has them, commas and carets too.
    await page.reload();
    await formula(2).waitFor();
    assert.deepEqual(await Promise.all([1, 2].map((at) => formula(at).inputValue())), formulas);
    assert.equal(await page.getByLabel("Controller 1").count(), 0);
    await page.evaluate(() => (location.hash = "#evaluate?formulas=-holes"));
    await until(async () => (await page.locator("#notice").textContent()).includes("formulas=-holes, expected a JSON list of up to 6 formulas") || page.locator("#notice").textContent(), "what is wrong");
  });
});

test("lines sent are counted where there are such", async () => {
  const few = ["--rules", "guideline,clear_points=attack", "--height", "40", "--max-pieces", "500", "--games", "50", "--seed", "1"];
  const scores = await Promise.all(["dellacherie", "bcts"].map(async (name) => {
    const games = await evaluated(name, ...few);
    return games.reduce((sum, { score }) => sum + score, 0) / games.length;
  }));
  await on("/#evaluate", DESKTOP, async (page) => {
    assert.equal(await page.getByLabel("Count", { exact: true }).isVisible(), false);
    await page.getByLabel("Rules").selectOption("guideline");
    await page.getByLabel("Count", { exact: true }).selectOption("lines sent");
    const spoken = await evaluateTwo(page);
    await page.getByRole("heading", { name: "Lines sent per game" }).waitFor();
    const means = [...spoken.matchAll(/mean ([\d.]+)/g)].map(([, mean]) => Number(mean));
    assert.deepEqual(means, scores.map((score) => Number(score.toPrecision(3))), spoken);
    assert.match(await page.locator("ul").textContent(), /bcts − dellacherie: -?[\d.,]+ lines sent per game/);
    await page.getByLabel("Rules").selectOption("simplified");
    // What is shown is still what was counted.
    assert.equal(await page.getByRole("heading", { name: "Lines sent per game" }).count(), 1);
    assert.equal(await page.getByLabel("Count", { exact: true }).isVisible(), false);
  });
});

test("points are counted where a point is not a line", async () => {
  const scores = await Promise.all(["dellacherie", "bcts"].map(async (name) => {
    const games = await evaluated(name, "--rules", "nes", "--max-pieces", "500", "--games", "50", "--seed", "1");
    return games.reduce((sum, { score }) => sum + score, 0) / games.length;
  }));
  await on("/#evaluate", DESKTOP, async (page) => {
    const counted = page.getByLabel("Count", { exact: true });
    await page.getByLabel("Rules").selectOption("guideline");
    await counted.selectOption("lines sent");
    await page.getByLabel("Rules").selectOption("nes");
    assert.deepEqual(await counted.locator("option").allTextContents(), ["lines", "points"]);
    assert.equal(await counted.inputValue(), "lines", "these rules send no lines");
    await counted.selectOption("points");
    const spoken = await evaluateTwo(page);
    await page.getByRole("heading", { name: "Points per game" }).waitFor();
    const means = [...spoken.matchAll(/mean ([\d,]+), plus/g)].map(([, mean]) => Number(mean.replaceAll(",", "")));
    assert.deepEqual(means, scores.map(Math.round), spoken);
    assert.match(await page.locator("ul").textContent(), /bcts − dellacherie: -?[\d.,]+ points per game/);
    await page.getByLabel("Rules").selectOption("genetic");
    assert.equal(await counted.inputValue(), "points");
    await page.getByLabel("Rules").selectOption("leiden");
    assert.equal(await counted.isVisible(), false);
  });
});

test("an evaluation can be stopped", async () => {
  await on("/#evaluate", DESKTOP, async (page) => {
    await page.getByLabel("Games each").selectOption("5000");
    await page.getByLabel("Height").fill("20");
    await page.getByLabel("Cut after").selectOption("1000000");
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Evaluate", exact: true }).waitFor();
  });
});

test("pieces fall by themselves where the rules have key presses", async () => {
  await on("/#play", DESKTOP, async (page) => {
    await page.getByLabel("Rules").selectOption("lab");
    await page.getByLabel("Pieces fall by themselves").waitFor();
    await page.locator("main").focus();
    const pieces = page.locator(".left .fact output").nth(1);
    for (let piece = 1; piece <= 3; piece++) {
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === piece || count(pieces), "a piece has landed");
    }
    // Every full cell has the colour of a piece: the page knows where each landed, though it learns of keys only.
    const known = ["#2fc6e0", "#f2cf3c", "#a95bd6", "#e2484d", "#53b94f", "#3f6fe0", "#ee8c2f"];
    const coloured = async () => {
      const columns = [];
      for (let at = 0; at < 10; at++) {
        columns.push(await column(page, ".playfield canvas.board", { column: at, columns: 10, rows: 24 }));
      }
      return columns.flatMap((cells) => cells.slice(0, 12)).filter((cell) => known.includes(cell)).length;
    };
    await until(async () => (await coloured()) === 12 || coloured(), "three pieces in their colours");
    await page.keyboard.press("u");
    await until(async () => (await count(pieces)) === 2 || count(pieces), "undo takes a piece back");
  });
});

test("modern Tetris is played by keys, in time", async () => {
  await on("/#play", DESKTOP, async (page) => {
    await page.getByLabel("Rules").selectOption("guideline");
    await page.getByLabel("Control").selectOption("keys");
    await page.getByLabel("Pieces fall by themselves").uncheck();
    await page.getByLabel("Against").selectOption("tetrion-guideline");
    // Seed 7 deals L I O S T Z.
    await page.getByLabel("Seed").fill("7");
    await page.getByLabel("Seed").press("Enter");
    const pieces = page.locator(".left .fact output").nth(1);
    const label = (kind) => page.locator(`:is(.left, .right) canvas.${kind}`).getAttribute("aria-label");
    const says = async (text) => await until(async () => (await page.locator("p[aria-live]").textContent()).includes(text) || page.locator("p[aria-live]").textContent(), text);
    await until(async () => (await label("pieces")) === "Next: I, O, S, T, Z" || label("pieces"), "the next pieces");
    assert.ok((await page.locator("dl.keys").textContent()).includes("without locking"));
    await page.locator("main").focus();
    await page.keyboard.press("c");
    await says("Now I");
    assert.deepEqual([await label("held"), await label("pieces")], ["Held: L", "Next: O, S, T, Z, J"]);
    await page.keyboard.press("c");
    await says("The piece cannot be held now");
    // Down to the ground, where it can still be moved: from the column in the middle to the left wall.
    for (const key of ["ArrowUp", "f", ...Array(6).fill("ArrowLeft")]) {
      await page.keyboard.press(key);
    }
    assert.equal(await count(pieces), 0);
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 1 || count(pieces), "it has landed");
    await shows(page, { column: 0, columns: 10, rows: 24 }, Array(4).fill("#2fc6e0"));
    await until(async () => (await standing(page, ".rival"))[1] === 1 || standing(page, ".rival"), "one piece there too");
    await page.keyboard.press("h");
    await page.locator(".why table").waitFor();
    // On the ground it locks by itself after half a second.
    await page.getByLabel("Pieces fall by themselves").check();
    await page.locator("main").focus();
    await page.keyboard.press("f");
    await until(async () => (await count(pieces)) >= 2 || count(pieces), "it locks by itself");
    await page.getByLabel("Pieces fall by themselves").uncheck();
    await page.locator("main").focus();
    const landed = await count(pieces);
    await page.keyboard.press("u");
    await until(async () => (await count(pieces)) === landed - 1 || count(pieces), "undo takes a piece back");
  });
});

test("a controller plays beside a person with keys", async () => {
  await on("/#play", DESKTOP, async (page) => {
    await page.getByLabel("Rules").selectOption("lab");
    await page.getByLabel("Pieces fall by themselves").uncheck();
    await page.getByLabel("Against").selectOption("lab-uniform");
    await page.locator("main").focus();
    const pieces = page.locator(".left .fact output").nth(1);
    for (let piece = 1; piece <= 3; piece++) {
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === piece || count(pieces), "a piece has landed");
    }
    await until(async () => (await standing(page, ".rival"))[1] === 3 || standing(page, ".rival"), "three pieces there too");
    await page.keyboard.press("u");
    await until(async () => (await standing(page, ".rival"))[1] === 2 || standing(page, ".rival"), "and one less");
    await page.getByLabel("Against").selectOption("");
    await page.locator(".rival").waitFor({ state: "hidden" });
  });
});

test("shift alone holds, and shift with tab goes back to the control before", async () => {
  await on("/#play", DESKTOP, async (page) => {
    await page.getByLabel("Rules").selectOption("guideline");
    const held = () => page.locator(".left canvas.held").getAttribute("aria-label");
    await until(async () => (await held()) === "No piece is held" || held(), "a game");
    await page.locator("main").focus();
    await page.keyboard.press("Shift+Tab");
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("Shift+Tab");
    await page.waitForTimeout(300);
    assert.equal(await held(), "No piece is held");
    // On a button, where space is the button's, it holds too.
    await page.getByRole("button", { name: "Hint" }).focus();
    await page.keyboard.press("Shift");
    await until(async () => /^Held: [IOTZSJL]$/.test(await held()) || held(), "a piece is held");
  });
});

test("every preset can be played", async () => {
  await on("/#play", DESKTOP, async (page) => {
    const pieces = page.locator(".left .fact output").nth(1);
    await page.getByLabel("Rules").waitFor();
    const presets = await page.getByLabel("Rules").locator("option").allTextContents();
    assert.ok(presets.length >= 7, `${presets}`);
    const THREE = /^Next: [IOTZSJL], [IOTZSJL], [IOTZSJL]$/;
    const next = () => page.locator("canvas.pieces").getAttribute("aria-label");
    const board = () => page.locator(".playfield canvas.board").getAttribute("aria-label");
    for (const preset of presets) {
      await page.getByLabel("Rules").selectOption(preset);
      // The game before has a piece by now; a choice of other next pieces begins one more.
      await until(async () => {
        const isNew = new URLSearchParams(page.url().split("?")[1]).get("rules") === preset && (await board()).includes(", 0 pieces");
        return isNew || `${page.url()} ${await board()}`;
      }, `a game of ${preset}`);
      await page.getByLabel("Preview").fill("3");
      await page.getByLabel("Preview").press("Enter");
      await until(async () => THREE.test(await next()) || next(), `three next pieces of ${preset}`);
      await page.locator("main").focus();
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 1 || count(pieces), preset);
    }
  });
});

test("a token is asked for, kept for the tab, and never in the address", async () => {
  const locked = await Server.start(["--token", "open sesame"]);
  try {
    await on("/#server", DESKTOP, async (page) => {
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Token").fill("wrong");
      await dialog.getByRole("button", { name: "Enter" }).click();
      await dialog.getByText("It does not accept that token.").waitFor();
      // No header carries this one.
      await dialog.getByLabel("Token").fill("日本");
      await dialog.getByLabel("Token").press("Enter");
      assert.equal(await dialog.getByLabel("Token").evaluate((field) => field.matches(":invalid")), true);
      assert.equal(await page.locator("#notice").isVisible(), false);
      await dialog.getByLabel("Token").fill("open sesame");
      await dialog.getByLabel("Token").press("Enter");
      await page.getByText("tetrion-rules-1").waitFor();
      assert.equal(new URL(page.url()).href, `${locked.address}/#server`);
      await page.reload();
      await page.getByText("tetrion-rules-1").waitFor();
      const kept = await page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage), document.cookie]);
      assert.deepEqual(kept[0], ["open sesame"]);
      assert.ok(!JSON.stringify(kept.slice(1)).includes("sesame"));
    }, { of: locked });
  } finally {
    await locked.stop();
  }
});

test("a game survives its server", async () => {
  let mortal = await Server.start();
  try {
    await on("/#play?rules=simplified", DESKTOP, async (page) => {
      const pieces = page.locator(".left .fact output").nth(1);
      await page.locator("main").focus();
      await until(async () => (await page.locator(".playfield canvas.board").getAttribute("aria-label")).includes("0 pieces"), "a game");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 1 || count(pieces), "a piece");
      // The game goes on from the last snapshot, and this piece is in it when undo can take it back.
      await page.getByRole("button", { name: "Undo", disabled: false }).waitFor();
      await mortal.stop();
      await page.keyboard.press(" ");
      await page.getByText("The server does not answer").waitFor();
      mortal = await Server.start([], mortal.port);
      // The new server knows nothing of the session: whoever asks for a hint first has the game still.
      await page.getByLabel("Ask").selectOption("bcts");
      await page.locator(".why p", { hasText: "bcts would take columns" }).waitFor();
      assert.equal(await count(pieces), 1);
      await page.locator("main").focus();
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 2 || count(pieces), "the game goes on in a new session");
    }, { of: mortal, expected: ["net::ERR_"] });
  } finally {
    await mortal.stop();
  }
});

test("a race that is paused survives its server, and its formula can be rewritten then", async () => {
  let mortal = await Server.start();
  try {
    await on("/#race?height=10&formula_a=-holes&b=bcts", DESKTOP, async (page) => {
      const pieces = page.locator(".lane-a .fact output").nth(1);
      const heat = page.locator(".lane-a canvas.heat");
      await until(async () => (await count(pieces)) > 3 || count(pieces), "a race");
      await page.getByRole("button", { name: "Pause" }).click();
      await page.waitForTimeout(500);
      const [stands, before] = [await count(pieces), await heat.getAttribute("aria-label")];
      await mortal.stop();
      mortal = await Server.start([], mortal.port);
      // The new server knows nothing of the session.
      await page.getByLabel("Formula of A").fill("landing_height");
      await page.getByLabel("Formula of A").blur();
      await until(async () => (await heat.getAttribute("aria-label")) !== before, "another placement is the best");
      assert.equal(await count(pieces), stands);
      await page.getByRole("button", { name: "Step" }).click();
      await until(async () => (await count(pieces)) === stands + 1 || count(pieces), "the race goes on in a new session");
      // A formula that other rules do not allow: the player goes on by another one.
      await page.getByLabel("Formula of A").fill("column_height[9]");
      await page.getByLabel("Formula of A").blur();
      await page.getByLabel("Width", { exact: true }).fill("6");
      await page.getByLabel("Width", { exact: true }).press("Enter");
      await page.locator(".lane-a .problem").waitFor();
      await page.getByRole("button", { name: "Play", exact: true }).click();
      await until(async () => (await count(pieces)) > 2 || count(pieces), "it goes on");
    }, { of: mortal, expected: ["net::ERR_"] });
  } finally {
    await mortal.stop();
  }
});

test("it can be used with the keyboard alone", async () => {
  await on("/#race", DESKTOP, async (page) => {
    await page.locator(".lane-a canvas.board").waitFor();
    const seen = [];
    for (let stop = 0; stop < 24; stop++) {
      await page.keyboard.press("Tab");
      seen.push(await page.evaluate(() => {
        const focused = document.activeElement;
        const named = focused.ariaLabel ?? focused.labels?.[0]?.textContent ?? focused.textContent;
        return named.trim();
      }));
    }
    for (const name of ["Skip to the content", "Race", "Play", "Pause", "Speed", "Rules", "Width", "Seed", "Controller A"]) {
      assert.ok(seen.includes(name), `${name} is not among ${seen}`);
    }
    await page.getByRole("link", { name: "Play", exact: true }).focus();
    await page.keyboard.press("Enter");
    await until(async () => (await page.title()) === "Play · Tetrion" || page.title(), "another view");
    await page.getByRole("link", { name: "Skip to the content" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.equal(await page.title(), "Play · Tetrion", "the same view");
  });
});

test("themes and colours can be chosen, and are remembered", async () => {
  await on("/#play", DESKTOP, async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole("button", { name: /Theme/ }).click();
    await page.getByRole("button", { name: /Theme/ }).click();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    assert.notEqual(await ground(), light);
    await page.getByRole("button", { name: /colour-blind/ }).click();
    await page.reload();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /colour-blind/ }).getAttribute("aria-pressed"), "true");
    const dark = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await ground(), dark, "dark was chosen, whatever the system says");
    await page.getByRole("button", { name: /Theme/ }).click();
    assert.equal(await ground(), dark, "as the system says");
    await page.getByRole("button", { name: /Theme/ }).click();
    await page.getByRole("button", { name: "Theme: light" }).waitFor();
    assert.equal(await ground(), light, "light was chosen");
    await page.goto(`${server.address}/docs/watching.html`);
    assert.equal(await ground(), light, "light was chosen for documents too");
  });
});

test("without a training there is nothing to see, and it says so", async () => {
  await on("/#training", DESKTOP, async (page) => {
    await page.getByText("No training runs in this server's process.").waitFor();
    await page.getByText("tetrion train", { exact: true }).waitFor();
  });
});

for (const look of [LOOKS[0], LOOKS[3]]) {
  test(`the learning curve of a training grows (${look.name})`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "tetrion-page-"));
    const search = ["--height", "8", "--generations", "500", "--population", "16", "--games", "2", "--check-games", "8", "--max-pieces", "1000", "--seed", "5"];
    const training = spawn(process.env.TETRION_BINARY, ["train", ...search, "--out", join(folder, "run")], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      let address;
      for await (const line of createInterface(training.stderr)) {
        address = /^its learning curve grows at (http:.*)\/#training$/.exec(line)?.[1];
        if (address !== undefined) {
          break;
        }
      }
      training.stderr.resume();
      await on("/#training", look, async (page) => {
        await page.getByRole("heading", { name: /on 10 x 8, seed 5$/ }).waitFor();
        const done = async () => Number(/^(\d+) of 500 generations: [\d.,]+ lines per game, [\d.,-]+ to [\d.,]+\.$/.exec(await page.locator(".lead").textContent())?.[1] ?? 0);
        await until(async () => (await done()) > 2 || page.locator(".lead").textContent(), "generations", 60_000);
        const first = await done();
        await until(async () => (await done()) > first || page.locator(".lead").textContent(), "it grows", 60_000);
        assert.equal(await page.locator("tbody tr").count(), Math.min(50, await done()));
        // Each weight over the generations, and no band below 0 lines.
        assert.ok((await page.locator("canvas.spark").count()) >= 6);
        assert.match(await page.locator("canvas.spark").first().getAttribute("aria-label"), /^Weight of \w+: -?[\d.]+ in the last generation$/);
        const [head, ...points] = (await saved(page, "Save CSV")).trim().split("\n").map((line) => line.split(/,(?=[^ ])/));
        assert.deepEqual(head, ["line", "generation", "lines per game", "low", "high"]);
        assert.ok(points.length > 6 && points.every((cells) => !(Number(cells[3]) < 0)), `${points}`);
        assert.match(await page.locator("tbody tr").first().textContent(), /\([\d.,]+ to [\d.,]+\)/);
        // Under the pointer: the values.
        const chart = page.locator("canvas.chart");
        const drawing = () => chart.evaluate((canvas) => canvas.toDataURL());
        await page.getByLabel("Logarithmic").setChecked(!(await page.getByLabel("Logarithmic").isChecked()));
        const { width } = await chart.boundingBox();
        const plain = await drawing();
        await chart.hover({ position: { x: width / 2, y: 60 } });
        await until(async () => (await drawing()) !== plain || "nothing", "values under the pointer");
        training.kill("SIGKILL");
        await page.getByText(/The training has ended, or its server does not answer\. \d+ of 500 generations: .* The curve stays while this tab is open\./).waitFor();
        assert.equal(await page.locator("canvas.chart").isVisible(), true);
      }, { of: { address }, expected: ["net::ERR_"] });
    } finally {
      const ended = training.exitCode === null && training.signalCode === null ? once(training, "exit") : undefined;
      training.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true });
    }
  });
}

test("a session of modern Tetris is watched with what is held", async () => {
  const other = await open(browser, server, { ...DESKTOP, path: "/#race" });
  try {
    await other.page.getByLabel("Rules").selectOption("guideline");
    await on("/#sessions", DESKTOP, async (page) => {
      await page.getByRole("radio", { name: /^Race.* 2 environments, guideline 10 × 20, a person's game/ }).last().click();
      await page.getByLabel("Boards").selectOption("4");
      const [board, held] = [page.locator("canvas.board").first(), page.locator("canvas.held").first()];
      await until(async () => /^Held: [IOTZSJL]$/.test(await held.getAttribute("aria-label")) || held.getAttribute("aria-label"), "a piece is held");
      await until(async () => /^Environment 0: \d+ lines?, \d+ pieces, [IOTZSJL] held$/.test(await board.getAttribute("aria-label")) || board.getAttribute("aria-label"), "it says so");
      assert.match(await page.locator("canvas.pieces").first().getAttribute("aria-label"), /^Next: [IOTZSJL](, [IOTZSJL]){4}$/);
      assert.equal(await page.locator("canvas.held").count(), 2);
      await page.getByLabel("Boards").selectOption("16");
      await until(async () => (await page.locator("canvas.held").count()) === 2 || page.locator("canvas.held").count(), "two boards have room for it still");
    });
  } finally {
    await other.close();
  }
});

for (const look of LOOKS) {
  test(`sessions are watched as they go on (${look.name})`, async () => {
    // The race of one page is a session like any other to another page.
    const other = await open(browser, server, { ...DESKTOP, path: "/#race" });
    try {
      await other.page.locator(".lane-a canvas.board").waitFor();
      await on("/#sessions", look, async (page) => {
        const row = page.getByRole("radio", { name: /^Race.* 2 environments, simplified 10 × 10, a person's game/ }).last();
        await row.click();
        assert.equal(await row.getAttribute("aria-checked"), "true");
        const board = page.locator("canvas.board").first();
        const pieces = async () => Number(/(\d+) pieces$/.exec(await board.getAttribute("aria-label"))?.[1]);
        await until(async () => Number.isFinite(await pieces()) || board.getAttribute("aria-label"), "a frame");
        const before = await pieces();
        await until(async () => (await pieces()) > before + 3 || pieces(), "the game goes on");
        assert.equal(await page.locator("canvas.board").count(), 2);
        const label = () => other.page.locator(".lane-a canvas.board").getAttribute("aria-label");
        await other.page.getByRole("button", { name: "Pause" }).click();
        const words = /: (\d+) lines, (\d+) pieces/;
        await until(async () => {
          const [there, here] = [words.exec(await label()).slice(1), words.exec(await board.getAttribute("aria-label"))?.slice(1)];
          return `${there}` === `${here}` || `${here}, expected ${there}`;
        }, "both pages show the same game");
        await other.page.getByLabel("Seed").fill("7");
        await other.page.getByLabel("Seed").press("Enter");
        await page.getByText("The session has ended.").waitFor();
      });
    } finally {
      await other.close();
    }
  });
}

const SCREENS = [[1440, 900], [1024, 768], [1920, 1080], [390, 844], [844, 390]].map(([width, height]) => ({ name: `${width} x ${height}`, width, height }));

for (const look of SCREENS) {
  test(`playfields are seen whole (${look.name})`, async () => {
    for (const path of ["/", "/#race", "/#race?rules=guideline", "/#race?width=32&height=20", "/#play", "/#play?against=bcts", "/#play?rules=simplified&width=32", "/#play?half_turns=tetrio&against=dt-10", "/#play?rules=tetrio&players=2", "/#race?rules=tetrio&players=2"]) {
      await on(path, look, async (page) => {
        const boards = page.locator("canvas.board:visible");
        await boards.first().waitFor();
        await until(async () => (await boards.count()) === (path.startsWith("/#play") && !/against|players=2/.test(path) ? 1 : 2) || boards.count(), "boards");
        for (const board of await boards.all()) {
          await until(async () => path === "/" || (await board.getAttribute("aria-label")).includes("pieces") || board.getAttribute("aria-label"), "a game");
          const { x, y, width, height } = await board.boundingBox();
          assert.ok(x >= 0 && y >= 0 && x + width <= look.width && y + height <= look.height, `${path}: ${x}, ${y}, ${width} x ${height}`);
          assert.ok(width >= 78, `${path}: a playfield ${width} pixels wide`);
        }
        // On large screens the room is used.
        if (path === "/#play" && look.width >= 1024) {
          assert.ok((await boards.first().boundingBox()).height > look.height - 180);
        }
        // What is folded away is seen whole when it is opened.
        const choices = page.getByText("Choices", { exact: true });
        if (await choices.isVisible()) {
          await choices.click();
          const { x, y, width, height } = await page.locator(".options > .fields").boundingBox();
          assert.ok(x >= 0 && y >= 0 && x + width <= look.width && y + height <= look.height, `${path}: choices at ${x}, ${y}, ${width} x ${height}`);
          await choices.click();
        }
        // Keys for fingers can be reached without scrolling, and are where the thumbs are.
        const board = await boards.first().boundingBox();
        for (const key of await page.locator(".pad .key:visible").all()) {
          const { x, y, height, width } = await key.boundingBox();
          assert.ok(y + height <= look.height && width >= 36, `${path}: a key at ${y}, ${width} x ${height}`);
          const isBeside = x + width <= board.x || x >= board.x + board.width;
          assert.ok(look.height > look.width ? y >= board.y + board.height : isBeside, `${path}: a key at ${x}, ${y}, a playfield at ${JSON.stringify(board)}`);
        }
      });
    }
  });
}

for (const look of SCREENS) {
  test(`a session is seen whole (${look.name})`, async () => {
    const own = await Server.start();
    const learner = await Learner.start(own, { numEnvs: 2, rules: "guideline", label: "ppo lr 3e-4" });
    try {
      await on("/#sessions?boards=1", look, async (page) => {
        const board = page.locator("canvas.board");
        await until(async () => (await board.getAttribute("aria-label", { timeout: 20_000 })).includes("pieces") || "no game", "a game");
        await board.scrollIntoViewIfNeeded();
        const { y, height, width } = await board.boundingBox();
        assert.ok(y >= 0 && y + height <= look.height + 1 && width >= 60, `a playfield at ${y}, ${width} x ${height}`);
        if (look.width > 1000) {
          assert.equal(await page.evaluate(() => scrollY), 0, "without scrolling");
        }
        await page.locator(".curves canvas.chart").waitFor();
      }, { of: own });
    } finally {
      await learner.stop();
      await own.stop();
    }
  });

  test(`fields do not lie upon each other (${look.name})`, async () => {
    for (const path of ["/#race?rules=guideline", "/#play?rules=simplified&against=bcts", "/#play?rules=tetrio&players=2", "/#race?rules=tetrio&players=2", "/#evaluate?rules=guideline", "/#replay?rules=simplified&height=6&seed=4&player=dellacherie"]) {
      await on(path, look, async (page) => {
        await page.locator("main .view").waitFor();
        const crowded = await page.evaluate(() => {
          const boxes = [...document.querySelectorAll(".field")].filter((field) => field.checkVisibility()).map((field) => {
            const parts = [...field.children].map((part) => part.getBoundingClientRect());
            // Text that is cut is as wide as it would be.
            const right = Math.max(...parts.map((part, at) => part.left + Math.max(part.width, field.children[at].scrollWidth)));
            return { name: field.textContent.slice(0, 20), left: Math.min(...parts.map(({ left }) => left)), right, top: parts[0].top, bottom: parts.at(-1).bottom };
          });
          return boxes.flatMap((one, at) => boxes.slice(at + 1).flatMap((other) => (one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1 ? [`${one.name} and ${other.name}`] : [])));
        });
        assert.deepEqual(crowded, [], path);
      });
    }
  });
}

/** The piece in the air, by the cells above the field: seed 7 deals L I O S T Z under bags. */
const LEFTMOST = (page, colour) => page.locator(".playfield canvas.board").evaluate((canvas, colour) => {
  const [pen, size] = [canvas.getContext("2d"), Math.floor(Math.min(canvas.width / 10, canvas.height / 24))];
  for (let column = 0; column < 10; column++) {
    for (let row = 19; row < 24; row++) {
      const x = (canvas.width - size * 10) / 2 + (column + 0.5) * size;
      const y = (canvas.height + size * 24) / 2 - (row + 0.5) * size;
      const [red, green, blue] = pen.getImageData(Math.round(x), Math.round(y), 1, 1).data;
      if (`#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}` === colour) {
        return column;
      }
    }
  }
  return undefined;
}, colour);
const ORANGE = "#ee8c2f";

test("play opens as the game that people know", async () => {
  await on("/#play", DESKTOP, async (page) => {
    const next = () => page.locator(".right canvas.pieces").getAttribute("aria-label");
    await until(async () => /^Next: [IOTZSJL](, [IOTZSJL]){4}$/.test(await next()) || next(), "five next pieces");
    assert.equal(await page.locator(".left canvas.held").getAttribute("aria-label"), "No piece is held");
    assert.equal(await page.getByLabel("Control").inputValue(), "keys");
    assert.equal(await page.getByLabel("Pieces fall by themselves").isChecked(), true);
    assert.match(new URL(page.url()).hash, /^#play\?rules=guideline&control=keys&seed=\d+$/);
  });
});

test("a key is seen before the server has answered", async () => {
  await on("/#play?seed=7", DESKTOP, async (page) => {
    await page.getByLabel("Pieces fall by themselves").uncheck();
    await until(async () => (await LEFTMOST(page, ORANGE)) === 3 || LEFTMOST(page, ORANGE), "the L has appeared");
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route(/EnvironmentService\/Step$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.locator("main").focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await until(async () => (await LEFTMOST(page, ORANGE)) === 1 || LEFTMOST(page, ORANGE), "two columns to the left, and nothing has been answered");
    await page.keyboard.press("ArrowRight");
    await until(async () => (await LEFTMOST(page, ORANGE)) === 2 || LEFTMOST(page, ORANGE), "one back");
    answer();
    await page.keyboard.press(" ");
    const pieces = page.locator(".left .fact output").nth(1);
    await until(async () => (await count(pieces)) === 1 || count(pieces), "the server says the same");
    await shows(page, { column: 2, columns: 10, rows: 24 }, [ORANGE]);
    await shows(page, { column: 1, columns: 10, rows: 24 }, [null]);
  });
});

test("a key that is held down repeats after its delay, as the settings say, and they are kept", async () => {
  await on("/#play?seed=7", DESKTOP, async (page) => {
    await page.getByLabel("Pieces fall by themselves").uncheck();
    await until(async () => (await LEFTMOST(page, ORANGE)) === 3 || LEFTMOST(page, ORANGE), "the L has appeared");
    const hold = async (key, milliseconds) => {
      await page.locator("main").focus();
      await page.keyboard.down(key);
      await page.waitForTimeout(milliseconds);
      await page.keyboard.up(key);
    };
    const set = async (name, value) => {
      await page.getByLabel(name).fill(value);
      await page.getByLabel(name).press("Enter");
    };
    await set("Shift delay, ms", "1000");
    await hold("ArrowLeft", 500);
    await until(async () => (await LEFTMOST(page, ORANGE)) === 2 || LEFTMOST(page, ORANGE), "one step before the delay is over");
    await set("Shift delay, ms", "100");
    await set("Repeat, ms", "0");
    await hold("ArrowRight", 300);
    await until(async () => (await LEFTMOST(page, ORANGE)) === 7 || LEFTMOST(page, ORANGE), "at the wall at once");
    await set("Repeat, ms", "30");
    await hold("ArrowLeft", 1500);
    await until(async () => (await LEFTMOST(page, ORANGE)) === 0 || LEFTMOST(page, ORANGE), "step by step to the other wall");
    await set("Down, ms", "5");
    await page.getByText("Expected a whole number from 10 to 1000").waitFor();
    await page.reload();
    assert.deepEqual([await page.getByLabel("Shift delay, ms").inputValue(), await page.getByLabel("Repeat, ms").inputValue()], ["100", "30"]);
  });
});

test("after the pointer has used a control, keys are the game's again", async () => {
  await on("/#play?rules=simplified&seed=42", DESKTOP, async (page) => {
    const pieces = page.locator(".left .fact output").nth(1);
    const seed = () => page.getByLabel("Seed").inputValue();
    await page.getByRole("button", { name: "New game" }).click();
    await until(async () => (await seed()) !== "42" || seed(), "another game");
    const dealt = await seed();
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 1 || count(pieces), "space drops the piece");
    assert.equal(await seed(), dealt, "and begins no other game");
    const says = () => page.locator("p[aria-live]").textContent();
    await page.getByLabel("Against").click();
    await page.getByLabel("Against").selectOption("bcts");
    await page.keyboard.press("ArrowLeft");
    await until(async () => (await says()).includes("columns") || says(), "left moves the piece");
    assert.equal(await page.getByLabel("Against").inputValue(), "bcts", "and not the choice");
    await page.getByLabel("Rules").click();
    await page.getByLabel("Rules").selectOption("lab");
    await page.getByLabel("Pieces fall by themselves").click();
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 1 || count(pieces), "after a box was ticked, too");
    assert.equal(await page.getByLabel("Pieces fall by themselves").isChecked(), false);
    await page.getByRole("link", { name: "Play", exact: true }).click();
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 2 || count(pieces), "after a link, too");
    for (const [at, name] of ["Copy link", /Colours/, /Theme/].entries()) {
      await page.getByRole("button", { name }).click();
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 3 + at || count(pieces), `after ${name}, too`);
    }
    // Who uses the keyboard alone stays on the control.
    await page.getByRole("button", { name: "New game" }).focus();
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 0 || count(pieces), "the button's own key");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "New game");
    await page.getByLabel("Width").focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 1 || count(pieces), "escape leaves a field");
  });
});

test("a race that is paused goes on by single pieces with the right arrow", async () => {
  await on("/#race", DESKTOP, async (page) => {
    const pieces = page.locator(".lane-a .fact output").nth(1);
    await until(async () => (await count(pieces)) > 2 || count(pieces), "a race");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.waitForTimeout(300);
    const stands = await count(pieces);
    await page.keyboard.press("ArrowRight");
    await until(async () => (await count(pieces)) === stands + 1 || count(pieces), "one piece");
    // With the keyboard alone: the button has the focus, and does not use this key.
    await page.getByRole("button", { name: "Play", exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await until(async () => (await count(pieces)) === stands + 2 || count(pieces), "another one");
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    // A slider keeps its arrows, and leaves the space bar.
    await page.getByLabel("Speed").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getByLabel("Speed").inputValue(), "4");
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.getByText("Weights of A", { exact: true }).click();
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });
});

test("the reasons for a choice are its lead over the second best, or over the placement under the pointer", async () => {
  await on("/#race?a=tetrion-10x10-expectation&b=dellacherie", DESKTOP, async (page) => {
    await page.getByRole("button", { name: "Pause" }).click();
    const [lead, heat] = [page.locator(".lane-b .lead-of-choice"), page.locator(".lane-b canvas.heat")];
    await until(async () => /^Ahead of the second best by [\d.]+(; \d+ others? (is|are) as good)?$/.test(await lead.textContent()) || lead.textContent(), "the lead");
    const expecting = page.locator(".lane-a .lead-of-choice");
    await until(async () => /by [\d.]+: [+-]?[\d.]+ by the features, [+-]?[\d.]+ by the pieces to come(;.*)?$/.test(await expecting.textContent()) || expecting.textContent(), "the lead of one that weighs the next piece");
    // The differences times the weights add up to the lead.
    const titles = await page.locator(".lane-b .here[title]").evaluateAll((rows) => rows.map(({ title }) => title));
    assert.equal(titles.length, 6);
    const leads = titles.map((title) => Number(/lead ([+-]?[\d.,]+)$/.exec(title)[1].replaceAll(",", "")));
    const second = Number(/by ([\d.]+)/.exec(await lead.textContent())[1]);
    assert.ok(Math.abs(leads.reduce((sum, value) => sum + value, 0) - second) <= 0.01 * Math.max(1, ...leads.map(Math.abs)), `${titles}: ${second}`);
    // Every cell of the first row is a placement somewhere; the piece is shown there.
    const { width } = await heat.boundingBox();
    const drawing = () => page.locator(".lane-b canvas.board").evaluate((canvas) => canvas.toDataURL());
    const before = await drawing();
    const seen = new Set();
    for (let column = 0; column < 8; column++) {
      await heat.hover({ position: { x: (column + 0.5) * width / 10, y: 5 } });
      await page.waitForTimeout(50);
      seen.add(await drawing());
      assert.match(await lead.textContent(), /^Ahead of the (placement under the pointer|second best) by [\d.,]+/);
    }
    assert.ok(seen.size >= 7, `${seen.size} drawings`);
    await page.mouse.move(0, 0);
    await until(async () => (await drawing()) === before || "another one", "the drawing of before");
    assert.match(await lead.textContent(), /^Ahead of the second best/);
  });
});

test("a race goes back piece by piece, and to the first different choice", async () => {
  await on("/#race?speed=60", DESKTOP, async (page) => {
    const both = async () => [await standing(page, ".lane-a"), await standing(page, ".lane-b")];
    await until(async () => (await both())[0][1] > 20 || both(), "a race");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.waitForTimeout(500);
    await page.locator("main").focus();
    const cells = () => page.locator(".lane-a canvas.board").evaluate((canvas) => canvas.toDataURL());
    const drawings = [await cells()];
    const [[, now]] = await both();
    for (let back = 1; back <= 5; back++) {
      await page.keyboard.press("ArrowLeft");
      await until(async () => (await both()).every(([, pieces]) => pieces === now - back) || both(), `${back} pieces back`);
      await page.waitForTimeout(100);
      drawings.push(await cells());
    }
    assert.equal(new Set(drawings).size, 6);
    for (let back = 4; back >= 0; back--) {
      await page.keyboard.press("ArrowRight");
      await until(async () => (await both())[0][1] === now - back || both(), "forward again");
      await until(async () => (await cells()) === drawings[back] || "another one", "the same game");
    }
    const jump = page.getByRole("button", { name: /^First different choice: piece \d+$/ });
    const piece = Number(/\d+$/.exec(await jump.textContent())[0]);
    await jump.click();
    await until(async () => (await both()).every(([, pieces]) => pieces === piece - 1) || both(), "before the choice");
    const [[lines], [others]] = await both();
    assert.equal(lines, others, "the same game up to there");
    const choices = await page.locator("canvas.heat").evaluateAll((all) => all.map((canvas) => canvas.ariaLabel.replace(/^.*the best is /, "")));
    assert.notEqual(choices[0], choices[1]);
    await page.keyboard.press("ArrowRight");
    await until(async () => (await both())[0][1] === piece || both(), "it goes on from there");
  });
});

/** Counts the steps that a page takes. */
function steps(page) {
  const all = { count: 0 };
  page.on("request", (request) => (all.count += request.url().endsWith("/Step") ? 1 : 0));
  return all;
}

test("time begins with the first move, and stops in a pause", async () => {
  await on("/#play?seed=7", DESKTOP, async (page) => {
    const taken = steps(page);
    const pause = page.getByRole("button", { name: "Pause" });
    const stands = async (what) => {
      await page.waitForTimeout(300); // steps on their way
      const before = taken.count;
      await page.waitForTimeout(500);
      assert.equal(taken.count, before, what);
    };
    const goesOn = async (what) => {
      const before = taken.count;
      await until(async () => taken.count > before + 3 || taken.count, what);
    };
    await until(async () => (await LEFTMOST(page, ORANGE)) === 3 || LEFTMOST(page, ORANGE), "the L has appeared");
    await stands("before the first move");
    assert.equal(taken.count, 0);
    await page.locator("main").focus();
    await page.keyboard.press("ArrowLeft");
    await goesOn("after it");
    for (const [name, halt] of [
      ["p", () => page.keyboard.press("p")],
      ["escape", () => page.keyboard.press("Escape")],
      ["the button", () => pause.click()],
      ["another window", () => page.evaluate(() => dispatchEvent(new Event("blur")))],
      ["a field", () => page.getByLabel("Shift delay, ms").focus()],
    ]) {
      await halt();
      await page.getByRole("button", { name: "Go on" }).waitFor();
      await stands(name);
      await page.locator("main").focus();
      await page.keyboard.press("ArrowRight");
      await pause.waitFor();
      if (name === "p") {
        // The L stands where it was before the pause: the key that ends one does nothing else.
        assert.equal(await LEFTMOST(page, ORANGE), 2);
      }
      await goesOn(name);
    }
    // Another view is a pause too.
    await page.getByRole("link", { name: "Server" }).click();
    await stands("another view");
    await page.getByRole("link", { name: "Play", exact: true }).click();
    await page.getByRole("button", { name: "Go on" }).click();
    await goesOn("back");
    // After an undo the piece waits for its player again.
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Undo", disabled: false }).click();
    await until(async () => (await count(page.locator(".left .fact output").nth(1))) === 0 || "still there", "taken back");
    await stands("after undo");
  });
});

test("the key for a new game asks first", async () => {
  for (const path of ["/#play?seed=7", "/#play?rules=simplified&seed=7"]) {
    await on(path, DESKTOP, async (page) => {
      const [pieces, seed] = [page.locator(".left .fact output").nth(1), () => page.getByLabel("Seed").inputValue()];
      const says = () => page.locator("p[aria-live]").textContent();
      await until(async () => (await page.locator(".playfield canvas.board").getAttribute("aria-label")).includes("0 pieces"), "a game");
      await page.locator("main").focus();
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 1 || count(pieces), "a piece");
      await page.keyboard.press("n");
      await until(async () => (await says()).startsWith("New game?") || says(), "it asks");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) >= 2 || count(pieces), "the game goes on");
      assert.equal(await seed(), "7");
      await page.keyboard.press("n");
      await page.keyboard.press("n");
      await until(async () => (await seed()) !== "7" || seed(), "another game");
      await until(async () => (await count(pieces)) === 0 || count(pieces), "from its beginning");
      // Nothing is lost before the first piece.
      const dealt = await seed();
      await page.keyboard.press("n");
      await until(async () => (await seed()) !== dealt || seed(), "a game without pieces");
    });
  }
});

test("the question of the key for a new game outlasts an answer that was on its way", async () => {
  await on("/#play?rules=simplified&seed=7", DESKTOP, async (page) => {
    const pieces = page.locator(".left .fact output").nth(1);
    await until(async () => (await page.locator(".playfield canvas.board").getAttribute("aria-label")).includes("0 pieces"), "a game");
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route(/EnvironmentService\/EnumeratePlacements$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.locator("main").focus();
    await page.keyboard.press(" ");
    await until(async () => (await count(pieces)) === 1 || count(pieces), "a piece, whose next placements are on their way");
    await page.keyboard.press("n");
    const says = () => page.locator("p[aria-live]").textContent();
    await until(async () => (await says()).startsWith("New game?") || says(), "it asks");
    const answered = page.waitForResponse(/EnvironmentService\/EnumeratePlacements$/);
    answer();
    await (await answered).finished();
    const undo = page.getByRole("button", { name: "Undo", disabled: false });
    await undo.waitFor();
    assert.match(await says(), /^New game\?/);
  });
});

test("a held direction goes on after a tap of the other one", async () => {
  await on("/#play?seed=7", DESKTOP, async (page) => {
    await page.getByLabel("Pieces fall by themselves").uncheck();
    await page.getByLabel("Repeat, ms").fill("100");
    await page.getByLabel("Repeat, ms").press("Enter");
    await until(async () => (await LEFTMOST(page, ORANGE)) === 3 || LEFTMOST(page, ORANGE), "the L has appeared");
    await page.locator("main").focus();
    await page.keyboard.down("ArrowRight");
    await until(async () => (await LEFTMOST(page, ORANGE)) >= 5 || LEFTMOST(page, ORANGE), "it goes to the right");
    await page.keyboard.press("ArrowLeft");
    await until(async () => (await LEFTMOST(page, ORANGE)) === 7 || LEFTMOST(page, ORANGE), "and on, to the wall");
    await page.keyboard.up("ArrowRight");
  });
});

test("garbage that waits is seen", async () => {
  await on("/#play?rules=guideline&control=keys&garbage.lines_per_piece=2&garbage.delay_pieces=3&seed=7", DESKTOP, async (page) => {
    await page.getByLabel("Pieces fall by themselves").uncheck();
    const incoming = page.locator(".left .fact", { hasText: "incoming" }).locator("output");
    const board = page.locator(".playfield canvas.board");
    await page.locator("main").focus();
    for (let piece = 0; piece < 4 && (await count(incoming)) === 0; piece++) {
      const pieces = await count(page.locator(".left .fact output").nth(1));
      await page.keyboard.press(" ");
      await until(async () => (await count(page.locator(".left .fact output").nth(1))) > pieces || pieces, "a piece");
    }
    const rows = await count(incoming);
    assert.ok(rows > 0);
    assert.match(await board.getAttribute("aria-label"), new RegExp(`, ${rows} rows of garbage to come$`));
    // A bar on the left edge, as high as the rows that wait.
    const high = () => board.evaluate((canvas) => {
      const size = Math.floor(Math.min(canvas.width / 10, canvas.height / 24));
      const { data } = canvas.getContext("2d").getImageData(Math.round((canvas.width - size * 10) / 2) + 1, 0, 1, canvas.height);
      return Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3)).filter(([red, green, blue]) => (red === 255 && green === 77 && blue === 79) || (red === 240 && green === 165 && blue === 0)).length / size;
    });
    await until(async () => Math.abs((await high()) - rows) < 0.5 || `${await high()}, not ${rows}`, "the bar");
  });
});

/** Keys that aim at a placement of the list. */
function keysTo(rules, placements, row) {
  const places = placesOf(placements);
  for (const hold of [[], ["c"]]) {
    for (const turns of [0, 1, 2, 3]) {
      for (const key of ["ArrowLeft", "ArrowRight"]) {
        const aim = new Aim(rules, places);
        if (hold.length > 0 && !aim.swap()) {
          continue;
        }
        for (let turn = 0; turn < turns; turn++) {
          aim.turn(1);
        }
        for (let moves = 0; moves < rules.width; moves++) {
          const { at: highest } = aim.place;
          let deeper = 0;
          do {
            if (aim.place.at === row) {
              return [...hold, ...Array(turns).fill("x"), ...Array(moves).fill(key), ...Array(deeper).fill("ArrowDown")];
            }
            aim.deepen();
            deeper++;
          } while (aim.place.at !== highest);
          aim.shift(key === "ArrowRight");
        }
      }
    }
  }
  throw new Error(`no keys to placement ${row}`);
}

/**
 * A match of two controllers without the page, by its turns: the keys and the columns of the first one's placement, and what the page
 * says of both playfields. The first one is on the given side, 0 or 1.
 */
async function matched(rules, seed, side, policies) {
  const client = connect(server.address, { transport: grpc });
  const session = await client.createSession({ rules: { ...rules, players: 2 }, numEnvs: 2, envSeeds: [seed, seed], autoresetMode: "disabled" });
  try {
    await session.reset();
    const { width, height } = session.rules;
    const sides = [side, 1 - side];
    const turns = [];
    for (;;) {
      const found = await Promise.all(sides.map((env, at) => session.enumeratePlacements({ policy: policies[at], includeCells: true, envIds: [env] })));
      const keys = keysTo(session.rules, found[0], found[0].policyChoices[0]);
      const actions = found.map(({ actions, policyChoices }) => actions[policyChoices[0]]);
      const { observations, infos, terminated } = await session.step(side === 0 ? actions : actions.reverse());
      const says = sides.map((env) => {
        const top = Math.ceil((observations.board.subarray(env * width * height, (env + 1) * width * height).lastIndexOf(1) + 1) / width);
        const rows = observations.garbage[env]; // nothing is delayed
        const held = observations.held[env] >= 0 ? `, ${LETTERS[observations.held[env]]} held` : "";
        const coming = rows > 0 ? `, ${rows} ${rows === 1 ? "row" : "rows"} of garbage to come` : "";
        return `${infos.lines[env]} lines, ${infos.pieces[env]} pieces, filled up to row ${top}${held}${coming}`;
      });
      const columns = placesOf(found[0]).find(({ at }) => at === found[0].policyChoices[0]).cells.map(([, column]) => column + 1);
      turns.push({ keys, says, columns: `columns ${Math.min(...columns)} to ${Math.max(...columns)}` });
      if (terminated[0] === 1) {
        const [own, other] = sides.map((env) => ({ 1: "won", [-1]: "lost", 0: "draw" })[infos.won[env]]);
        turns.at(-1).says = [`${says[0]}, ${own === "draw" ? "a draw" : `you ${own}`}`, `${says[1]}, ${other}`];
        return { turns, sent: sides.map((env) => infos.sent[env]), cancelled: infos.cancelled[side] };
      }
    }
  } finally {
    await session.close();
    client.close();
  }
}

/** What the page says of both playfields in a match. */
const both = (page) => page.locator(":is(.playfield, .rival) canvas.board").evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel.replace(/^.*?: /, "")));

/** Plays turns of a match with keys. Returns the pictures of both playfields after each. */
async function playTurns(page, turns) {
  const pictures = [];
  for (const { keys, says } of turns) {
    for (const key of [...keys, " "]) {
      await page.keyboard.press(key);
    }
    await until(async () => `${await both(page)}` === `${says}` || both(page), `both playfields: ${says}`);
    pictures.push(await page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return [...document.querySelectorAll(":is(.playfield, .rival) canvas.board")].map((canvas) => canvas.toDataURL()).join();
    }));
  }
  return pictures;
}

const LOW = { preset: "tetrio", height: 24, rowsAbove: 18 };
const RIVALS = ["tetrion-guideline-preview", "dt-10"];

for (const look of [DESKTOP, LOOKS[3]]) {
  test(`a match is played by hand to its result, again with sides exchanged, and by its link (${look.name})`, async () => {
    const [first, second] = [await matched(LOW, 1n, 0, RIVALS), await matched(LOW, 1n, 1, RIVALS)];
    assert.ok(first.sent[0] > 0 && first.sent[1] > 0 && first.cancelled > 0, "lines are sent both ways, and cancelled");
    assert.notDeepEqual(first.turns.map(({ says }) => says), second.turns.map(({ says }) => says));
    await on("/#play?rules=tetrio&height=6&control=keys&seed=1", look, async (page) => {
      const spoken = () => page.locator("p[aria-live]").textContent();
      const number = (side, name) => page.locator(`${side} .fact`, { hasText: name }).locator("output").textContent();
      const begun = () => until(async () => (await both(page)).join().match(/\b0 pieces/g)?.length === 2 || both(page), "a new match");
      const unfold = async () => look.width < 500 && (await page.getByText("Choices", { exact: true }).click());
      await unfold();
      await page.getByLabel("Garbage", { exact: true }).selectOption("sent to each other");
      await begun();
      assert.equal(await page.getByLabel("Control").inputValue(), "placements");
      assert.equal(await page.getByLabel("Against").inputValue(), "tetrion-guideline-preview", "the strongest");
      await page.getByLabel("Against").selectOption("dt-10");
      await until(() => page.url().endsWith("#play?rules=tetrio&height=6&players=2&seed=1&against=dt-10") || page.url(), "the address");
      await page.getByLabel("Against").blur();
      await unfold();
      await begun();
      await playTurns(page, first.turns);
      assert.ok(/You won: \d+ lines sent/.test(await spoken()), await spoken());
      assert.deepEqual([await number(".left", "lines sent"), await number(".rival", "lines sent")], first.sent.map(String));
      // A turn is taken back on both sides, and comes again as it was.
      await page.keyboard.press("u");
      const before = first.turns.at(-2).says;
      await until(async () => `${await both(page)}` === `${before}` || both(page), `${before}`);
      await playTurns(page, first.turns.slice(-1));
      await page.getByRole("button", { name: "Rematch" }).click();
      await until(() => page.url().endsWith("&seed=1&against=dt-10&side=2") || page.url(), "the other side");
      await begun();
      await until(async () => (await spoken()) === "The same pieces, with sides exchanged" || spoken(), "it says so");
      const pictures = await playTurns(page, second.turns);
      const link = page.url();
      await page.goto("about:blank");
      await page.goto(link);
      await begun();
      assert.deepEqual(await playTurns(page, second.turns), pictures);
      await shot(page, `match-${look.name}`);
    });
  });
}

test("a match survives its server, and a hint is for the person's side", async () => {
  const { turns } = await matched(LOW, 1n, 1, RIVALS);
  let mortal = await Server.start();
  try {
    await on("/#play?rules=tetrio&height=6&players=2&seed=1&against=dt-10&side=2", DESKTOP, async (page) => {
      await until(async () => (await both(page))[1]?.startsWith("0 lines, 0 pieces") || both(page), "a match");
      await playTurns(page, turns.slice(0, 8));
      await page.getByRole("button", { name: "Undo", disabled: false }).waitFor();
      await mortal.stop();
      mortal = await Server.start([], mortal.port);
      await page.keyboard.press("h");
      await page.locator(".why p", { hasText: "tetrion-guideline-preview would" }).waitFor();
      assert.ok((await page.locator(".why p").first().textContent()).endsWith(` ${turns[8].columns}.`), turns[8].columns);
      await playTurns(page, turns.slice(8));
    }, { of: mortal, expected: ["net::ERR_"] });
  } finally {
    await mortal.stop();
  }
});

test("two controllers send each other garbage in a race to its end, which goes back", async () => {
  const { turns, sent } = await matched(LOW, 1n, 0, RIVALS);
  await on("/#race?rules=tetrio&height=6&seed=1&a=tetrion-guideline-preview&b=dt-10&speed=Infinity", DESKTOP, async (page) => {
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Garbage", { exact: true }).selectOption("sent to each other");
    const says = () => page.locator(".lane canvas.board").evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel.replace(/^.*?: | held|, holds . for ./g, "")));
    const expected = (turn) => turns[turn].says.map((text) => text.replace(/, . held|you /g, ""));
    const reaches = (turn) => until(async () => `${await says()}` === `${expected(turn)}` || says(), `${expected(turn)}`);
    await until(async () => (await says()).join().match(/\b0 pieces/g)?.length === 2 || says(), "a match");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await reaches(turns.length - 1);
    await page.getByRole("button", { name: "Pause" }).click();
    const numbers = (name) => page.locator(".lane .fact", { hasText: name }).locator("output").allTextContents();
    assert.deepEqual([await numbers("lines sent"), await numbers("received")], [sent, [...sent].reverse()].map((all) => all.map(String)));
    assert.equal(await page.getByText(/First different choice|The same choices/).isVisible(), false);
    await page.locator("main").focus();
    for (let turn = turns.length - 2; turn > turns.length - 5; turn--) {
      await page.keyboard.press("ArrowLeft");
      await reaches(turn);
    }
    for (let turn = turns.length - 3; turn < turns.length; turn++) {
      await page.keyboard.press("ArrowRight");
      await reaches(turn);
    }
    assert.match(page.url(), /#race\?rules=tetrio&height=6&players=2&seed=1&a=tetrion-guideline-preview&b=dt-10&speed=Infinity$/);
    await page.reload();
    await reaches(turns.length - 1);
  });
});

test("what two players need is said in words", async () => {
  await on("/#play?rules=tetrio&players=2", DESKTOP, async (page) => {
    await page.getByLabel("Control").selectOption("keys");
    await page.getByRole("alert").getByText("players 2 needs the placement action model: a turn is a piece of each player").waitFor();
    assert.deepEqual(await page.getByLabel("Against").locator("option", { hasText: "nobody" }).count(), 0);
    await page.getByLabel("Rules").selectOption("botris");
    await until(() => page.url().includes("#play?rules=botris&players=2&") || page.url(), "still a match");
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByLabel("Rules").selectOption("guideline");
    await until(() => page.url().includes("#play?rules=guideline&control=keys&") || page.url(), "rules without garbage");
    await page.getByLabel("Garbage", { exact: true }).waitFor({ state: "hidden" });
    assert.equal(await page.getByRole("button", { name: "Rematch" }).isVisible(), false);
    await page.getByRole("link", { name: "Evaluate" }).click();
    await page.getByRole("button", { name: "Evaluate", exact: true }).waitFor();
    const alone = page.getByText("Everyone plays alone, with garbage dealt at random.");
    assert.equal(await alone.isVisible(), false);
    await page.getByLabel("Rules").selectOption("tetrio");
    await alone.waitFor();
  });
});

test("the sides of a learner's match are shown side by side", async () => {
  const own = await Server.start();
  const learner = await Learner.start(own, { numEnvs: 4, rules: { preset: "tetrio", players: 2 }, label: "self-play" }, 20);
  try {
    await on("/#sessions?boards=1", DESKTOP, async (page) => {
      await page.getByText("4 environments in 2 matches, tetrio 10 × 22").waitFor();
      const boards = page.locator(".match canvas.board");
      await until(async () => (await boards.evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel.slice(0, 13)))).join() === "Environment 0,Environment 1" || boards.count(), "one match");
      const [one, other] = await boards.evaluateAll((all) => all.map((board) => board.getBoundingClientRect().toJSON()));
      assert.ok(one.top === other.top && one.right <= other.left && one.height === other.height);
      await page.getByLabel("Boards").selectOption("16");
      await until(async () => (await page.locator(".match").count()) === 2 || page.locator(".match").count(), "both matches");
    }, { of: own });
  } finally {
    await learner.stop();
    await own.stop();
  }
});

test("a phone plays by gestures, and turns both ways", async () => {
  await on("/#play?rules=guideline&control=placements&seed=7", LOOKS[2], async (page) => {
    const says = () => page.locator("p[aria-live]").textContent();
    const board = page.locator(".playfield canvas.board");
    await until(async () => (await board.getAttribute("aria-label")).includes("0 pieces"), "a game");
    const { x, y, width, height } = await board.boundingBox();
    const touch = await page.context().newCDPSession(page);
    const swipe = async (from, to, milliseconds) => {
      // With times of its own, so a busy machine makes no swipe slower.
      const began = Date.now() / 1000;
      const send = (type, share, touchPoints) => touch.send("Input.dispatchTouchEvent", { type, touchPoints, timestamp: began + share * milliseconds / 1000 });
      const at = (share) => [{ x: from[0] + share * (to[0] - from[0]), y: from[1] + share * (to[1] - from[1]) }];
      await send("touchStart", 0, at(0));
      for (let step = 1; step <= 10; step++) {
        await send("touchMove", step / 10, at(step / 10));
      }
      await send("touchEnd", 1, []);
    };
    const middle = [x + width / 2, y + height / 2];
    // Seed 7 deals an L first. It goes with the finger.
    await swipe(middle, [middle[0] - 3.2 * width / 10, middle[1]], 400);
    await until(async () => /^L, columns [12] to [34]/.test(await says()) || says(), "to the left");
    const before = await says();
    await page.touchscreen.tap(x + 0.8 * width, middle[1]);
    await until(async () => (await says()) !== before || says(), "turned");
    const turned = await says();
    await page.touchscreen.tap(x + 0.2 * width, middle[1]);
    await until(async () => (await says()) === before || says(), "and turned back");
    await page.getByRole("button", { name: "Turn right" }).tap();
    await until(async () => (await says()) === turned || says(), "by the button too");
    await page.getByRole("button", { name: "Turn left" }).tap();
    await until(async () => (await says()) === before || says(), "both ways");
    await swipe([middle[0], middle[1] + 100], [middle[0], middle[1] - 100], 60);
    await until(async () => (await says()).startsWith("Holds L for ") || says(), "held");
    await swipe(middle, [middle[0], middle[1] + 150], 60);
    await until(async () => (await count(page.locator(".left .fact output").nth(1))) === 1 || says(), "dropped");
  });
});

/** The text of a file that the page saves. */
async function saved(page, name, at = 0) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).nth(at).click()]);
  return await readFile(await download.path(), "utf8");
}

test("an evaluation is saved, and its games are opened", async () => {
  const few = ["--height", "10", "--max-pieces", "500", "--games", "50", "--seed", "1"];
  const games = await Promise.all(["dellacherie", "bcts"].map((name) => evaluated(name, ...few)));
  await on("/#evaluate", DESKTOP, async (page) => {
    await evaluateTwo(page);
    const [head, ...rows] = (await saved(page, "Save games as CSV")).trim().split("\n").map((line) => line.split(","));
    assert.equal(String(head), "name,game,seed,lines,pieces,steps,score,end");
    const found = ["dellacherie", "bcts"].map((name) => rows.filter(([of]) => of === name).map(([, , seed, lines, pieces, , score]) => ({ seed, lines: Number(lines), pieces: Number(pieces), score: Number(score) })));
    assert.deepEqual(found, games);
    const all = JSON.parse(await saved(page, "Save summary as JSON"));
    assert.deepEqual([all.rules, all.seed, all.max_pieces, all.measure], [{ rules: "simplified", height: "10" }, "1", 500, "lines"]);
    assert.deepEqual(all.players.map(({ name, games, mean }) => [name, games, mean]), games.map((games, at) => [["dellacherie", "bcts"][at], 50, games.reduce((sum, { lines }) => sum + lines, 0) / 50]));
    assert.equal(all.differences[0].name, "bcts");
    const means = (await saved(page, "Save CSV")).split("\n");
    assert.equal(means[0], "line,games,mean lines,low,high");
    assert.ok(means.length > 50);
    const going = (await saved(page, "Save CSV", 1)).trim().split("\n").map((line) => line.split(","));
    assert.deepEqual(going[0], ["line", "pieces", "share still going", "low", "high"]);
    for (const [at, name] of ["dellacherie", "bcts"].entries()) {
      // No game is cut before its 500th piece, so what is left there is a share of all games.
      const [, pieces, share] = going.findLast(([of]) => of === name);
      assert.deepEqual([Number(pieces), Math.round(50 * share)], [500, games[at].filter(({ pieces }) => pieces === 500).length], name);
    }
    // The game with the most lines of the first controller, and one under a bar.
    const most = Math.max(...games[0].map(({ lines }) => lines));
    const best = page.locator("tbody tr").first().getByRole("link").last();
    assert.equal(Number((await best.textContent()).replaceAll(",", "")), most);
    const seeds = (at) => games[at].map(({ seed }) => seed);
    await best.click();
    await page.locator(".seat canvas.board").waitFor();
    const address = new URL(page.url()).hash;
    const [, seed] = /^#replay\?.*&seed=(\d+)&player=dellacherie$/.exec(address);
    assert.equal(games[0].find((game) => game.seed === seed)?.lines, most, address);
    const race = await page.getByRole("link", { name: "Race the same game" }).getAttribute("href");
    assert.equal(race, `#race?rules=simplified&height=10&seed=${seed}&a=dellacherie`);
    await page.goBack();
    const strips = page.locator("canvas.strips");
    const { width, height } = await strips.boundingBox();
    // A place with a bar of the second controller: its cursor says so.
    await until(async () => {
      for (let share = 0.02; share < 1; share += 0.02) {
        await strips.hover({ position: { x: width * share, y: height * 0.7 } });
        if (await strips.evaluate((canvas) => canvas.classList.contains("pressable"))) {
          await strips.click({ position: { x: width * share, y: height * 0.7 } });
          return true;
        }
      }
      return "no bar";
    }, "a bar");
    await until(async () => /#replay\?.*&seed=\d+&player=bcts$/.test(page.url()) || page.url(), "a replay");
    assert.ok(seeds(1).includes(/&seed=(\d+)&/.exec(page.url())[1]), page.url());
  });
});

/** Recordings that a command of the program leaves in a folder, by the names of their files. */
async function recorded(...command) {
  const folder = await mkdtemp(join(tmpdir(), "tetrion-page-"));
  try {
    const program = spawn(process.env.TETRION_BINARY, [...command, "--record-dir", folder], { stdio: "ignore" });
    assert.deepEqual(await once(program, "exit"), [0, null]);
    const names = (await readdir(folder)).sort();
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, JSON.parse(await readFile(join(folder, name), "utf8"))])));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const evaluation = (rules, player, pieces, ...flags) => recorded("evaluate", player, "--rules", rules, "--games", "1", "--seed", "7", "--max-pieces", String(pieces), "--record", "best", ...flags);
const duel = () => recorded("match", "dt-10", "bcts", "--rules", "tetrio", "--pairs", "1", "--seed", "1", "--max-pieces", "30");
const fileOf = (recording, name = "game.json") => ({ name, mimeType: "application/json", buffer: Buffer.from(typeof recording === "string" ? recording : JSON.stringify(recording)) });
const proven = (page) => page.locator(".proof").textContent();
const proves = (page, words) => until(async () => (await proven(page)).includes(words) || proven(page), words);

test("a recorded game is played again, judged, and carried by a link", async () => {
  const { "dellacherie-best.json": recording } = await evaluation("simplified", "dellacherie", 40, "--height", "10");
  await on("/#replay", DESKTOP, async (page) => {
    await page.locator("#recording").setInputFiles(fileOf(recording));
    await proves(page, "As recorded: 40 placements, every landing, the totals, and the last playfield");
    const label = () => page.locator(".seat canvas.board").getAttribute("aria-label");
    await page.locator("main").focus();
    for (const [key, step] of [["End", 40], ["ArrowLeft", 39], ["ArrowLeft", 38], ["Home", 0], ["ArrowRight", 1]]) {
      await page.keyboard.press(key);
      await until(async () => (await label()).includes(`after step ${step}:`) || label(), `step ${step}`);
      assert.match(await label(), new RegExp(`, ${step} pieces, `));
    }
    await page.keyboard.press("End");
    assert.match(await label(), new RegExp(`: ${recording.outcome.lines} lines, 40 pieces`));
    await page.getByText(/^\d+ of 40 choices are the best for tetrion-10x10-expectation\.$/).waitFor();
    assert.equal(await page.locator("#notice").isVisible(), false);
    await page.getByLabel("Judged by").selectOption("dellacherie");
    await page.getByText("40 of 40 choices are the best for dellacherie.").waitFor();
    assert.equal(await page.locator(".blunders button").count(), 0);
    await page.getByLabel("Judged by").selectOption("dt-10");
    await page.getByText(/^\d+ of 40 choices are the best for dt-10\.$/).waitFor();
    const worst = page.locator(".blunders button").first();
    const [, piece, rank] = /^Piece (\d+): number (\d+) of \d+, loses /.exec(await worst.textContent());
    await worst.click();
    await until(async () => (await label()).includes(`after step ${piece - 1}:`) || label(), `the blunder of piece ${piece}`);
    await page.getByText(new RegExp(`columns? .* For dt-10: number ${rank} of `)).waitFor();
    // The bars lead to the same step.
    const bars = page.locator("canvas.losses");
    const { width } = await bars.boundingBox();
    await page.getByRole("button", { name: "To the start" }).click();
    await bars.click({ position: { x: ((piece - 0.5) / 40) * width, y: 50 } });
    await until(async () => (await label()).includes(`after step ${piece - 1}:`) || label(), "the blunder by its bar");
    await until(() => new RegExp(`#replay\\?game=[-\\w]+&step=${piece - 1}&judge=dt-10$`).test(page.url()) || page.url(), "the address has the step");
    await page.reload();
    await proves(page, "As recorded: 40 placements");
    await until(async () => (await label()).includes(`after step ${piece - 1}:`) || label(), "the step of the address");
    assert.deepEqual(JSON.parse(await saved(page, "Save")), recording);
    // It goes on by hand from there.
    await page.getByRole("button", { name: "Play on from here" }).click();
    const hand = page.locator(".play .playfield canvas.board");
    await until(async () => new RegExp(`, ${piece - 1} pieces, `).test(await hand.getAttribute("aria-label")) || hand.getAttribute("aria-label"), "the game goes on");
  });
});

test("a recorded match shows both sides, and a game of keys every key", async () => {
  const { "dt-10-vs-bcts-0-1.json": match } = await duel();
  const { "tetrion-guideline-best.json": keys } = await evaluation("guideline,action_model=keypress", "tetrion-guideline", 6);
  await on("/#replay", DESKTOP, async (page) => {
    await page.locator("#recording").setInputFiles(fileOf(match));
    await proves(page, `As recorded: ${match.actions.length} placements`);
    const labels = () => page.locator(".seat canvas.board").evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel));
    await page.getByRole("button", { name: "To the end" }).click();
    await until(async () => (await labels()).every((label, at) => label.startsWith(["dt-10", "bcts"][at]) && label.includes(`: ${[match, match.opponent][at].outcome.lines} lines, `)) || labels(), "both sides at the end");
    await page.getByLabel("Side", { exact: true }).selectOption("bcts");
    await page.getByLabel("Judged by").selectOption("bcts");
    await page.getByText(new RegExp(`^(\\d+) of \\1 choices are the best for bcts\\.$`)).waitFor();
    await page.getByRole("button", { name: "To the start" }).click();
    await page.getByRole("button", { name: "Play on from here" }).click();
    await page.getByRole("button", { name: "Rematch" }).waitFor();
    assert.match(page.url(), /#play\?rules=tetrio&players=2&seed=\d+&against=[-\w]+&side=2$/);
    await page.goBack();
    await page.locator("#recording").setInputFiles(fileOf(keys));
    await proves(page, `As recorded: ${keys.actions.length} keys`);
    assert.equal(await page.locator("canvas.losses").isVisible(), false);
  });
});

test("rules of keys are evaluated as the program does, and a game is replayed key by key", async () => {
  const games = await evaluated("lab-optimised", "--rules", "lab", "--max-pieces", "500", "--games", "50", "--seed", "1");
  await on("/#evaluate?rules=lab&games=50&pieces=500&controllers=lab-optimised", DESKTOP, async (page) => {
    await page.getByRole("button", { name: "Evaluate" }).click();
    await page.getByText(/^50 games in /).waitFor();
    const least = page.locator("tbody tr").first().getByRole("link").first();
    assert.equal(await count(least), Math.min(...games.map(({ lines }) => lines)));
    await least.click();
    await proves(page, "As recorded: ");
    assert.match(await proven(page), / keys, /);
    const [, seed] = /^#replay\?rules=lab&seed=(\d+)&player=lab-optimised$/.exec(new URL(page.url()).hash);
    const { lines, pieces } = games.find((game) => game.seed === seed);
    await page.getByRole("button", { name: "To the end" }).click();
    await until(async () => String(await standing(page, ".seat")) === String([lines, pieces]) || standing(page, ".seat"), "the end of the game");
  });
});

test("where exact values are known, the largest loss is the largest regret", async () => {
  const rules = { preset: "simplified", width: 4, height: 5 };
  const { "bcts-best.json": recording } = await evaluation("simplified", "bcts", 40, "--width", "4", "--height", "5");
  const client = connect(server.address, { transport: grpc });
  const session = await client.createSession({ rules, numEnvs: 1, infos: ["regret"], autoresetMode: "disabled" });
  await session.reset({ seeds: [BigInt(recording.seed)] });
  const regrets = [];
  for (const action of recording.actions) {
    regrets.push((await session.step([action])).infos.regret[0]);
  }
  await session.close();
  client.close();
  const most = Math.max(...regrets);
  assert.ok(most > 0.01, `${regrets}`);
  await on("/#replay", DESKTOP, async (page) => {
    await page.locator("#recording").setInputFiles(fileOf(recording));
    await page.getByText(new RegExp(`^${regrets.filter((regret) => regret < 1e-9).length} of ${regrets.length} choices are the best for optimal\\.$`)).waitFor();
    assert.match(await page.locator(".blunders button").first().textContent(), new RegExp(`^Piece ${regrets.indexOf(most) + 1}: number \\d+ of \\d+, loses ${Number(most.toPrecision(3))} lines$`));
  });
});

/** A recording of twelve pieces by dellacherie in a session that begins somewhere. `extra` are fields of the recording. */
async function recordedFrom(client, options, begin, extra) {
  const players = options.rules.players ?? 1;
  const session = await client.createSession({ ...options, numEnvs: players, observations: ["board"], infos: ["lines", "pieces", "episode_return"], autoresetMode: "disabled" });
  const { width, height } = session.rules;
  await begin(session);
  const sides = Array.from({ length: players }, () => ({ actions: [], lines: [0] }));
  let step;
  for (let piece = 0; piece < 12; piece++) {
    const { actions, policyChoices } = await session.enumeratePlacements({ policy: "dellacherie" });
    step = await session.step(sides.map((_, env) => actions[policyChoices[env]]));
    sides.forEach((side, env) => (side.actions.push(actions[policyChoices[env]]), side.lines.push(step.infos.lines[env])));
  }
  const { rulesVersion } = await client.serverInfo();
  const { observations: { board }, infos } = step;
  const row = (env, at) => Array.from(board.subarray((env * height + at) * width, (env * height + at + 1) * width), (cell) => (cell ? "#" : ".")).join("");
  const all = sides.map(({ actions, lines }, env) => ({
    actions, landingLines: Buffer.from(lines.slice(1).map((after, at) => after - lines[at])).toString("base64"),
    outcome: { pieces: "12", lines: String(lines.at(-1)), score: infos.episode_return[env], end: "EPISODE_END_NOT_ENDED", rows: Array.from({ length: height }, (_, at) => row(env, height - 1 - at)) },
  }));
  await session.close();
  return { rulesVersion, rules: toJson(RulesSchema, session.rules), ...extra, ...all[0], ...(players === 2 && { opponent: { ...extra.opponent, ...all[1] } }) };
}

test("a recording begins with a drawing, or with explicit pieces and holes", async () => {
  const client = connect(server.address, { transport: grpc });
  const start = { rows: ["####.#####", "###..#####"], piece: "T" };
  const pieces = "TLZISIOJTLZISIOJ";
  const reset = (session) => session.reset();
  const recordings = [
    await recordedFrom(client, { rules: { preset: "simplified" }, envSeeds: [5n] }, (session) => session.restoreState({ drawings: [start] }), { seed: "5", start }),
    await recordedFrom(client, { rules: { preset: "guideline" }, pieceSequences: [pieces] }, reset, { pieceSequence: pieces }),
    await recordedFrom(client, { rules: { preset: "tetrio", players: 2 }, pieceSequences: [pieces, pieces], holeColumns: [[3, 3, 7], [0]] }, reset, { pieceSequence: pieces, holeColumns: [3, 3, 7], opponent: { holeColumns: [0] } }),
  ];
  client.close();
  const folder = await mkdtemp(join(tmpdir(), "tetrion-page-"));
  await on("/#replay", DESKTOP, async (page) => {
    for (const [at, recording] of recordings.entries()) {
      await page.locator("#recording").setInputFiles(fileOf({ ...recording, player: `player ${at}` }, `${at}.json`));
      await page.getByRole("heading", { name: `player ${at}` }).waitFor();
      await proves(page, "As recorded: 12 placements");
      await writeFile(join(folder, "game.json"), JSON.stringify(recording));
      assert.deepEqual(await once(spawn(process.env.TETRION_BINARY, ["replay", join(folder, "game.json")], { stdio: "ignore" }), "exit"), [0, null], "the program says so too");
    }
  });
  await rm(folder, { recursive: true });
});

test("a recording that is forged, cut or of other rules is refused, with the place", async () => {
  const { "dellacherie-best.json": recording } = await evaluation("simplified", "dellacherie", 40, "--height", "10");
  const { "dt-10-vs-bcts-0-1.json": match } = await duel();
  const { outcome } = recording;
  const bytes = Buffer.from(recording.landingLines, "base64");
  const place = bytes.findIndex((lines) => lines > 0);
  const others = Buffer.from(bytes.map((lines, at) => (at === place ? lines - 1 : lines)));
  const turned = recording.actions.map((action, at) => (at === 5 ? 40_000 : action));
  const CASES = [
    [{ ...recording, landingLines: others.toString("base64") }, `Not as recorded: step ${place + 1}, piece ${place + 1}: ${bytes[place]} lines, recorded ${bytes[place] - 1}`],
    [{ ...recording, actions: turned }, "Not as recorded: step 6: "],
    [{ ...recording, seed: "8" }, "Not as recorded: "],
    [{ ...recording, landingLines: bytes.subarray(0, 39).toString("base64") }, "Not as recorded: step 40, piece 40: "],
    [{ ...recording, outcome: { ...outcome, lines: "99" } }, `Not as recorded: at the end: ${outcome.lines} lines, recorded 99`],
    [{ ...recording, outcome: { ...outcome, score: 0.5 } }, "Not as recorded: at the end: "],
    [{ ...recording, outcome: { ...outcome, end: "EPISODE_END_TOPPED_OUT" } }, "Not as recorded: at the end: not ended, recorded topped out"],
    [{ ...recording, outcome: { ...outcome, rows: [...outcome.rows.slice(0, -1), "#.........".slice(0, 10)] } }, "Not as recorded: at the end: row 0 of the playfield is "],
    [{ ...match, opponent: { ...match.opponent, outcome: { ...match.opponent.outcome, pieces: "31" } } }, "Not as recorded: opponent: at the end: "],
    [{ ...match, opponent: { ...match.opponent, actions: match.opponent.actions.map((action, at) => (at === 3 ? 60_000 : action)) } }, "Not as recorded: opponent: step 4: "],
    [{ ...recording, outcome: { ...outcome, rows: Array(11).fill("..........") } }, "Not as recorded: at the end: row "],
    [{ ...match, opponent: { ...match.opponent, outcome: undefined } }, "game.json cannot be replayed: opponent.outcome is missing"],
    [{ ...match, start: { piece: "T" } }, "game.json cannot be replayed: start is set, but a match begins with empty playfields"],
    [{ ...recording, rules: { ...recording.rules, width: undefined } }, "game.json cannot be replayed: rules.width is 0, expected 10: a recording has every field of its rules"],
    [{ ...recording, player: "a\u202eb" }, "game.json cannot be replayed: player is no text of at most 200 bytes without control characters"],
    [{ ...match, opponent: undefined }, "game.json cannot be replayed: opponent is missing, but rules.players is 2"],
    [{ ...recording, rulesVersion: "9" }, 'game.json cannot be replayed: rules_version is "9", expected '],
    [{ ...recording, rules: undefined }, "game.json cannot be replayed: rules is missing"],
    [{ ...recording, rules: { ...recording.rules, width: 99 } }, "game.json cannot be replayed: config.rules.width: width is 99"],
    [JSON.stringify(recording).slice(0, 400), "game.json cannot be replayed: it is not a recording in JSON: "],
    ["", "game.json cannot be replayed: it has 0 bytes"],
    ["no recording", "game.json cannot be replayed: it is neither a recording in JSON, which begins with {, nor one in binary form: "],
  ];
  await on("/#replay", DESKTOP, async (page) => {
    const says = async () => `${await proven(page)} ${await page.locator("#notice").textContent()}`;
    for (const [forged, words] of CASES) {
      await page.locator("#recording").setInputFiles(fileOf(forged));
      await until(async () => (await says()).includes(words) || says(), words);
    }
  }, { expected: ["400"] });
  for (const [path, words] of [
    ["/#replay?game=abc", "The link cannot be replayed: the link is cut or changed: its game cannot be unpacked"],
    ["/#replay?seed=1&player=nobody", "player=nobody, expected one of dellacherie, "],
    ["/#replay?seed=1&formula=-hole", 'The game cannot be replayed: policies[0].formula.text: nothing is called "hole", did you mean "holes"?'],
    ["/#replay?seed=-1&player=bcts", "seed=-1, expected a whole number from 0 to "],
  ]) {
    await on(path, DESKTOP, async (page) => {
      const notice = page.locator("#notice");
      await until(async () => (await notice.textContent()).includes(words) || notice.textContent(), words);
    }, { expected: ["400"] });
  }
});

test("the address has what is chosen, and brings it back", async () => {
  await on("/#race", DESKTOP, async (page) => {
    await page.getByLabel("Rules").selectOption("guideline");
    await page.getByLabel("Height", { exact: true }).fill("12");
    await page.getByLabel("Height", { exact: true }).press("Enter");
    await page.getByText("More rules").click();
    await page.getByLabel("Half turns").selectOption("cobra");
    await page.getByLabel("Controller A").selectOption("tetrion-guideline");
    await page.getByLabel("Seed").fill("77");
    await page.getByLabel("Seed").press("Enter");
    await page.getByLabel("Speed").fill("7");
    const holes = page.getByRole("slider", { name: "B: weight of holes" });
    await holes.fill("1");
    await page.locator(".lane-b .controller.edited").waitFor();
    const weight = await holes.getAttribute("aria-valuetext");
    const expected = /^#race\?rules=guideline&height=12&half_turns=cobra&seed=77&a=tetrion-guideline&b=bcts&weights_b=-12\.\d+,[-.,\de]+&speed=Infinity$/;
    await until(() => expected.test(new URL(page.url()).hash) || page.url(), "the address");
    const address = page.url();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
    for (const again of [() => page.reload(), () => page.goto("about:blank").then(() => page.goto(address))]) {
      await again();
      await page.locator(".lane-b .controller.edited").waitFor();
      const found = await Promise.all(["Rules", "Height", "Half turns", "Seed", "Controller A", "Controller B", "Speed"].map((name) => page.getByLabel(name, { exact: true }).inputValue()));
      assert.deepEqual(found, ["guideline", "12", "cobra", "77", "tetrion-guideline", "bcts", "7"]);
      assert.equal(await page.getByRole("slider", { name: "B: weight of holes" }).getAttribute("aria-valuetext"), weight);
      assert.equal(page.url(), address);
    }
    // Another address in the same tab, as a link in a chat brings it; then back.
    await page.evaluate(() => (location.hash = "#play?rules=lab&seed=5&against=lab-uniform&hint=bcts"));
    await page.locator(".rival h2", { hasText: "lab-uniform" }).waitFor();
    assert.deepEqual([await page.getByLabel("Seed").inputValue(), await page.getByLabel("Ask").inputValue()], ["5", "bcts"]);
    await page.evaluate(() => (location.hash = "#evaluate?rules=nes&games=50&pieces=500&count=points&controllers=bcts,el-tetris"));
    await page.getByLabel("Controller 2").waitFor();
    assert.deepEqual([await page.getByLabel("Controller 1").inputValue(), await page.getByLabel("Count", { exact: true }).inputValue(), await page.getByLabel("Games each").inputValue()], ["bcts", "points", "50"]);
    await page.goBack();
    await page.locator(".rival h2", { hasText: "lab-uniform" }).waitFor();
    assert.equal(new URL(page.url()).hash, "#play?rules=lab&seed=5&against=lab-uniform&hint=bcts");
  });
});

test("an address that cannot be used is reported, and the rest of it is used", async () => {
  await on("/#race?rules=guidelin&height=99&seed=-1&a=nobody&b=dt-10&weights_a=1,x", DESKTOP, async (page) => {
    const notice = page.locator("#notice");
    await until(async () => (await notice.textContent()).includes("height=99, expected a whole number from") || notice.textContent(), "what is wrong");
    for (const part of ["rules=guidelin, expected one of simplified, ", "seed=-1, expected a whole number from 0 to 18446744073709551615", "a=nobody, expected one of ", "weights_a=1,x, expected 6 numbers"]) {
      assert.ok((await notice.textContent()).includes(part), `${part} is not in: ${await notice.textContent()}`);
    }
    assert.equal(await page.getByLabel("Controller B").inputValue(), "dt-10");
    await page.getByLabel("Seed").fill("8");
    await page.getByLabel("Seed").press("Enter");
    await notice.waitFor({ state: "hidden" });
  });
});

test("a part of the address that means nothing is reported", async () => {
  for (const [path, expected] of [
    ["/#race?weights_a=1,2,3", "weights_a=1,2,3, expected 6 numbers with commas between them."],
    ["/#race?weights_b=1e301,0,0,0,0,0,0,0", "weights_b=1e301,0,0,0,0,0,0,0, expected numbers from -1e+300 to 1e+300."],
    ["/#play?rules=guideline&players=2", "players=2, which the server does not play: players 2 needs garbage: set garbage.lines_per_piece, or take a preset such as tetrio."],
    ["/#play?rules=tetrio&players=2&control=keys", "players=2, which the server does not play: players 2 needs the placement action model: a turn is a piece of each player."],
    ["/#play?rules=tetrio&side=2", "side=2, expected only rules, "],
    ["/#evaluate?rules=tetrio&players=2", "players=2, expected 1: the command tetrion match measures matches."],
    ["/#race?speeed=4", "speeed=4, expected only rules, "],
    ["/#race?half_turns=cobra", "half_turns=cobra, which the server does not play: rotation_system, half_turns and spin_rule need reach moves."],
    ["/#evaluate?randomizer=balanced&hold=yes", "randomizer=balanced and hold=yes, which the server does not play: "],
    ["/#play?garbage.delay_pieces=9", "garbage.delay_pieces=9, which the server does not play: "],
    ["/#play?top_out=never", "top_out=never, expected one of "],
    ["/#play?rules=simplified&control=keys", "control=keys, expected only rules, "],
    ["/#evaluate?count=points", "count=points, expected one of lines."],
    ["/#sessions?name=x", "name=x, expected only boards, session, show, over, mean."],
    ["/#server?x=1", "x=1, expected no choices in this view."],
    ["/#races", "no view races, expected one of home, race, play, "],
  ]) {
    await on(path, DESKTOP, async (page) => {
      await page.locator("#notice").getByText(`The address has ${expected}`).waitFor();
      await page.locator("main .view").waitFor();
    });
  }
});

test("every field of the rules can be changed, and what the server does not play changes nothing", async () => {
  await on("/#race?rules=guideline&speed=30", DESKTOP, async (page) => {
    const pieces = page.locator(".lane-a .fact output").nth(1);
    await until(async () => (await count(pieces)) > 2 || count(pieces), "a race");
    await page.getByText("More rules").click();
    // As many as the protocol has, but for those with a place of their own.
    assert.ok((await page.locator(".more .field").count()) >= 20);
    const hash = () => new URL(page.url()).hash;
    const before = hash();
    for (const [name, value, expected] of [["Fall delay", "5", "fall_delay is 5, expected none"], ["Garbage: lines per piece", "9", "garbage.lines_per_piece is 9, expected 0 to 4"], ["Garbage: lines per piece", "some", "Expected a number"]]) {
      const input = page.getByLabel(name);
      const usual = await input.inputValue();
      await input.fill(value);
      await input.press("Enter");
      await page.getByRole("alert").getByText(expected).waitFor();
      assert.equal(await input.getAttribute("aria-invalid"), "true");
      assert.equal(hash(), before);
      await input.fill(usual);
      await input.press("Enter");
      await page.getByRole("alert").waitFor({ state: "detached" });
    }
    await page.getByLabel("Clear points").selectOption("attack");
    await page.getByLabel("Attack table", { exact: true }).selectOption("none");
    await page.getByRole("alert").getByText("clear_points attack needs an attack_table").waitFor();
    await until(() => hash().includes("&clear_points=attack&seed=") || hash(), "the first of the two");
    await page.getByLabel("Garbage: lines per piece").fill("0.5");
    await page.getByLabel("Garbage: lines per piece").press("Enter");
    await page.getByText("More rules (2 changed)").waitFor();
    await until(() => hash().includes("&garbage.lines_per_piece=0.5&seed=") || hash(), "both in the address");
    await page.reload();
    await page.getByText("More rules (2 changed)").waitFor();
    assert.ok(hash().startsWith("#race?rules=guideline&clear_points=attack&garbage.lines_per_piece=0.5&seed="), hash());
    // Rows of garbage: nothing in a column but where it is full.
    const grey = () => page.locator(".lane-a canvas.board").evaluate((canvas) => {
      const size = Math.floor(Math.min(canvas.width / 10, canvas.height / 24));
      const { data } = canvas.getContext("2d").getImageData(0, Math.round((canvas.height + 24 * size) / 2 - size / 2), canvas.width, 1);
      return Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3)).filter(([red, green, blue]) => Math.abs(red - green) < 16 && Math.abs(green - blue) < 24 && red > 60).length / canvas.width;
    });
    await until(async () => (await grey()) > 0.6 || grey(), "garbage on the floor");
    await page.getByLabel("Rules").selectOption("simplified");
    await page.getByText("More rules", { exact: true }).waitFor();
    await until(() => hash().startsWith("#race?rules=simplified&seed=") || hash(), "another preset has none of that");
  });
});

test("input that cannot be used is reported below its field, and changes nothing", async () => {
  await on("/#race", DESKTOP, async (page) => {
    await page.locator(".lane-a canvas.board").waitFor();
    const words = () => page.locator(".lane-a canvas.board").getAttribute("aria-label");
    for (const [name, value, expected] of [
      ["Width", "99", "Expected a whole number from 4 to 32"], ["Width", "3", "Expected a whole number from 4 to 32"], ["Height", "7.5", "Expected a whole number from"], ["Preview", "", "Expected a whole number from 0 to 6"],
      ["Seed", "abc", "Expected a whole number from 0 to 18446744073709551615"], ["Seed", "18446744073709551616", "Expected a whole number from 0"], ["Seed", "-1", "Expected a whole number from 0"], ["Seed", "1.5", "Expected a whole number from 0"],
    ]) {
      const input = page.getByLabel(name, { exact: true });
      await input.fill(value);
      await input.press("Enter");
      const alert = page.getByRole("alert");
      await until(async () => (await alert.textContent()).startsWith(expected) || alert.textContent(), `${name} ${value}`);
      assert.equal(await input.getAttribute("aria-invalid"), "true");
      assert.equal(await input.getAttribute("aria-describedby"), await alert.getAttribute("id"));
      assert.equal(await input.inputValue(), value, "the text stays, to be put right");
      assert.equal(await page.evaluate(() => document.activeElement.localName), "input", "and so does the focus");
      assert.match(await words(), /^Playfield of A, 10 by 10:/);
      assert.match(new URL(page.url()).hash, /^#race\?rules=simplified&height=10&seed=1&/);
      await input.fill({ Width: "10", Height: "10", Preview: "0", Seed: "1" }[name]);
      await input.press("Enter");
      await alert.waitFor({ state: "detached" });
      assert.equal(await input.getAttribute("aria-invalid"), null);
    }
    await page.getByLabel("Seed").fill("");
    await page.getByLabel("Seed").press("Enter");
    await until(async () => /^\d+$/.test(await page.getByLabel("Seed").inputValue()) || page.getByLabel("Seed").inputValue(), "an empty field draws a seed");
    await page.getByLabel("Seed").fill("18446744073709551615");
    await page.getByLabel("Seed").press("Enter");
    await until(() => new URL(page.url()).hash.includes("seed=18446744073709551615&") || page.url(), "the largest seed");
  });
});

for (const look of [DESKTOP, LOOKS[3]]) {
  test(`the first screen says what this is, and what to do (${look.name})`, async () => {
    await on("/", look, async (page) => {
      await page.getByRole("heading", { name: "Tetrion is a Tetris environment server for reinforcement learning." }).waitFor();
      // Something moves.
      const label = page.locator(".demo canvas.board").first();
      await until(async () => /: [1-9]\d* lines$/.test(await label.getAttribute("aria-label")) || label.getAttribute("aria-label"), "lines go", 60_000);
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Go on" }).waitFor();
      const snippet = page.locator("#snippet");
      assert.ok((await snippet.textContent()).includes(`gymnasium.make("tetrion/Placement-v0", address="127.0.0.1:${server.port}")`));
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await snippet.textContent());
      await page.getByRole("tab", { name: "Python" }).focus();
      await page.keyboard.press("ArrowRight");
      assert.ok((await snippet.textContent()).startsWith(`tetrion train --server 127.0.0.1:${server.port}`));
      await page.getByRole("link", { name: /^Connect your agent/ }).click();
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "Terminal");
      await page.getByRole("link", { name: /^Watch two programs/ }).click();
      await page.locator(".lane-a canvas.board").waitFor();
      await page.getByRole("link", { name: /^Tetrion/ }).click();
      await page.getByRole("link", { name: /^Play The game/ }).click();
      await page.locator(".play .playfield canvas.board").waitFor();
      assert.equal(await page.title(), "Play · Tetrion");
    });
  });
}

test("the first screen makes no session, and stands still for those who want that", async () => {
  const own = await Server.start();
  try {
    await on("/", { ...DESKTOP, reducedMotion: "reduce" }, async (page) => {
      await page.getByRole("button", { name: "Go on" }).waitFor();
      await page.getByRole("button", { name: "Go on" }).click();
      await until(async () => / [1-9]\d* lines/.test(await page.locator(".demo canvas.board").first().getAttribute("aria-label")) || "no line", "lines go", 60_000);
      const metrics = await (await fetch(`${own.address}/metrics`)).text();
      assert.match(metrics, /^tetrion_sessions 0$/m);
    }, { of: own });
  } finally {
    await own.stop();
  }
});

test("the sessions of a page end with it, and with a reload", async () => {
  const own = await Server.start();
  const sessions = async () => Number(/^tetrion_sessions (\d+)$/m.exec(await (await fetch(`${own.address}/metrics`)).text())?.[1]);
  try {
    const leaving = await open(browser, own, { ...DESKTOP, path: "/#play?rules=simplified&against=bcts" });
    await until(async () => (await sessions()) === 2 || sessions(), "a game and an opponent");
    const begun = () => until(async () => `${await standing(leaving.page, ".rival")}` === "0,0" || standing(leaving.page, ".rival"), "both games");
    await begun();
    await leaving.page.reload();
    await begun();
    await until(async () => (await sessions()) === 2 || sessions(), "the same after a reload");
    await leaving.page.getByRole("link", { name: "Race" }).click();
    await until(async () => (await standing(leaving.page, ".lane-a"))[1] > 0 || standing(leaving.page, ".lane-a"), "a race");
    await until(async () => (await sessions()) === 3 || sessions(), "the game is kept for who comes back");
    await leaving.page.goto("about:blank");
    await until(async () => (await sessions()) === 0 || sessions(), "none is left");
    await leaving.close();
    const closing = await open(browser, own, { ...DESKTOP, path: "/#race" });
    // A page that is closed before it has heard of its session leaves it to its minute.
    await until(async () => (await standing(closing.page, ".lane-a"))[1] > 0 || standing(closing.page, ".lane-a"), "a race");
    assert.equal(await sessions(), 1);
    await closing.page.close({ runBeforeUnload: true });
    await until(async () => (await sessions()) === 0 || sessions(), "none is left after a tab is closed");
    await closing.close();
  } finally {
    await own.stop();
  }
});

test("curves of all learners are whole from the first episode on, and stay when a learner has ended", async () => {
  const own = await Server.start();
  const rules = { width: 4, height: 6 };
  const learners = [await Learner.start(own, { numEnvs: 4, rules, label: "dqn" }), await Learner.start(own, { numEnvs: 2, rules, label: "ppo lr 3e-4" })];
  try {
    const { client, session } = learners[0];
    await until(async () => (await client.getHistory(session.name)).numEpisodes > 300 || "episodes", "episodes before anyone looks", 60_000);
    // A person's game on this page is neither a learner nor chosen.
    const other = await open(browser, own, { ...DESKTOP, path: "/#play?rules=simplified" });
    await other.page.locator("canvas.board").first().waitFor();
    await on("/#sessions", DESKTOP, async (page) => {
      const chart = page.locator(".curves canvas.chart");
      const label = () => chart.getAttribute("aria-label");
      await chart.waitFor();
      const found = /^Learning curves, lines over episodes: ppo lr 3e-4: [\d.]+ \((\d+) episodes\); dqn: [\d.]+ \((\d[\d,]*) episodes\)$/.exec(await label());
      assert.ok(found !== null && Number(found[2].replaceAll(",", "")) > 300, await label());
      const names = page.getByRole("radiogroup", { name: "Sessions" }).getByRole("radio");
      assert.deepEqual((await names.locator("strong").allTextContents()), ["dqn", "ppo lr 3e-4", "Play"]);
      assert.deepEqual(await Promise.all((await names.all()).map((row) => row.getAttribute("aria-checked"))), ["false", "true", "false"], "the newest learner is chosen");
      assert.match(await names.last().textContent(), /, a person's game/);
      await until(async () => /^\d/.test(await page.locator(".fact output").first().textContent()) || "no pace", "steps per second");
      await page.getByLabel("Show", { exact: true }).selectOption("return");
      await page.getByLabel("Over", { exact: true }).selectOption("steps");
      await page.getByLabel("Smoothing").selectOption("none");
      assert.match(await label(), /^Learning curves, return over steps: /);
      assert.match(page.url(), /show=returns&over=steps&mean=1$/);
      await shot(page, "curves");
      await page.reload();
      await chart.waitFor();
      assert.match(await label(), /^Learning curves, return over steps: /);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save CSV" }).click();
      const rows = (await readFile(await (await download).path(), "utf8")).trim().split("\n");
      assert.match(rows[0], /^line,steps,return,/);
      assert.ok(rows.some((row) => row.startsWith("dqn,")) && rows.some((row) => row.startsWith("ppo lr 3e-4,")), rows[1]);
      // A learner ends: its curve stays, also over a reload, and the other one is watched on.
      await learners[1].stop();
      await page.getByText("The session has ended. Its curve stays while this tab is open.").or(page.getByRole("radio", { name: /^ppo .*has ended; \d+ episodes/ })).first().waitFor();
      await page.getByRole("radio", { name: /^ppo .*has ended; [\d,]+ episodes/ }).click();
      await until(async () => /ppo lr 3e-4: -?[\d.]+, ended \(/.test(await label()) || label(), "an ended curve");
      await page.reload();
      await page.getByRole("radio", { name: /^ppo .*has ended; [\d,]+ episodes/ }).waitFor();
      assert.match(await label(), /ppo lr 3e-4: -?[\d.]+, ended \(.*dqn: |dqn: .*ppo lr 3e-4: -?[\d.]+, ended \(/);
    }, { of: own });
    await other.close();
  } finally {
    await Promise.allSettled(learners.map((learner) => learner.stop()));
    await own.stop();
  }
});

test("two sessions of one label can be told apart", async () => {
  const own = await Server.start();
  const learners = [await Learner.start(own, { label: "dqn" }, 20), await Learner.start(own, { label: "dqn" }, 20), await Learner.start(own, {}, 20)];
  try {
    await on("/#sessions", DESKTOP, async (page) => {
      const names = page.getByRole("radiogroup", { name: "Sessions" }).locator("strong");
      await until(async () => (await names.count()) === 3 || names.count(), "three sessions");
      const [one, two, none] = await names.allTextContents();
      assert.ok(/^dqn \([0-9a-f]{6}…[0-9a-f]{6}\)$/.test(one) && /^dqn \(/.test(two) && one !== two, `${one}, ${two}`);
      assert.match(none, /^[0-9a-f]{6}…[0-9a-f]{6}$/);
    }, { of: own });
  } finally {
    await Promise.all(learners.map((learner) => learner.stop()));
    await own.stop();
  }
});

test("without learners it says how to connect one", async () => {
  const own = await Server.start(["--token", "open sesame"]);
  try {
    await on("/#sessions", DESKTOP, async (page) => {
      await page.getByRole("dialog").getByLabel("Token").fill("open sesame");
      await page.getByRole("dialog").getByLabel("Token").press("Enter");
      await page.getByText("No learner has a session here").waitFor();
      assert.ok((await page.locator("#snippet").textContent()).includes(', token="TOKEN")'));
      await page.getByText("This server needs a token: replace TOKEN with yours.").waitFor();
      assert.ok(!(await page.locator("main").textContent()).includes("sesame"));
      await page.getByRole("link", { name: "Evaluate" }).click();
      await page.getByText("No games yet").waitFor();
      assert.equal(await page.locator("canvas.strips").isVisible(), false);
    }, { of: own });
  } finally {
    await own.stop();
  }
});

// The pictures of docs/watching.md. UPDATE_PICTURES=1 makes them anew.
const PICTURES = [
  ["page.png", "/#race?seed=1&a=dellacherie&b=tetrion-10x10-expectation", async (page) => {
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Seed").fill("3");
    await page.getByLabel("Seed").press("Enter");
    await until(async () => `${await standing(page, ".lane-a")}` === "0,0" || standing(page, ".lane-a"), "a game");
    for (let piece = 1; piece <= 33; piece++) {
      await page.getByRole("button", { name: "Step" }).click();
      await until(async () => (await standing(page, ".lane-b"))[1] === piece || standing(page, ".lane-b"), "a piece");
    }
    const heat = page.locator(".lane-a canvas.heat");
    const { width } = await heat.boundingBox();
    await heat.hover({ position: { x: 0.65 * width, y: 5 } });
  }],
  ["page-play.png", "/#play?rules=guideline&seed=7&against=tetrion-guideline", async (page) => {
    const pieces = page.locator(".left .fact output").nth(1);
    await until(async () => (await page.locator(".playfield canvas.board").getAttribute("aria-label")).includes("0 pieces"), "a game");
    await page.locator("main").focus();
    for (const [at, keys] of [["z", ...Array(5).fill("ArrowLeft")], ["z", ...Array(6).fill("ArrowRight")], ["ArrowRight", "ArrowRight", "ArrowRight"], ["c", "ArrowLeft"], ["ArrowLeft", "ArrowLeft"], ["ArrowRight"]].entries()) {
      for (const key of [...keys, " "]) {
        await page.keyboard.press(key);
      }
      await until(async () => (await count(pieces)) === at + 1 || count(pieces), "a piece");
    }
    await until(async () => (await standing(page, ".rival"))[1] === 6 || standing(page, ".rival"), "as many there");
    await page.keyboard.press("h");
    await page.locator(".why table").waitFor();
  }],
  ["page-evaluate.png", "/#evaluate?height=8&controllers=dellacherie,bcts,dt-10&pieces=10000&games=200", async (page) => {
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    await page.getByText("600 games in").waitFor({ timeout: 60_000 });
  }],
];

/** Means of the colours of 32 x 20 parts of a picture, which fonts hardly change. */
async function parts(png) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    return await page.evaluate(async (data) => {
      const bitmap = await createImageBitmap(await (await fetch(data)).blob());
      const canvas = new OffscreenCanvas(32, 20);
      const pen = canvas.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.drawImage(bitmap, 0, 0, 32, 20);
      return [bitmap.width, bitmap.height, ...pen.getImageData(0, 0, 32, 20).data];
    }, `data:image/png;base64,${png.toString("base64")}`);
  } finally {
    await context.close();
  }
}

for (const [name, path, show] of PICTURES) {
  test(`the documents show the page as it is (${name})`, async () => {
    await on(path, { ...DESKTOP, height: 760 }, async (page) => {
      await show(page);
      await page.waitForTimeout(300); // the last frame
      const shown = await page.screenshot();
      const file = new URL(`../../../../docs/${name}`, import.meta.url);
      if (process.env.UPDATE_PICTURES !== undefined) {
        await writeFile(file, shown);
      }
      const [now, kept] = [await parts(shown), await parts(await readFile(file))];
      const difference = now.reduce((sum, part, at) => sum + Math.abs(part - kept[at]), 0) / now.length;
      assert.ok(difference < 5, `docs/${name} differs by ${difference}; UPDATE_PICTURES=1 makes it anew`);
    });
  });
}

const AXE = await readFile(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

for (const look of [LOOKS[0], LOOKS[3], { ...SCREENS[4], scheme: "light" }]) {
  test(`axe finds nothing to be mended (${look.name})`, async () => {
    for (const path of ["/", "/#race?rules=guideline", "/#play", "/#play?rules=simplified&against=bcts", "/#play?rules=tetrio&players=2", "/#evaluate?rules=tetrio", "/#replay?rules=simplified&height=6&seed=4&formula=-holes", "/#sessions", "/#training", "/#server", "/docs/watching.html", "/docs/operating.html"]) {
      await on(path, look, async (page) => {
        await page.locator("main > .view, main > .document").waitFor();
        await page.waitForTimeout(300);
        if (path.startsWith("/#play")) {
          await page.locator(".playfield canvas.board[aria-label*='0 pieces']").waitFor();
          await page.getByRole("button", { name: "Hint" }).click();
          await page.locator(".why table").waitFor();
        }
        await page.evaluate(AXE);
        const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations);
        assert.deepEqual(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join("; ")}`), [], path);
      });
    }
  });
}

test("sliders say their values", async () => {
  await on("/#race", DESKTOP, async (page) => {
    const speed = page.getByLabel("Speed");
    assert.equal(await speed.getAttribute("aria-valuetext"), "8 pieces per second");
    await speed.fill("0");
    assert.equal(await speed.getAttribute("aria-valuetext"), "1 piece per second");
    await speed.fill("7");
    assert.equal(await speed.getAttribute("aria-valuetext"), "as fast as the server answers");
    const holes = page.getByRole("slider", { name: "A: weight of holes" });
    assert.equal(await holes.getAttribute("aria-valuetext"), "-4");
    await holes.fill("2");
    assert.match(await holes.getAttribute("aria-valuetext"), /^[12](\.\d+)?$/);
  });
});
