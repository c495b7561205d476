// The theme: the page has a button for it, and the documents look as the user chose there.

import { remember } from "./kept.js";

const NAME = "tetrion-theme";
/** Media query for a dark system theme. */
const DARK = "(prefers-color-scheme: dark)";
/** The rule of the style sheet with the dark colours. */
const dark = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).find((rule) => rule instanceof CSSMediaRule && rule.conditionText === DARK) as CSSMediaRule | undefined;

/** The themes, in the order of the button. */
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The theme that the user chose. */
export function chosenTheme(): Theme {
  const name = remember(() => localStorage, NAME);
  return THEMES.find((theme) => theme === name) ?? "auto";
}

/** Remembers a theme for the next page. */
export function keepTheme(theme: Theme): void {
  remember(() => localStorage, NAME, theme);
}

/** Shows a theme. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  if (dark !== undefined) {
    dark.media.mediaText = { auto: DARK, light: "not all", dark: "all" }[theme];
  }
}
