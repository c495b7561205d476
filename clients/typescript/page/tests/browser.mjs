// A headless Chromium and a real server, for the tests of the page.
//
// The browser is the one that CHROMIUM names, else `chromium` on PATH, else the one that npm has brought (x86-64 Linux).

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

import { chromium } from "playwright-core";

/** Opens the browser. */
export async function launch() {
  const named = process.env.CHROMIUM || spawnSync("sh", ["-c", "command -v chromium || command -v google-chrome"]).stdout.toString().trim();
  if (named !== "") {
    return await chromium.launch({ executablePath: named, args: ["--no-sandbox"] });
  }
  const { default: npm } = await import("@sparticuz/chromium");
  // Not with the arguments of that package: in a single process, as they want it, it ends with the first page that is closed.
  return await chromium.launch({ executablePath: await npm.executablePath(), args: ["--no-sandbox"] });
}

/** A server on a free port, or on the port of one that was stopped. */
export class Server {
  static async start(flags = [], port = 0) {
    const command = ["serve", "--listen", `127.0.0.1:${port}`, "--exit-on-stdin-eof", "--log", "error", ...flags];
    const child = spawn(process.env.TETRION_BINARY, command, { stdio: ["pipe", "pipe", "inherit"] });
    let line = "";
    for await (const text of child.stdout) {
      line += text;
      if (line.endsWith("\n")) {
        break;
      }
    }
    const server = new Server();
    server.process = child;
    server.port = Number(line.trim().split(":").at(-1));
    server.address = `http://127.0.0.1:${server.port}`;
    return server;
  }

  async stop() {
    const ended = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await ended;
  }
}

const ASSETS = new URL("../../../../src/server/page/", import.meta.url);
const NAMES = { "/": "index.html", "/page.js": "page.js", "/page.css": "page.css", "/document.js": "document.js", "/icon.svg": "icon.svg" };
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };

/**
 * A page of this server, whose every problem fails the test: errors, warnings of the security policy, requests to other hosts.
 * With DRAFT=1 the assets come from the folder instead, to try them before they are built into a program.
 */
export async function open(browser, server, { width = 1280, height = 860, scheme = "light", reducedMotion = "no-preference", path = "/" } = {}) {
  const isPhone = Math.min(width, height) < 500;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion, hasTouch: isPhone, isMobile: isPhone, deviceScaleFactor: isPhone ? 2 : 1 });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(`error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    // The tests read the colours of canvases, which browsers advise against.
    if (["error", "warning"].includes(message.type()) && !message.text().includes("willReadFrequently")) {
      problems.push(`${message.type()}: ${message.text()}`);
    }
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(server.address)) {
      problems.push(`a request to ${request.url()}`);
    }
  });
  if (process.env.DRAFT === "1") {
    await page.route((url) => url.pathname in NAMES, async (route) => {
      const name = NAMES[new URL(route.request().url()).pathname];
      const body = await readFile(new URL(name, ASSETS));
      await route.fulfill({ body, contentType: TYPES[name.split(".").at(-1)] });
    });
  }
  await page.goto(server.address + path);
  return { page, problems, close: () => context.close() };
}
