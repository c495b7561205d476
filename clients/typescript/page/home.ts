// The first screen: a description, links to the views, lines that connect a program, and two programs at play.

import type { App, View } from "./app.js";
import { Demo } from "./demo.js";
import { h } from "./dom.js";
import { Snippets } from "./snippets.js";

/** Controllers of the demo. Others replace them if the server does not have them. */
const PLAYERS = ["dellacherie", "bcts"] as const;

/** The view. */
export class Home implements View {
  readonly root = h("div", { class: "view home" });
  private readonly demo: Demo;

  constructor(app: App) {
    const known = app.controllers(10).map(({ name }) => name).filter((name) => app.expectation(name) === undefined);
    const [first, second] = PLAYERS.map((name, at) => (known.includes(name) ? name : known[at] ?? known[0]!));
    this.demo = new Demo(app, [first!, second!]);
    const entry = (address: string, name: string, text: string) => h("a", { class: "card entry", href: address }, h("strong", {}, name), h("span", {}, text));
    const connect = h("section", { class: "card connect", id: "connect" }, h("h2", {}, "Connect your agent"), new Snippets(app).element);
    const jump = entry("#server", "Connect your agent", "A few lines of Python, or a terminal.");
    jump.addEventListener("click", (event) => {
      event.preventDefault();
      event.stopPropagation();
      connect.scrollIntoView({ block: "nearest" });
      connect.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus({ preventScroll: true });
    });
    this.root.append(
      h("div", { class: "hero" },
        h("div", { class: "words" },
          h("h1", {}, "Tetrion is a Tetris environment server for reinforcement learning."),
          h("div", { class: "entries" },
            entry("#race", "Watch two programs", "On the same pieces, with the reasons for every placement."),
            entry("#play", "Play", "The game people know, against a program if you like."),
            jump),
          connect),
        this.demo.element));
  }

  enter(): void {
    this.demo.enter();
  }

  leave(): void {
    this.demo.leave();
  }
}
