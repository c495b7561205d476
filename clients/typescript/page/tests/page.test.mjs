// Every use of the page, in a browser, against the real server. Screens are asserted on by what they say and by the colours of
// their cells; with SHOTS=FOLDER each test leaves a picture of what it saw, to be looked at.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";

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
    const evaluation = spawn(process.env.TETRION_SERVER, ["evaluate", "--per-game", table, ...flags], { stdio: "ignore" });
    assert.deepEqual(await once(evaluation, "exit"), [0, null]);
    const [head, ...rows] = (await readFile(table, "utf8")).trim().split("\n").map((line) => line.split(","));
    const [seed, lines, pieces, score] = ["seed", "lines", "pieces", "score"].map((name) => head.indexOf(name));
    return rows.map((row) => ({ seed: row[seed], lines: Number(row[lines]), pieces: Number(row[pieces]), score: Number(row[score]) }));
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
      await until(async () => (await count(pieces)) > 60 || `${await count(pieces)} pieces`, "the race goes on");
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
    await on("/#play", look, async (page) => {
      const pieces = page.locator(".beside .fact output").nth(1);
      if (look.width < 500) {
        await page.getByText("Choices").click();
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
      assert.match(await page.locator(".why").textContent(), /landing height.*holes.*in all/s);
      await page.keyboard.press("u");
      await page.keyboard.press("u");
      await until(async () => (await count(pieces)) === 0 || count(pieces), "undo goes back to the beginning");
      await shows(page, { column: 0, ...columns }, [null, null, null]);
      assert.equal(await page.getByRole("button", { name: "Undo" }).isDisabled(), true);
    });
  });

  test(`a controller plays beside a person (${look.name})`, async () => {
    const few = ["--width", "10", "--height", "20", "--games", "1", "--seed", "11"];
    const [game] = await evaluated("--controller", "dt-10", "--max-pieces", "12", ...few);
    const [start] = await evaluated("--controller", "dt-10", "--max-pieces", "11", ...few);
    await on("/#play", look, async (page) => {
      if (look.width < 500) {
        await page.getByText("Choices").click();
      }
      assert.equal(await page.locator(".rival").isVisible(), false);
      await page.getByLabel("Seed").fill(game.seed);
      await page.getByLabel("Seed").press("Enter");
      await page.getByLabel("Against").selectOption("dt-10");
      await page.getByLabel("Against").blur();
      if (look.width < 500) {
        await page.getByText("Choices").click();
      }
      const own = page.locator(".beside .fact output").nth(1);
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
      await page.getByLabel("Rules").selectOption("guideline");
      await page.getByLabel("Width").fill("4");
      await page.getByLabel("Width").press("Enter");
      await page.getByLabel("Seed").fill("7");
      await page.getByLabel("Seed").press("Enter");
      await page.getByLabel("Seed").blur();
      if (look.width < 500) {
        await page.getByText("Choices", { exact: true }).click();
      }
      const [pieces, sent] = [page.locator(".beside .fact output").nth(1), page.locator(".beside .fact output").nth(3)];
      const says = async (text) => await until(async () => (await page.locator("p[aria-live]").textContent()).includes(text) || page.locator("p[aria-live]").textContent(), text);
      const label = (kind) => page.locator(`.beside .side canvas.${kind}`).getAttribute("aria-label");
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
      assert.equal(await page.locator(".beside .deed").first().textContent(), "T-spin double, 4 lines sent");
      assert.equal(await count(sent), 4);
      // What is left of the I are its lowest and its highest cell, with the O on it; of the L it is the lowest.
      await shows(page, { column: 0, columns: 4, rows: 24 }, ["#2fc6e0", "#2fc6e0", "#f2cf3c", "#f2cf3c"]);
      await shows(page, { column: 3, columns: 4, rows: 24 }, ["#ee8c2f"]);
      await press("h");
      await page.locator(".why table").waitFor();
      assert.match(await page.locator(".why").textContent(), /dellacherie would .*Keys: .*hard drop .*landing height/s);
      await press("u");
      await until(async () => (await label("held")) === "No piece is held" || label("held"), "the held piece is taken back");
      assert.deepEqual([await count(sent), await page.locator(".beside .deed").first().textContent()], [0, ""]);
    });
  });

  test(`controllers are evaluated (${look.name})`, async () => {
    await on("/#evaluate", look, async (page) => {
      if (look.width < 500) {
        await page.getByText("Choices").click();
      }
      await page.getByLabel("Height").fill("8");
      await page.getByLabel("Games each").selectOption("200");
      await page.getByLabel("Cut after").selectOption("10000");
      await page.getByRole("button", { name: "Evaluate", exact: true }).click();
      await until(async () => ((await page.locator(".remark").textContent()).startsWith("600 games in") || page.locator(".remark").textContent()), "600 games", 60_000);
      const rows = await page.locator("tbody tr").allTextContents();
      assert.equal(rows.length, 3);
      for (const row of rows) {
        assert.match(row, /^(dellacherie|bcts|el-tetris)200[\d.,]+/);
      }
      assert.match(await page.locator("ul").textContent(), /bcts − dellacherie: -?[\d.,]+ lines a game/);
      assert.match(await page.locator("canvas.strips").getAttribute("aria-label"), /bcts: mean [\d.,]+, plus or minus [\d.,]+, over 200 games/);
    });
  });

  test(`it says what the server is (${look.name})`, async () => {
    await on("/#server", look, async (page) => {
      await page.getByText("tetrion-rules-1").waitFor();
      assert.equal(await page.locator("tbody th", { hasText: "simplified" }).count(), 1);
      assert.ok(await page.getByText(`${server.address}/tetrion.v1.EnvironmentService/GetServerInfo`).count() >= 1);
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
    const games = await Promise.all(names.map((name, at) => evaluated("--controller", name, ...rules, ...(ways[at].startsWith("greedy") ? ["--lookahead", "0"] : []))));
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
  const rules = ["--rules", "guideline", "--height", "24", "--rows-above", "20", "--games", "3", "--seed", "3", "--max-pieces", "300"];
  const games = await Promise.all(names.map((name) => evaluated("--controller", name, ...rules)));
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
    assert.match(await page.locator("ul").textContent(), /dellacherie − dellacherie, weights of A: [\d.,]+ lines a game.*better/);
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

test("lines sent are counted where there are such", async () => {
  const few = ["--rules", "guideline", "--height", "40", "--clear-points", "attack", "--max-pieces", "500", "--games", "50", "--seed", "1"];
  const scores = await Promise.all(["dellacherie", "bcts"].map(async (name) => {
    const games = await evaluated("--controller", name, ...few);
    return games.reduce((sum, { score }) => sum + score, 0) / games.length;
  }));
  await on("/#evaluate", DESKTOP, async (page) => {
    assert.equal(await page.getByLabel("Count", { exact: true }).isVisible(), false);
    await page.getByLabel("Rules").selectOption("guideline");
    await page.getByLabel("Count", { exact: true }).selectOption("lines sent");
    await page.getByRole("heading", { name: "Lines sent a game" }).waitFor();
    const spoken = await evaluateTwo(page);
    const means = [...spoken.matchAll(/mean ([\d.]+)/g)].map(([, mean]) => Number(mean));
    assert.deepEqual(means, scores.map((score) => Number(score.toPrecision(3))), spoken);
    assert.match(await page.locator("ul").textContent(), /bcts − dellacherie: -?[\d.,]+ lines sent a game/);
    await page.getByLabel("Rules").selectOption("simplified");
    // What is shown is still what was counted.
    assert.equal(await page.getByRole("heading", { name: "Lines sent a game" }).count(), 1);
    assert.equal(await page.getByLabel("Count", { exact: true }).isVisible(), false);
  });
});

test("points are counted where a point is not a line", async () => {
  const scores = await Promise.all(["dellacherie", "bcts"].map(async (name) => {
    const games = await evaluated("--controller", name, "--rules", "nes", "--max-pieces", "500", "--games", "50", "--seed", "1");
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
    await page.getByRole("heading", { name: "Points a game" }).waitFor();
    const spoken = await evaluateTwo(page);
    const means = [...spoken.matchAll(/mean ([\d,]+), plus/g)].map(([, mean]) => Number(mean.replaceAll(",", "")));
    assert.deepEqual(means, scores.map(Math.round), spoken);
    assert.match(await page.locator("ul").textContent(), /bcts − dellacherie: -?[\d.,]+ points a game/);
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
    await page.getByText("Stopped:").waitFor();
    await page.getByRole("button", { name: "Evaluate", exact: true }).waitFor();
  });
});

test("pieces fall by themselves where the rules have key presses", async () => {
  await on("/#play", DESKTOP, async (page) => {
    await page.getByLabel("Rules").selectOption("lab");
    await page.getByLabel("Pieces fall by themselves").waitFor();
    await page.locator("main").focus();
    const pieces = page.locator(".beside .fact output").nth(1);
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
    const pieces = page.locator(".beside .fact output").nth(1);
    const label = (kind) => page.locator(`.beside .side canvas.${kind}`).getAttribute("aria-label");
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
    const pieces = page.locator(".beside .fact output").nth(1);
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
    const held = () => page.locator(".beside .side canvas.held").getAttribute("aria-label");
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
    const pieces = page.locator(".beside .fact output").nth(1);
    for (const preset of ["simplified", "lab", "survey", "genetic", "leiden", "guideline", "nes"]) {
      await page.getByLabel("Rules").selectOption(preset);
      await page.getByLabel("Preview").fill("3");
      await page.getByLabel("Preview").press("Enter");
      await until(async () => /^Next: [IOTZSJL], [IOTZSJL], [IOTZSJL]$/.test(await page.locator("canvas.pieces").getAttribute("aria-label")), "the next pieces");
      await page.locator("main").focus();
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 1 || count(pieces), preset);
      await page.getByLabel("Preview").fill("0");
      await page.getByLabel("Preview").press("Enter");
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
      await dialog.getByText("It does not know that one.").waitFor();
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
    await on("/#play", DESKTOP, async (page) => {
      const pieces = page.locator(".beside .fact output").nth(1);
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
      await page.keyboard.press(" ");
      await until(async () => (await count(pieces)) === 2 || count(pieces), "the game goes on in a new session");
    }, { of: mortal, expected: ["net::ERR_"] });
  } finally {
    await mortal.stop();
  }
});

test("it can be used with the keyboard alone", async () => {
  await on("/", DESKTOP, async (page) => {
    await page.locator(".lane-a canvas.board").waitFor();
    const seen = [];
    for (let stop = 0; stop < 20; stop++) {
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
    await page.getByRole("link", { name: "Play" }).focus();
    await page.keyboard.press("Enter");
    await until(async () => (await page.title()) === "Play · Tetrion" || page.title(), "another view");
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
  });
});

test("without a training there is nothing to see, and it says so", async () => {
  await on("/#training", DESKTOP, async (page) => {
    await page.getByText("No training runs in this server's process.").waitFor();
  });
});

for (const look of [LOOKS[0], LOOKS[3]]) {
  test(`the learning curve of a training grows (${look.name})`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "tetrion-page-"));
    const search = ["--height", "8", "--generations", "500", "--population", "16", "--games", "2", "--check-games", "8", "--max-pieces", "1000", "--seed", "5"];
    const training = spawn(process.env.TETRION_SERVER, ["train", ...search, "--out", join(folder, "run")], { stdio: ["ignore", "ignore", "pipe"] });
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
        const done = async () => Number(/^(\d+) of 500 generations: [\d.,]+ lines a game, [\d.,-]+ to [\d.,]+\.$/.exec(await page.locator(".lead").textContent())?.[1] ?? 0);
        await until(async () => (await done()) > 2 || page.locator(".lead").textContent(), "generations", 60_000);
        const first = await done();
        await until(async () => (await done()) > first || page.locator(".lead").textContent(), "it grows", 60_000);
        assert.equal(await page.locator("tbody tr").count(), Math.min(50, await done()));
      }, { of: { address } });
    } finally {
      const ended = once(training, "exit");
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
      await page.getByRole("radio", { name: /2 environments, guideline 10 × 20/ }).last().click();
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
        const row = page.getByRole("radio", { name: /2 environments, simplified 10 × 10/ }).last();
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
