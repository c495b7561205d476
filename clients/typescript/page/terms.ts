// The terms of a formula: the summands of its value. The server computes each as a formula, so this file only splits the text.

/** A term with its sign, as a person wrote it, and as a formula with the names that the text defines. */
export interface Term {
  readonly name: string;
  readonly formula: string;
}

/** The words and signs of the language; everything else is space. */
const TOKEN = /#.*|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[=!<>]=|\S/g;

/** The terms of a formula, from left to right. A formula that is no sum is one term. */
export function termsOf(formula: string): Term[] {
  const tokens = [...formula.matchAll(TOKEN)].map(([text]) => text).filter((text) => !text.startsWith("#"));
  const end = tokens.lastIndexOf(";") + 1;
  const names = tokens.slice(0, end).join(" ");
  const terms: string[][] = [[]];
  let depth = 0;
  let isChoice = false;
  for (const token of tokens.slice(end)) {
    const term = terms.at(-1)!;
    // After `else` a sum belongs to the choice. A sign after an operator is no sum.
    const isSum = ["+", "-"].includes(token) && depth === 0 && !isChoice && /[\w.)\]]$/.test(term.at(-1) ?? "");
    depth += { "(": 1, "[": 1, ")": -1, "]": -1 }[token] ?? 0;
    isChoice ||= token === "if" && depth === 0;
    if (isSum) {
      terms.push(token === "-" ? ["-"] : []);
    } else {
      term.push(token);
    }
  }
  return terms.map((term) => {
    const text = written(term);
    return { name: text, formula: `${names} ${text}`.trim() };
  });
}

/** Tokens as a person writes them: no spaces inside parentheses and around `^`. */
function written(tokens: readonly string[]): string {
  return tokens.join(" ")
    .replace(/^- /, "-")
    .replace(/ ([)\],])/g, "$1")
    .replace(/([([]) /g, "$1")
    .replace(/\b(min|max|abs|exp|ln|sum) \(/g, "$1(")
    .replace(/(\w) \[/g, "$1[")
    .replace(/ ([*/^]) /g, "$1");
}
