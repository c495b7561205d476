// Whose key it is: a control that has the focus keeps the keys that it uses itself, the game gets the others. After the pointer
// has used a control, the focus goes back to the game, so that space drops the piece and not the button again.

/** Keys of a control with a range, and of a list. */
const SLIDING = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/** Whether the control that has the focus uses a key itself. */
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

/** Gives the focus to the game. */
export function focusGame(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** Gives the focus back to the game after a control of `root` was used: with the pointer, or with Enter or Escape in a field. */
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
  // A field whose text is refused keeps the focus: see `report`.
  root.addEventListener("change", ({ target }) => {
    const isRefused = target instanceof Element && target.ariaInvalid === "true";
    if (["", "Enter"].includes(lastKey) && !isRefused) {
      focusGame();
    }
  });
}
