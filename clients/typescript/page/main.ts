// The page: it connects to the server, shows the view that the address names, and keeps the user's settings.
//
// An address has the name of a view and its choices. If the server needs a token, the page asks for one and keeps it for this tab;
// the token is never in an address.

import { TetrionError, connect } from "../src/index.js";
import { grpcWeb } from "../src/web.js";
import { Reader, readAddress, writeAddress } from "./address.js";
import { App, type View, inWords } from "./app.js";
import { button, copyButton, h, sleep } from "./dom.js";
import { Evaluate } from "./evaluate.js";
import { focusGame, handBack } from "./focus.js";
import { Home } from "./home.js";
import { remember } from "./kept.js";
import { Play } from "./play.js";
import { Race } from "./race.js";
import { Replay } from "./replay.js";
import { About } from "./about.js";
import { Training } from "./training.js";
import { Sessions } from "./sessions.js";
import { redrawAll } from "./surface.js";
import { type PaletteName, choosePalette, palette } from "./tetromino.js";
import { THEMES, chosenTheme, keepTheme, showTheme } from "./theme.js";

const VIEWS: readonly (readonly [name: string, title: string, make: (app: App, address: Reader) => View])[] = [
  ["home", "Home", (app) => new Home(app)],
  ["race", "Race", (app, address) => new Race(app, address)],
  ["play", "Play", (app, address) => new Play(app, address)],
  ["evaluate", "Evaluate", (app, address) => new Evaluate(app, address)],
  ["replay", "Replay", (app, address) => new Replay(app, address)],
  ["sessions", "Sessions", (app, address) => new Sessions(app, address)],
  ["training", "Training", (app) => new Training(app)],
  ["server", "Server", (app) => new About(app)],
];
const TOKEN = "tetrion-token";
const PALETTE = "tetrion-palette";

const notice = document.getElementById("notice")!;
const main = document.getElementById("main")!;
const made = new Map<string, View>();
let shown: View | undefined;
let app: App | undefined;
/** Problems of the address, and of the server. */
let [misread, trouble] = ["", ""];

/** Shows a problem at the top of the page, or hides it. */
function say(text: string | undefined): void {
  trouble = text ?? "";
  tell();
}

/** Adds a problem of the address. */
function sayMisread(text: string): void {
  misread = [misread, text].filter((part) => part !== "").join(" ");
  tell();
}

function tell(): void {
  notice.textContent = [misread, trouble].filter((text) => text !== "").join(" ");
  notice.hidden = notice.textContent === "";
}

/** Connects, and asks for a token if the server needs one. Tries again while no server answers. */
async function enter(): Promise<App> {
  let token = remember(() => sessionStorage, TOKEN) ?? undefined;
  for (;;) {
    try {
      const client = connect(location.origin, { transport: grpcWeb, token, patience: 0 }); // views try again themselves
      const credentials: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const entered = new App(client, await client.serverInfo(), await client.catalog(), credentials, say, writeChoices, sayMisread);
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
    // Headers carry ASCII only.
    const input = h("input", { type: "password", id: "token", required: true, autocomplete: "off", maxLength: 1024, pattern: "[ -~]+", title: "ASCII characters only" });
    const form = h("form", { method: "dialog" },
      h("h2", {}, "This server needs a token"),
      h("p", {}, again ? "It does not accept that token. " : "", "Ask the operator for one. The page keeps it in this tab and sends it to this server only."),
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

/** Shows the view that the address names, with its choices. */
function route(): void {
  const wanted = readAddress(location.hash);
  const [name, title, make] = VIEWS.find(([name]) => name === wanted.view) ?? VIEWS[0]!;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("#views a, .brand")) {
    link.ariaCurrent = link.hash === `#${name}` ? "page" : null;
  }
  document.title = name === "home" ? "Tetrion" : `${title} · Tetrion`;
  if (app === undefined) {
    return;
  }
  const problems = ["", name].includes(wanted.view) ? [] : [`The address has no view ${wanted.view.slice(0, 40)}, expected one of ${VIEWS.map(([name]) => name).join(", ")}.`];
  let view = made.get(name);
  const isOther = Object.keys(wanted.choices).length > 0 && writeAddress(name, wanted.choices) !== writeAddress(name, view?.choices?.() ?? {});
  if (view === undefined || isOther) {
    if (view !== undefined && view === shown) {
      view.leave();
      shown = undefined;
    }
    view?.close?.();
    const address = new Reader(wanted.choices);
    view = make(app, address);
    made.set(name, view);
    address.refuseOthers();
    problems.push(...address.problems);
  }
  if (view !== shown) {
    shown?.leave();
    shown = view;
    main.dataset["view"] = name;
    main.replaceChildren(view.root);
    view.enter();
  }
  writeChoices();
  misread = problems.join(" ");
  tell();
}

/** Writes the choices of the current view into the address, without an entry in the browser's history. */
function writeChoices(): void {
  const name = [...made].find(([, view]) => view === shown)?.[0];
  const address = writeAddress(name ?? "", shown?.choices?.() ?? {});
  if (name !== undefined && location.hash !== "" && location.hash !== address) {
    history.replaceState(null, "", address);
    misread = "";
    tell();
  }
}

/** Adds the buttons of the top bar: copy link, colours of the pieces, theme. */
function tools(): void {
  let theme = chosenTheme();
  const themeButton = button("", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    keepTheme(theme);
    apply();
  }, "tool");
  const colours = button("", () => {
    const other: PaletteName = palette() === "usual" ? "distinct" : "usual";
    choosePalette(other);
    remember(() => localStorage, PALETTE, other);
    apply();
  }, "tool");
  const apply = () => {
    showTheme(theme);
    themeButton.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
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
  const bar = document.getElementById("tools")!;
  handBack(bar);
  bar.append(copyButton("Copy link", () => location.href, "tool link"), colours, themeButton);
}

// The skip link moves the focus into the current view. As an address, `#main` would name another view.
document.querySelector(".skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
const nav = document.getElementById("views")!;
nav.append(...VIEWS.slice(1).map(([name, title]) => h("a", { href: `#${name}` }, title)));
// A new view gets the focus, for its keys and for screen readers.
nav.addEventListener("click", () => setTimeout(focusGame));
tools();
addEventListener("hashchange", route);
addEventListener("pagehide", () => app?.endAll());
route();
app = await enter();
route();
