// Two controllers on the same pieces, for the first screen. They need no session: the page deals the pieces, and a call for each
// position returns the controller's choice.

import { type Placements, tensor } from "../src/index.js";
import type { App } from "./app.js";
import { Board } from "./board.js";
import { button, grouped, h, sleep } from "./dom.js";
import { Field } from "./field.js";
import { type Chosen, chosenOf, rulesOf } from "./rules.js";
import { lifted } from "./tetromino.js";
import { cellsOf, judgementOf } from "./weighing.js";

/** Rows above the playfield: an upright I needs four. */
const ABOVE = 4;
/** Milliseconds between two pieces, and until the next attempt if the server does not answer. */
const [PACE, PATIENCE] = [350, 2000];

class Player {
  readonly board: Board;
  readonly lines = h("output", {}, "0");
  private readonly unit = h("span", {}, "lines");
  readonly element: HTMLElement;
  field: Field;
  rows: Uint16Array | Uint32Array;
  cleared = 0;

  constructor(private readonly app: App, readonly name: string, private readonly chosen: Chosen) {
    this.board = new Board(ABOVE, `Playfield of ${name}`);
    this.field = new Field(chosen.width, chosen.height);
    this.rows = new Uint16Array(chosen.height);
    this.element = h("figure", { class: "player" }, this.board.surface.canvas, h("figcaption", {}, h("strong", {}, name), h("span", {}, this.lines, " ", this.unit)));
    this.show();
  }

  /** Begins a game. */
  begin(): void {
    const { width, height } = this.chosen;
    [this.field, this.rows, this.cleared] = [new Field(width, height), new Uint16Array(height), 0];
  }

  /** Asks for the placements of a piece and the controller's choice. */
  ask(kind: number): Promise<Placements> {
    const { app, chosen, name, rows } = this;
    const packed = { boards: tensor(rows, [1, chosen.height]), pieces: tensor(Uint8Array.of(kind)) };
    return app.client.enumeratePlacements({ rules: rulesOf(app, chosen), packed }, { policy: name, includeCells: true, includeAfterstates: true });
  }

  /** Places the piece as the controller chooses; false if that ends the game. */
  place(placements: Placements, kind: number): boolean {
    const { width, height } = this.chosen;
    const { best } = judgementOf(placements);
    const cells = cellsOf(placements, best);
    this.board.show({ width, height, cells: this.field.cells.slice(), last: this.field.last, ghost: cells, piece: { kind, cells: lifted(cells, height) } });
    if (placements.terminated[best] === 1) {
      return false;
    }
    const { afterstates, lines } = placements;
    this.field.land(kind, cells, true);
    this.rows = (afterstates as Uint16Array).slice(best * height, (best + 1) * height);
    this.cleared += lines[best]!;
    this.lines.textContent = grouped(this.cleared);
    this.unit.textContent = this.cleared === 1 ? "line" : "lines";
    this.board.surface.label = `Playfield of ${this.name}: ${grouped(this.cleared)} lines`;
    return true;
  }

  private show(): void {
    const { width, height } = this.chosen;
    this.board.show({ width, height, cells: this.field.cells });
  }
}

/** The two games. */
export class Demo {
  readonly element: HTMLElement;
  private readonly chosen: Chosen;
  private readonly players: readonly Player[];
  private readonly pause = button("Pause", () => this.toggle(), "quiet");
  private isRunning = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  private isShown = false;
  /** Whether the loop runs. */
  private isBusy = false;
  private bag: number[] = [];

  constructor(private readonly app: App, names: readonly [string, string]) {
    this.chosen = { ...chosenOf(app.catalog.rulesPresets[0]!), width: 10, height: 20, preview: 0 };
    this.players = names.map((name) => new Player(app, name, this.chosen));
    this.element = h("div", { class: "demo" }, ...this.players.map(({ element }) => element), this.pause);
    this.pause.textContent = this.isRunning ? "Pause" : "Go on";
  }

  enter(): void {
    this.isShown = true;
    void this.play();
  }

  leave(): void {
    this.isShown = false;
  }

  private toggle(): void {
    this.isRunning = !this.isRunning;
    this.pause.textContent = this.isRunning ? "Pause" : "Go on";
    void this.play();
  }

  private async play(): Promise<void> {
    const mayPlay = () => this.isShown && this.isRunning;
    if (this.isBusy) {
      return;
    }
    this.isBusy = true;
    while (mayPlay()) {
      if (document.hidden) {
        await sleep(500);
        continue;
      }
      const began = performance.now();
      try {
        await this.piece();
        this.app.notice(undefined);
      } catch (problem) {
        this.app.notice(problem);
        await sleep(PATIENCE);
      }
      await sleep(Math.max(0, PACE - (performance.now() - began)));
    }
    this.isBusy = false;
  }

  /** Places the next piece in both games. */
  private async piece(): Promise<void> {
    if (this.bag.length === 0) {
      this.bag = [0, 1, 2, 3, 4, 5, 6].map((kind) => [Math.random(), kind] as const).sort(([one], [other]) => one - other).map(([, kind]) => kind);
    }
    const kind = this.bag.at(-1)!;
    // If a call fails, neither player has placed the piece.
    const answers = await Promise.all(this.players.map((player) => player.ask(kind)));
    this.bag.pop();
    const goOn = this.players.map((player, at) => player.place(answers[at]!, kind));
    if (goOn.includes(false)) {
      this.players.forEach((player) => player.begin());
    }
  }
}
