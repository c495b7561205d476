// Lines to copy that connect a program to this server, with its address and a place for the token.

import type { App } from "./app.js";
import { button, copyButton, h } from "./dom.js";

/** Snippets with the names of their languages. */
export function snippets(origin: string, needsToken: boolean): readonly (readonly [name: string, text: string])[] {
  const { host, protocol } = new URL(origin);
  const address = protocol === "https:" ? origin : host;
  const token = (text: string) => (needsToken ? text : "");
  return [
    ["Python", `import gymnasium
import numpy as np
import tetrion

env = gymnasium.make("tetrion/Placement-v0", address="${address}"${token(', token="TOKEN"')})
observation, info = env.reset(seed=0)
for _ in range(1000):
    action = np.random.choice(np.flatnonzero(info["action_mask"]))
    observation, reward, terminated, truncated, info = env.step(action)
    if terminated or truncated:
        observation, info = env.reset()`],
    ["Terminal", `${token("export TETRION_TOKEN=TOKEN\n")}tetrion train --server ${address}
tetrion evaluate dellacherie --server ${address} --games 100 --max-pieces 10000`],
    ["TypeScript", `import { connect } from "tetrion";
import { grpc } from "tetrion/node";

const client = connect("${address}", { transport: grpc${token(', token: "TOKEN"')} });
const session = await client.createSession({ numEnvs: 2, seed: 1n });
const { observations } = await session.reset();
const { rewards, terminated } = await session.step([0, 1]);`],
    ["Any language", `# Server reflection is on, so no files are needed.
buf curl --protocol grpc --http2-prior-knowledge${token(" \\\n  -H 'authorization: Bearer TOKEN'")} \\
  -d '{}' ${origin}/tetrion.v1.EnvironmentService/GetServerInfo`],
  ];
}

/** The snippets as tabs. */
export class Snippets {
  readonly element: HTMLElement;

  constructor(app: App) {
    const needsToken = Object.keys(app.credentials).length > 0;
    const all = snippets(location.origin, needsToken);
    const code = h("code", {});
    const text = h("pre", { id: "snippet", tabIndex: 0, role: "tabpanel" }, code);
    const show = (at: number, tabs: readonly HTMLElement[]) => {
      code.textContent = all[at]![1];
      text.ariaLabel = all[at]![0];
      tabs.forEach((tab, other) => {
        tab.ariaSelected = String(other === at);
        tab.tabIndex = other === at ? 0 : -1;
      });
    };
    const tabs = all.map(([name], at) => {
      const tab = button(name, () => show(at, tabs), "tab");
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", "snippet");
      return tab;
    });
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Language" }, ...tabs);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        const at = (tabs.indexOf(document.activeElement as HTMLButtonElement) + step + tabs.length) % tabs.length;
        show(at, tabs);
        tabs[at]!.focus();
      }
    });
    show(0, tabs);
    this.element = h("div", { class: "snippets" },
      h("div", { class: "row" }, list, copyButton("Copy", () => code.textContent ?? "", "quiet")),
      text,
      needsToken && h("p", { class: "source" }, "This server needs a token: replace ", h("code", {}, "TOKEN"), " with yours."));
  }
}
