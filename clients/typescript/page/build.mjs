// Makes the page's assets of its sources: `npm run page`. With `--check` it only says whether those in the repository are what
// the sources give. The server has them in its program, so that nobody needs npm to run one.

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { build, transform } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ASSETS = "../../../src/server/page/";
const options = { target: ["chrome112", "firefox121", "safari16.4"], minify: true, charset: "utf8", legalComments: "none" };

const bundled = async (name, format) => (await build({ ...options, entryPoints: [here(name)], bundle: true, format, platform: "browser", write: false })).outputFiles[0].text;
const css = await transform(await readFile(here("page.css"), "utf8"), { ...options, loader: "css" });
const assets = {
  "index.html": await readFile(here("index.html"), "utf8"),
  "icon.svg": await readFile(here("icon.svg"), "utf8"),
  "page.css": css.code,
  "page.js": await bundled("main.ts", "esm"),
  "document.js": await bundled("document.ts", "iife"), // not a module: it runs before the first paint
};

const isCheck = process.argv.includes("--check");
let stale = 0;
for (const [name, made] of Object.entries(assets)) {
  const path = here(ASSETS + name);
  if (!isCheck) {
    await writeFile(path, made);
    console.log(`${name}: ${made.length} bytes`);
  } else if ((await readFile(path, "utf8").catch(() => undefined)) !== made) {
    console.error(`src/server/page/${name} is not what clients/typescript/page gives; run: make page`);
    stale = 1;
  }
}
process.exitCode = stale;
