// The view "Server": facts about this server, and how programs call it.

import { type App, type View, controllersOf } from "./app.js";
import { grouped, h, scroll } from "./dom.js";
import { sizeInWords } from "./rules.js";
import { Snippets } from "./snippets.js";

/** Documents about what the page shows. */
const DOCUMENTS = [
  ["docs/README.md", "all documents"],
  ["docs/watching.md", "this page: views, keys, charts, and what it may do; games in a terminal, recordings"],
  ["docs/concepts.md", "the words, the rules of the game, and how seeds become pieces"],
  ["docs/catalog.md", "every preset, field of the rules, agent, controller and feature"],
  ["docs/formulas.md", "formulas as players"],
  ["docs/results.md", "how well each kind of player plays, and at what cost"],
  ["docs/rules.md", "modern Tetris: guideline rules, keys, lines sent"],
  ["docs/training.md", "training and comparing controllers"],
  ["clients/python/README.md", "the Python client: environments, evaluations, training"],
] as const;

/** The view. */
export class About implements View {
  readonly root = h("div", { class: "view about" });

  constructor(app: App) {
    const { info, catalog } = app;
    const facts = (rows: readonly (readonly [string, string])[]) =>
      h("dl", { class: "pairs" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    const limits = info.limits!.sessions!;
    const presets = catalog.rulesPresets.map(({ name, rules, source }) =>
      h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "text size" }, rules && sizeInWords(rules)), h("td", { class: "text" }, source)));
    const controllers = controllersOf(catalog).map(({ name, featureSet, source }) =>
      h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "text" }, featureSet), h("td", { class: "text" }, source)));
    const table = (name: string, heads: string[], rows: HTMLElement[]) =>
      scroll(name, h("table", { class: "prose" }, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows)));
    const documents = DOCUMENTS.map(([name, what]) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: `/${name.replace(".md", ".html")}` }, h("code", {}, name))), h("td", { class: "text" }, what)));
    this.root.append(
      h("h1", {}, "This server"),
      h("p", { class: "lead" }, "A Tetris environment server for reinforcement learning, with a gRPC API."),
      h("div", { class: "columns even" },
        h("section", { class: "card" }, h("h2", {}, "What it is"), facts([
          ["Version", info.serverVersion],
          ["Rules", info.rulesVersion],
          ["Kernel", info.kernel],
          ["Threads that play", String(info.numThreads)],
          ["Sessions at one time", grouped(limits.maxSessions)],
          ["Environments at one time", grouped(limits.maxEnvs)],
        ])),
        h("section", { class: "card" }, h("h2", {}, "How programs call it"),
          new Snippets(app).element,
          h("p", {}, "This port speaks gRPC, gRPC-Web and, for this page and ", h("a", { href: "/metrics" }, "the metrics"), ", plain HTTP."))),
      h("section", { class: "card" }, h("h2", {}, "Rules"), table("Rules", ["preset", "size", "source"], presets)),
      h("section", { class: "card" }, h("h2", {}, "Controllers"), table("Controllers", ["name", "features", "source"], controllers)),
      h("section", { class: "card" }, h("h2", {}, "Documents"), table("Documents", ["file", "what it explains"], documents)));
  }

  enter(): void {}

  leave(): void {}
}
