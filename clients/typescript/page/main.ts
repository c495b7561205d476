// The page: which view is shown, which server it calls, what a person has chosen for all of it.
//
// Addresses hold the name of a view and nothing else. A token is asked for when the server wants one, and kept for this tab.

import { TetrionError, connect } from "../src/index.js";
import { grpcWeb } from "../src/web.js";
import { App, type View, inWords } from "./app.js";
import { button, h, sleep } from "./dom.js";
import { Evaluate } from "./evaluate.js";
import { Play } from "./play.js";
import { Race } from "./race.js";
import { About } from "./about.js";
import { Training } from "./training.js";
import { Sessions } from "./sessions.js";
import { redrawAll } from "./surface.js";
import { type PaletteName, choosePalette, palette } from "./tetromino.js";

const VIEWS: readonly (readonly [name: string, title: string, make: (app: App) => View])[] = [
  ["race", "Race", (app) => new Race(app)],
  ["play", "Play", (app) => new Play(app)],
  ["evaluate", "Evaluate", (app) => new Evaluate(app)],
  ["sessions", "Sessions", (app) => new Sessions(app)],
  ["training", "Training", (app) => new Training(app)],
  ["server", "Server", (app) => new About(app)],
];
const TOKEN = "tetrion-token";
const THEME = "tetrion-theme";
const PALETTE = "tetrion-palette";
/** When the system has a dark theme. */
const DARK = "(prefers-color-scheme: dark)";

const notice = document.getElementById("notice")!;
const main = document.getElementById("main")!;
const made = new Map<string, View>();
let shown: View | undefined;
let app: App | undefined;

/** Says what is wrong, above everything; nothing, if nothing is. */
function say(text: string | undefined): void {
  notice.hidden = text === undefined;
  notice.textContent = text ?? "";
}

/** Storage may be forbidden; then the page forgets. */
function remember(storage: () => Storage, key: string, value?: string): string | null {
  try {
    if (value !== undefined) {
      storage().setItem(key, value);
    }
    return storage().getItem(key);
  } catch {
    return value ?? null;
  }
}

/** Connects, and asks for a token if the server wants one. Tries again while no server answers. */
async function enter(): Promise<App> {
  let token = remember(() => sessionStorage, TOKEN) ?? undefined;
  for (;;) {
    try {
      const server = connect(location.origin, { transport: grpcWeb, token });
      const credentials: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const entered = new App(server, await server.info(), credentials, say);
      if (token !== undefined) {
        remember(() => sessionStorage, TOKEN, token);
      }
      say(undefined);
      return entered;
    } catch (problem) {
      if (problem instanceof TetrionError && problem.codeName === "UNAUTHENTICATED") {
        token = await askForToken(token !== undefined);
      } else {
        say(`${inWords(problem)}. Trying again …`);
        await sleep(2000);
      }
    }
  }
}

function askForToken(again: boolean): Promise<string> {
  return new Promise((resolve) => {
    const input = h("input", { type: "password", id: "token", required: true, autocomplete: "off", maxLength: 1024 });
    const form = h("form", { method: "dialog" },
      h("h2", {}, "This server wants a token"),
      h("p", {}, again ? "It does not know that one. " : "", "The operator has given you one. It stays in this tab and is sent to this server only."),
      h("label", { for: "token" }, "Token"),
      input,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Enter")));
    const dialog = h("dialog", { "aria-label": "Token", oncancel: (event) => event.preventDefault() }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(input.value);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Shows the view that the address names. */
function route(): void {
  const wanted = location.hash.slice(1);
  const [name, title, make] = VIEWS.find(([name]) => name === wanted) ?? VIEWS[0]!;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("#views a")) {
    link.ariaCurrent = link.hash === `#${name}` ? "page" : null;
  }
  document.title = `${title} · Tetrion`;
  if (app === undefined) {
    return;
  }
  let view = made.get(name);
  if (view === undefined) {
    view = make(app);
    made.set(name, view);
  }
  if (view !== shown) {
    shown?.leave();
    shown = view;
    main.replaceChildren(view.root);
    view.enter();
  }
}

/** Light, dark, or as the system has it; the usual colours of the pieces, or some that everybody can tell apart. */
function tools(): void {
  const themes = ["auto", "light", "dark"];
  // The rule of the style sheet that has the dark colours.
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
  const dark = rules.find((rule) => rule instanceof CSSMediaRule && rule.conditionText === DARK) as CSSMediaRule | undefined;
  let theme = remember(() => localStorage, THEME) ?? "auto";
  const themeButton = button("", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length]!;
    remember(() => localStorage, THEME, theme);
    apply();
  }, "tool");
  const colours = button("", () => {
    const other: PaletteName = palette() === "usual" ? "distinct" : "usual";
    choosePalette(other);
    remember(() => localStorage, PALETTE, other);
    apply();
  }, "tool");
  const apply = () => {
    if (!themes.includes(theme)) {
      theme = "auto";
    }
    document.documentElement.dataset["theme"] = theme;
    const holds = { auto: undefined, light: "not all", dark: "all" }[theme];
    if (dark !== undefined) {
      dark.media.mediaText = holds ?? DARK;
    }
    themeButton.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme]!;
    themeButton.title = themeButton.ariaLabel = `Theme: ${theme}`;
    const distinct = palette() === "distinct";
    colours.textContent = "◧";
    colours.ariaPressed = String(distinct);
    colours.title = colours.ariaLabel = "Colours that colour-blind people can tell apart";
    redrawAll();
  };
  if (remember(() => localStorage, PALETTE) === "distinct") {
    choosePalette("distinct");
  }
  apply();
  document.getElementById("tools")!.append(colours, themeButton);
}

document.getElementById("views")!.append(...VIEWS.map(([name, title]) => h("a", { href: `#${name}` }, title)));
tools();
addEventListener("hashchange", route);
route();
app = await enter();
route();
