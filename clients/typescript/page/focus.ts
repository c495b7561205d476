// Keyboard focus. A focused control keeps the keys that it uses, and the game gets the others. After a click on a control, the focus
// returns to the game, so that space drops the piece instead of pressing the button again.

/** Keys of sliders and lists. */
const SLIDING = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/** Whether the focused control uses a key itself. */
export function usesKey(control: EventTarget | null, key: string): boolean {
  if (!(control instanceof Element)) {
    return false;
  }
  const kept = control.closest("dialog, input, select, textarea, button, summary, a, [role='radio'], [tabindex='0']");
  switch (kept?.localName) {
    case undefined:
      return false;
    case "button":
    case "summary":
      return [" ", "Enter"].includes(key);
    case "a":
      return key === "Enter";
    case "input": {
      const { type } = kept as HTMLInputElement;
      return type === "checkbox" ? key === " " : type === "range" ? SLIDING.includes(key) : true;
    }
    case "dialog":
    case "select":
    case "textarea":
      return true;
    default:
      // A region that scrolls.
      return [" ", ...SLIDING].includes(key);
  }
}

/** Moves the focus to the game. */
export function focusGame(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** Returns the focus to the game after a click on a control in `root`, and after Enter or Escape in a field. */
export function handBack(root: HTMLElement): void {
  let lastKey = "";
  root.addEventListener("pointerdown", () => (lastKey = ""), true);
  root.addEventListener("keydown", ({ key, target }) => {
    lastKey = key;
    const isField = target instanceof Element && target.matches("select, input");
    if (isField && key === "Escape") {
      focusGame();
    }
  }, true);
  root.addEventListener("keyup", ({ key, target }) => {
    if (key === "Enter" && target instanceof HTMLInputElement && target.ariaInvalid !== "true") {
      focusGame();
    }
  });
  root.addEventListener("click", ({ target }) => {
    if (lastKey === "" && target instanceof Element && target.closest("button, summary") !== null) {
      focusGame();
    }
  });
  // A field with refused text keeps the focus: see `report`.
  root.addEventListener("change", ({ target }) => {
    const isRefused = target instanceof Element && target.ariaInvalid === "true";
    if (["", "Enter"].includes(lastKey) && !isRefused) {
      focusGame();
    }
  });
}
