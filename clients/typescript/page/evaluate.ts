// The view "Evaluate": many games of several controllers and formulas on the same seeds, played by the server, with live results.

import { type Policy, TetrionError, elementsOf } from "../src/index.js";
import { ClearPoints, DataType, EpisodeEnd, type EvaluationResults, type EvaluationSummary } from "../src/protocol.js";
import { type Choices, type Reader, seedOf, writeAddress } from "./address.js";
import type { App, View } from "./app.js";
import { type Point, type Series, LineChart, StripChart, csvOf } from "./charts.js";
import { SeedField, button, field, grouped, h, options, save, scroll, select, short } from "./dom.js";
import { EXAMPLE, formulaField, languageOf, refuseFormula } from "./formulas.js";
import { type Chosen, type Measure, allowsMatches, choicesOf, chosenOf, fullRulesOf, measuresOf, rulesOf } from "./rules.js";
import { RulesForm } from "./rules_form.js";
import { Sample } from "./statistics.js";
import { type Lasting, survivalOf } from "./survival.js";
import { playerOf, policyOfWeights } from "./weighing.js";

/** Choices for the number of games, and for the number of pieces after which games are cut. */
const [GAMES, LIMITS] = [[50, 200, 1000, 5000], [500, 10_000, 100_000, 1_000_000]] as const;
/** Maximum number of contestants. */
const MOST = 6;
/** Number of points per line of the second chart. */
const POINTS = 120;
/** Start of a player that is a formula; its text follows. */
const FORMULA = "formula:";

/** Elements of a row that can have the keyboard focus. */
const FOCUSED = "select, textarea, button";

/** A finished game. */
interface Game {
  /** Index of its seed: games of different players with the same index have the same pieces. */
  readonly game: number;
  readonly seed: bigint;
  readonly lines: bigint;
  readonly pieces: bigint;
  readonly steps: bigint;
  readonly score: number;
  readonly end: EpisodeEnd;
}

interface Contestant {
  /** Name of a controller, `edited:A`, or `formula:` and its text. */
  player: string;
  /** The counted quantity of each game. */
  sample: Sample;
  /** The games, in the order of the sample. */
  games: Game[];
  cut: number;
  /** Mean after some of the games. */
  course: Point[];
}

/** The choices of the shown results. */
interface Played {
  readonly chosen: Chosen;
  readonly seed: bigint;
  readonly maxPieces: bigint;
}

/** The view. */
export class Evaluate implements View {
  readonly root = h("div", { class: "view evaluate" });
  private readonly form: RulesForm;
  private readonly list = h("div", { class: "contestants" });
  private readonly games: HTMLSelectElement;
  private readonly limit: HTMLSelectElement;
  private readonly seed: SeedField;
  private readonly start = button("Evaluate", () => (this.stop === undefined ? void this.run() : this.stop.abort()), "primary");
  private readonly strips = new StripChart("Distribution of the games of each controller", (contestant, game) => this.open(contestant, game));
  private readonly means = new LineChart("Means with their 95 % intervals, as games finish", { file: "tetrion-means", mayBreak: true });
  private readonly lasting = new LineChart("Share of the games that are still going", { file: "tetrion-survival", log: true });
  private readonly counted = h("div");
  private readonly title = h("h2", {}, "Lines per game");
  /** The quantity that the user wants to count. */
  private wanted: Measure = "lines";
  /** Offered quantities. */
  private offered: readonly Measure[] = [];
  /** Quantity of the shown results. */
  private shownMeasure: Measure = "lines";
  private readonly table = scroll("Numbers of the games");
  private readonly empty = h("section", { class: "card wide empty" },
    h("h2", {}, "No games yet"),
    h("p", {}, "Press ", h("strong", {}, "Evaluate"), ": every controller plays the same games. Results appear here as games finish: a bar per game, means with 95 % intervals, and differences between controllers."),
    h("p", { class: "remark" }, "Choose rules, size and seed above. Formulas, and controllers with weights that you changed in the race, can take part too."));
  private readonly found = h("div", { class: "results" });
  private readonly spread: HTMLElement;
  private readonly progress = h("progress", { max: 1, value: 0, "aria-label": "Games played" });
  private readonly remark = h("p", { class: "remark", "aria-live": "polite" });
  private readonly alone = h("p", { class: "source" }, "Everyone plays alone, with garbage dealt at random. They play each other in the race, and in ", h("code", {}, "tetrion match"), ", which says who is stronger.");
  /** What formulas are made of. */
  private readonly language: HTMLElement;
  private contestants: Contestant[] = [];
  private played: Played | undefined;
  private summary: EvaluationSummary | undefined;
  private stop: AbortController | undefined;
  private shown = false;

  constructor(private readonly app: App, address: Reader) {
    this.form = new RulesForm(app, { ...chosenOf(app.catalog.rulesPresets[0]!), height: 10 }, address, () => this.chose());
    this.games = select(GAMES.map((number) => [String(number), grouped(number)] as const), address.oneOf("games", GAMES.map(String)) ?? "200", () => this.app.changed());
    this.limit = select(LIMITS.map((number) => [String(number), `${number === 1e6 ? "a million" : grouped(number)} pieces`] as const), address.oneOf("pieces", LIMITS.map(String)) ?? "100000", () => this.app.changed());
    this.seed = new SeedField(address.parsed("seed", seedOf) ?? 1n, () => this.app.changed());
    this.wanted = (address.oneOf("count", this.measures) ?? "lines") as Measure;
    this.shownMeasure = this.measure;
    const known = app.controllers(this.form.chosen.width).map(({ name }) => name);
    const wanted = ["dellacherie", "bcts", "el-tetris"].filter((name) => known.includes(name));
    const given = address.parsed("controllers", (text) => {
      const names = text.split(",");
      const other = names.find((name) => !known.includes(name));
      if (other !== undefined || names.length > MOST) {
        throw new RangeError(`up to ${MOST} of ${known.join(", ")}`);
      }
      return names;
    });
    const formulas = address.parsed("formulas", (text) => formulasOf(text, MOST - (given?.length ?? 0)));
    this.contestants = [...(given ?? (formulas !== undefined ? [] : wanted.length >= 2 ? wanted : known.slice(0, 2))), ...(formulas ?? []).map((text) => FORMULA + text)].map(fresh);
    this.language = languageOf(app.catalog);
    this.spread = h("section", { class: "card wide" }, this.title, this.strips.surface.canvas, h("p", { class: "source" }, "A click on a bar replays one of its games. Below the bars is the mean with its 95 % interval."));
    this.found.append(
      h("section", { class: "card" }, h("h2", {}, "Mean as games finish"), this.means.tools, this.means.surface.canvas),
      h("section", { class: "card" }, h("h2", {}, "Games still going"), this.lasting.tools, this.lasting.surface.canvas, h("p", { class: "source" }, "On a logarithmic axis a straight line is a constant risk per piece.")),
      h("section", { class: "card" },
        h("h2", {}, "Numbers"),
        this.table,
        h("div", { class: "row" }, button("Save games as CSV", () => save("tetrion-games.csv", "text/csv", this.csv()), "quiet"), button("Save summary as JSON", () => save("tetrion-evaluation.json", "application/json", this.json()), "quiet"))));
    this.root.append(
      h("h1", { class: "only-read" }, "Evaluate controllers"),
      h("div", { class: "toolbar" },
        h("div", { class: "buttons" }, this.start),
        options(
          field("Games each", this.games),
          field("Cut after", this.limit, "A good controller may never lose. Its games are cut, and its mean is a lower bound"),
          this.form.element,
          this.counted,
          this.seed.element)),
      h("div", { class: "columns" },
        h("section", { class: "card" }, h("h2", {}, "Controllers"), this.list, this.alone, this.progress, this.remark),
        this.spread,
        this.empty),
      this.found);
  }

  choices(): Choices {
    const { games, limit } = this;
    // Changed weights belong to another view.
    const names = this.contestants.map(({ player }) => player).filter((player) => !player.startsWith("edited:") && !player.startsWith(FORMULA));
    const formulas = this.contestants.flatMap(({ player }) => formulaOf(player) ?? []);
    const measure = this.measure === "lines" ? {} : { count: this.measure };
    return { ...choicesOf(this.app, this.form.chosen), seed: String(this.seed.value), games: games.value, pieces: limit.value, ...measure, ...(names.length > 0 && { controllers: String(names) }), ...(formulas.length > 0 && { formulas: JSON.stringify(formulas) }) };
  }

  /** Takes a new choice. */
  private chose(): void {
    this.draw();
    this.app.changed();
  }

  enter(): void {
    this.shown = true;
    this.draw();
    void this.form.settle();
  }

  leave(): void {
    this.shown = false;
    this.app.notice(undefined);
  }

  /** Quantities of the chosen rules. */
  private get measures(): Measure[] {
    return measuresOf(fullRulesOf(this.app, this.form.chosen));
  }

  /** The counted quantity: the wanted one, or lines if the rules do not have it. */
  private get measure(): Measure {
    return this.measures.includes(this.wanted) ? this.wanted : "lines";
  }

  /** Offers the quantities, if there are more than lines. */
  private offer(): void {
    const { measures } = this;
    this.alone.hidden = !allowsMatches(fullRulesOf(this.app, this.form.chosen));
    this.counted.hidden = measures.length === 1;
    // An unchanged list keeps the keyboard focus.
    if (String(measures) === String(this.offered)) {
      return;
    }
    this.offered = measures;
    const choice = select(measures.map((measure) => [measure, measure] as const), this.measure, (measure) => {
      this.wanted = measure as Measure;
      // Results of another quantity are no longer valid.
      this.contestants = this.contestants.map(({ player }) => fresh(player));
      this.shownMeasure = this.measure;
      this.chose();
    });
    this.counted.replaceChildren(field("Count", choice, "The count does not change how controllers play"));
  }

  /** Values and labels of all possible players, including controllers with weights that were changed in the race. */
  private players(): (readonly [string, string])[] {
    const { width, preview } = this.form.chosen;
    const titled = (name: string) => (this.app.lacksPreview(name, preview) ? `${name} (greedy)` : name);
    const edited = [...this.app.edited].filter(([, weighing]) => this.app.controllers(width).some(({ name }) => name === weighing.name));
    return [
      ...this.app.controllers(width).map(({ name }) => [name, titled(name)] as const),
      ...edited.map(([side, { name }]) => [`edited:${side}`, `${titled(name)}, weights of ${side}`] as const),
    ];
  }

  /** Name of a contestant in charts and tables: a formula has the number of its row. */
  private name({ player }: Contestant, at: number): string {
    return formulaOf(player) !== undefined ? `formula ${at + 1}` : (this.players().find(([value]) => value === player)?.[1] ?? player);
  }

  private draw(): void {
    const players = this.players();
    this.offer();
    for (const contestant of this.contestants) {
      if (formulaOf(contestant.player) === undefined && !players.some(([value]) => value === contestant.player)) {
        Object.assign(contestant, fresh(players[0]![0]));
      }
    }
    const running = this.stop !== undefined;
    const add = (player: string) => {
      this.contestants = [...this.contestants, fresh(player)];
      this.chose();
    };
    this.counted.querySelector("select")!.disabled = running;
    const focused = [...this.list.querySelectorAll(FOCUSED)].indexOf(document.activeElement!);
    this.list.replaceChildren(
      ...this.contestants.map((contestant, at) => {
        const text = formulaOf(contestant.player);
        const choice = text === undefined ? this.controllerOf(contestant, players) : this.textOf(contestant, text);
        choice.disabled = running;
        choice.ariaLabel = text === undefined ? `Controller ${at + 1}` : `Formula ${at + 1}`;
        const away = button("×", () => {
          this.contestants = this.contestants.filter((other) => other !== contestant);
          this.chose();
        }, "quiet");
        away.ariaLabel = `Leave out ${this.name(contestant, at)}`;
        away.disabled = running || this.contestants.length === 1;
        return h("div", { class: "field contestant" }, h("div", { class: "row" }, h("span", { class: `swatch series-${at + 1}` }), choice, away));
      }),
      ...(this.contestants.length >= MOST ? [] : [h("div", { class: "row" }, ...[
        button("Add a controller", () => add((players.find(([value]) => !this.contestants.some(({ player }) => player === value)) ?? players[0]!)[0]), "quiet"),
        button("Add a formula", () => add(FORMULA + EXAMPLE), "quiet"),
      ].map((more) => Object.assign(more, { disabled: running })))]),
      this.language,
    );
    this.language.hidden = this.contestants.every(({ player }) => formulaOf(player) === undefined);
    this.list.querySelectorAll<HTMLElement>(FOCUSED)[focused]?.focus();
    this.start.textContent = running ? "Stop" : "Evaluate";
    this.results();
  }

  private controllerOf(contestant: Contestant, players: readonly (readonly [string, string])[]): HTMLSelectElement {
    return select(players, contestant.player, (player) => {
      Object.assign(contestant, fresh(player));
      this.chose();
    });
  }

  private textOf(contestant: Contestant, text: string): HTMLTextAreaElement {
    // The rows stay: a click on one of their buttons is what changes a text, and must find its button.
    return formulaField(this.app.info, text, (changed) => {
      Object.assign(contestant, fresh(FORMULA + changed));
      this.results();
      this.app.changed();
    });
  }

  /** Draws the charts and the table. */
  private results(): void {
    const named = this.contestants.map((contestant, at) => ({ ...contestant, name: this.name(contestant, at), ink: `--series-${at + 1}` }));
    const measure = this.shownMeasure;
    const isEmpty = this.stop === undefined && named.every(({ sample }) => sample.count === 0);
    this.empty.hidden = !isEmpty;
    this.progress.hidden = isEmpty;
    this.spread.hidden = this.found.hidden = isEmpty;
    this.title.textContent = `${measure.charAt(0).toUpperCase()}${measure.slice(1)} per game`;
    this.strips.show(named.map(({ name, ink, sample }) => ({ name, ink, values: sample.values, mean: sample.mean, halfWidth: sample.halfWidth })), `${measure} per game`);
    this.means.show(named.map(({ name, ink, course }): Series => ({ name, ink, points: course })), { across: "games", up: `mean ${measure}` });
    this.lasting.show(named.map(({ name, ink, games }): Series => ({ name, ink, points: games.length === 0 ? [] : survivalOf(games.map(lastingOf)) })), { across: "pieces", up: "share still going" });
    const head = ["controller", "games", `mean ${measure}`, "± 95 %", "least", "median", "most", "cut"];
    const rows = named.map(({ name, sample, cut }, at) => {
      const sorted = sample.values.map((value, game) => [value, game] as const).sort(([one], [other]) => one - other);
      // Links to games; the median of an even number of games lies between two of them.
      const game = (index: number, text: string) => h("a", { href: this.gameAt(at, sorted[index]![1]), title: `Open this game of ${name}` }, text);
      const cells = sample.count === 0 ? Array(7).fill("–") : [
        grouped(sample.count), short(sample.mean), short(sample.halfWidth),
        game(0, short(sorted[0]![0])), game(sorted.length >> 1, short(sample.median)), game(sorted.length - 1, short(sorted.at(-1)![0])), grouped(cut)];
      return h("tr", {}, h("th", { scope: "row" }, h("span", { class: `swatch series-${at + 1}` }), name), ...cells.map((cell: string | Node) => h("td", {}, cell)));
    });
    this.table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...rows)));
    const spoken = named.filter(({ sample }) => sample.count > 0).map(({ name, sample }) => `${name}: mean ${short(sample.mean)}, plus or minus ${short(sample.halfWidth)}, over ${sample.count} games`);
    this.strips.surface.label = this.means.surface.label = this.lasting.surface.label = spoken.length > 0 ? spoken.join("; ") : "No games yet";
    const differences = this.summary?.pairedDifferences ?? [];
    if (differences.length > 0) {
      const words = differences.map(({ policyIndex, baselineIndex, lines, score }) => {
        const difference = measure === "lines" ? lines : score;
        const [low, high] = [difference?.ci95Low ?? NaN, difference?.ci95High ?? NaN];
        const sure = low > 0 ? "better" : high < 0 ? "worse" : "not told apart";
        return h("li", {}, `${named[policyIndex]?.name} − ${named[baselineIndex]?.name}: ${short(difference?.mean ?? NaN)} ${measure} per game, ${short(low)} to ${short(high)}: ${sure}`);
      });
      this.table.append(h("h3", {}, "Differences on the same pieces, with their 95 % intervals"), h("ul", {}, ...words));
    }
  }

  /** Address of a replay of a game of a contestant. */
  private gameAt(contestant: number, game: number): string {
    const { player, games } = this.contestants[contestant]!;
    const edited = this.app.edited.get(player.replace("edited:", ""));
    const played = player.startsWith("edited:") && edited !== undefined ? { name: edited.name, formula: undefined, weights: edited.weights } : { name: player, formula: formulaOf(player), weights: undefined };
    return writeAddress("replay", { ...choicesOf(this.app, this.played!.chosen), seed: String(games[game]!.seed), ...playerOf(played, "player", "") });
  }

  private open(contestant: number, game: number): void {
    location.hash = this.gameAt(contestant, game);
  }

  /** The games as CSV, with the columns of `tetrion evaluate --games-csv`. */
  private csv(): string {
    const rows = this.contestants.flatMap((contestant, at) => [...contestant.games].sort((one, other) => one.game - other.game)
      .map(({ game, seed, lines, pieces, steps, score, end }) => [this.name(contestant, at), game, seed, lines, pieces, steps, score, EpisodeEnd[end]!.toLowerCase()]));
    return csvOf(["name", "game", "seed", "lines", "pieces", "steps", "score", "end"], rows);
  }

  /** The choices and the summary as JSON. */
  private json(): string {
    const { chosen, seed, maxPieces } = this.played!;
    const measure = this.shownMeasure;
    const players = this.contestants.map((contestant, at) => {
      const { player, sample, cut } = contestant;
      const formula = formulaOf(player);
      const edited = player.startsWith("edited:") ? this.app.edited.get(player.replace("edited:", "")) : undefined;
      return {
        name: this.name(contestant, at), ...(formula !== undefined && { formula }), ...(edited !== undefined && { features: edited.columns, weights: edited.weights }),
        games: sample.count, mean: sample.mean, ci95: [sample.mean - sample.halfWidth, sample.mean + sample.halfWidth], median: sample.median, cut,
      };
    });
    const differences = (this.summary?.pairedDifferences ?? []).map(({ policyIndex, baselineIndex, lines, score }) => {
      const { mean, ci95Low, ci95High } = (measure === "lines" ? lines : score) ?? {};
      return { name: players[policyIndex]?.name, baseline: players[baselineIndex]?.name, mean, ci95: [ci95Low, ci95High] };
    });
    const { serverVersion, rulesVersion } = this.app.info;
    // Seeds are texts: JavaScript and others round large numbers.
    const all = { measure, server_version: serverVersion, rules_version: rulesVersion, rules: choicesOf(this.app, chosen), seed: String(seed), max_pieces: Number(maxPieces), players, differences };
    return `${JSON.stringify(all, null, 2)}\n`;
  }

  private policy({ player }: Contestant): Policy {
    const formula = formulaOf(player);
    if (formula !== undefined) {
      return { formula };
    }
    const edited = this.app.edited.get(player.replace("edited:", ""));
    const { preview } = this.form.chosen;
    return player.startsWith("edited:") && edited !== undefined ? { label: player, ...policyOfWeights(edited, preview) } : this.app.policy(player, preview);
  }

  private async run(): Promise<void> {
    const stop = (this.stop = new AbortController());
    this.contestants = this.contestants.map(({ player }) => fresh(player));
    this.remark.textContent = "Short games finish first, so the means are too low until all games are done.";
    this.progress.value = 0;
    const measure = (this.shownMeasure = this.measure);
    this.draw();
    await this.form.settle();
    const seed = this.seed.value;
    const maxPieces = BigInt(this.limit.value);
    [this.played, this.summary] = [{ chosen: this.form.chosen, seed, maxPieces }, undefined];
    const evaluation = {
      rules: { ...rulesOf(this.app, this.form.chosen), ...(measure === "lines sent" && { clearPoints: ClearPoints.ATTACK }) },
      policies: this.contestants.map((contestant) => this.policy(contestant)),
      seeds: { seed, count: Number(this.games.value) },
      maxPieces,
      progressInterval: 0.2,
      signal: stop.signal,
    };
    const every = Math.max(1, Math.round(Number(this.games.value) / POINTS));
    let refused: unknown;
    let drawn = 0;
    const began = performance.now();
    try {
      for await (const event of this.app.client.evaluate(evaluation)) {
        if (event.case === "results") {
          gamesOf(event.value).forEach(({ policy, ...game }) => this.contestants[policy] && take(this.contestants[policy]!, game, measure, every));
        } else if (event.case === "progress") {
          this.progress.value = Number(event.value.gamesDone) / Math.max(1, Number(event.value.numGames));
        } else if (event.case === "summary") {
          this.summary = event.value;
        }
        if (performance.now() - drawn > 80) {
          this.results();
          drawn = performance.now();
          await new Promise((resolve) => (document.hidden || !this.shown ? resolve(undefined) : requestAnimationFrame(resolve)));
        }
      }
      this.progress.value = 1;
      const games = this.contestants.reduce((sum, { sample }) => sum + sample.count, 0);
      this.remark.textContent = `${grouped(games)} games in ${short((performance.now() - began) / 1000)} s.${this.contestants.some(({ cut }) => cut > 0) ? " Means over cut games are lower bounds." : ""}`;
    } catch (problem) {
      if (stop.signal.aborted) {
        this.remark.textContent = "Stopped. The means cover the finished games only, which are the shorter ones.";
      } else {
        this.remark.textContent = "";
        refused = problem;
      }
    }
    this.stop = undefined;
    this.draw();
    this.app.notice(refused !== undefined && this.explains(refused) ? undefined : refused);
  }

  /** Shows why the server refuses a formula below that formula; returns whether this was the problem. */
  private explains(problem: unknown): boolean {
    const [, at = ""] = (problem instanceof TetrionError && /^policies\[(\d+)\]\.formula/.exec(problem.field)) || [];
    const control = this.list.querySelectorAll(".contestant")[at === "" ? -1 : Number(at)]?.querySelector("textarea");
    if (!control) {
      return false;
    }
    refuseFormula(control, problem as TetrionError);
    control.focus();
    return true;
  }
}

/** The text of a player that is a formula. */
function formulaOf(player: string): string | undefined {
  return player.startsWith(FORMULA) ? player.slice(FORMULA.length) : undefined;
}

/** Parses the formulas of an address: a JSON list of texts. Throws a `RangeError` with the expected form. */
function formulasOf(text: string, most: number): string[] {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    given = undefined;
  }
  if (!Array.isArray(given) || given.length > most || !given.every((each) => typeof each === "string")) {
    throw new RangeError(`a JSON list of up to ${most} formulas, such as ["-holes"]`);
  }
  return given as string[];
}

function fresh(player: string): Contestant {
  return { player, sample: new Sample(), games: [], cut: 0, course: [] };
}

/** The finished games of an event, with the indices of their players. */
function gamesOf(results: EvaluationResults): (Game & { readonly policy: number })[] {
  const [policies, games] = [elementsOf(results.policyIndices, DataType.INT32), elementsOf(results.seedIndices, DataType.INT32)];
  const seeds = elementsOf(results.seeds, DataType.UINT64);
  const [lines, pieces, steps] = [elementsOf(results.lines, DataType.INT64), elementsOf(results.pieces, DataType.INT64), elementsOf(results.steps, DataType.INT64)];
  const [scores, ends] = [elementsOf(results.scores, DataType.FLOAT64), elementsOf(results.ends, DataType.UINT8)];
  return Array.from(policies, (policy, at) => ({
    policy, game: games[at]!, seed: BigInt(seeds[at]!), lines: BigInt(lines[at]!), pieces: BigInt(pieces[at]!), steps: BigInt(steps[at]!), score: scores[at]!, end: ends[at]!,
  }));
}

function lastingOf({ pieces, end }: Game): Lasting {
  return { pieces: Number(pieces), isCut: end !== EpisodeEnd.TOPPED_OUT };
}

function take(contestant: Contestant, game: Game, measure: Measure, every: number): void {
  const { sample, games, course } = contestant;
  sample.add(measure === "lines" ? Number(game.lines) : game.score);
  games.push(game);
  contestant.cut += lastingOf(game).isCut ? 1 : 0;
  if (sample.count % every === 0 || sample.count <= 2) {
    const { mean, halfWidth } = sample;
    // No game has fewer than 0 lines, so no mean has either.
    const low = measure === "points" ? mean - halfWidth : Math.max(0, mean - halfWidth);
    course.push({ x: sample.count, y: mean, low, high: mean + halfWidth });
  }
}
