// A recorded game on a page: drawn on a canvas, with controls. It gets the element to fill and the game as data, asks
// nothing of anywhere else, and knows of the rules only that full rows vanish and what lies above them moves down.
(host, game) => {
  "use strict";
  if (!host || host.shadowRoot) return;
  const { w, h, visible, keys, preview, palettes, lying, texts } = game;
  const EMPTY = -1, GARBAGE = 7, SPACING = 128, CELL = 16, GAP = 8, PANEL = 96, SMALL = 12;
  const LAST = game.sides[0].steps.length;
  const shade = (colour, light) => colour.map((part) => (light ? part + Math.floor((255 - part) / 3) : part - Math.floor(part / 3)));
  const css = (colour) => `rgb(${colour.join(",")})`;

  const root = host.attachShadow({ mode: "open" });
  const make = (name, attributes, ...children) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...children);
    return element;
  };

  // A game, or a side of a match, on a canvas of its own.
  const side = ({ shown, steps, falling, given, pieces, scores }, { player, end }) => {
    // The game after `at` steps; copies of it stand at every multiple of SPACING.
    const copy = (state) => ({ ...state, cells: state.cells.slice() });
    const start = { at: 0, cells: given.slice(), pieces: 0, lines: 0, last: [] };
    const copies = [start];
    const advance = (state) => {
      const landing = steps[state.at++];
      if (landing) {
        const [cells, cleared, lines, hue, holes] = landing;
        state.pieces += 1;
        for (const cell of cells) state.cells[cell] = hue;
        for (const row of cleared.slice().reverse()) state.cells.splice(row * w, w);
        while (state.cells.length < w * h) state.cells.push(EMPTY);
        state.lines += lines;
        state.last = cells
          .filter((cell) => !cleared.includes(Math.floor(cell / w)))
          .map((cell) => cell + w * (holes.length - cleared.filter((row) => row < Math.floor(cell / w)).length))
          .filter((cell) => cell < w * h);
        // Rows of garbage rise from below, the lowest of them first in the list.
        const risen = holes.flatMap((hole) => Array.from({ length: w }, (_, column) => (column === hole ? EMPTY : GARBAGE)));
        state.cells = [...risen, ...state.cells].slice(0, w * h);
      }
      if (state.at === copies.length * SPACING) copies.push(copy(state));
      return state;
    };
    let now = copy(start);
    const seek = (step) => {
      const near = copies[Math.min(Math.floor(step / SPACING), copies.length - 1)];
      if (step < now.at || near.at > now.at) now = copy(near);
      while (now.at < step) advance(now);
    };

    // Where the cells of a piece come to rest if they fall straight down.
    const dropped = (piece) => {
      const fits = (by) => piece.every((cell) => cell >= by * w && (cell - by * w >= w * h || now.cells[cell - by * w] === EMPTY));
      if (!piece.length || !fits(0)) return [];
      let by = 0;
      while (fits(by + 1)) by += 1;
      return piece.map((cell) => cell - by * w);
    };

    const has = { score: scores !== null };
    const HEIGHT = 2 * (GAP + 2) + visible * CELL;
    const tall = 20 + (shown ? 26 + 2 * SMALL : 0) + (preview ? 22 + preview * (2 * SMALL + 4) : 0) + (has.score ? 3 : 2) * 42;
    const [WIDTH, TOTAL] = [2 * (GAP + 2) + w * CELL + PANEL, Math.max(HEIGHT, tall + GAP)];
    const canvas = make("canvas", {});
    canvas.setAttribute("role", "img");
    const draw = (palette) => {
      const scale = Math.max(1, Math.ceil(window.devicePixelRatio || 1));
      canvas.width = WIDTH * scale;
      canvas.height = TOTAL * scale;
      canvas.style.width = `${WIDTH}px`;
      const to = canvas.getContext("2d");
      to.scale(scale, scale);
      const fill = (colour, x, y, width, height) => {
        to.fillStyle = colour;
        to.fillRect(x, y, width, height);
      };
      const inset = GAP + 2;
      const x = (cell) => inset + (cell % w) * CELL;
      const y = (cell) => inset + (visible - 1 - Math.floor(cell / w)) * CELL;
      const block = (left, top, size, hue) => {
        const [colour, edge, body] = [palette[hue], Math.max(1, Math.floor(size / 8)), size - 1];
        fill(css(colour), left + 1, top + 1, body, body);
        fill(css(shade(colour, true)), left + 1, top + 1, body, edge);
        fill(css(shade(colour, true)), left + 1, top + 1, edge, body);
        fill(css(shade(colour, false)), left + 1, top + size - edge, body, edge);
        fill(css(shade(colour, false)), left + size - edge, top + 1, edge, body);
      };
      const ring = (cell, colour) => {
        if (cell >= w * visible) return;
        to.strokeStyle = colour;
        to.lineWidth = 1;
        to.strokeRect(x(cell) + 1.5, y(cell) + 1.5, CELL - 2, CELL - 2);
      };

      // Where a step is a placement, its piece is shown at rest, with its numbers and the rows that it completes.
      const landing = !keys && now.at < LAST ? steps[now.at] : null;
      const piece = keys ? (now.at < LAST || !end ? falling[now.at] : []) : landing ? landing[0] : [];
      const hue = landing ? landing[3] : pieces[now.pieces];
      const lines = now.lines + (landing ? landing[2] : 0);
      const landed = now.pieces + (landing ? 1 : 0);
      const counted = Math.min(now.at + (keys ? 0 : 1), LAST);

      fill("rgb(27,30,38)", 0, 0, WIDTH, TOTAL);
      fill("rgb(90,99,117)", GAP, GAP, w * CELL + 4, visible * CELL + 4);
      fill("rgb(17,19,25)", inset, inset, w * CELL, visible * CELL);
      for (let column = 1; column < w; column++) fill("rgb(31,35,45)", inset + column * CELL, inset, 1, visible * CELL);
      for (let row = 1; row < visible; row++) fill("rgb(31,35,45)", inset, inset + row * CELL, w * CELL, 1);
      now.cells.slice(0, w * visible).forEach((cell, place) => cell !== EMPTY && block(x(place), y(place), CELL, cell));
      if (keys) for (const cell of dropped(piece)) ring(cell, css(shade(palette[hue], false)));
      for (const cell of piece) if (cell < w * visible) block(x(cell), y(cell), CELL, hue);
      for (const row of landing ? landing[1] : []) fill("rgb(255,255,255)", inset, y(row * w) + 5, w * CELL, 6);
      for (const cell of piece.length ? piece : now.last) ring(cell, "rgb(255,255,255)");

      const left = inset + w * CELL + 2 + GAP;
      let top = inset;
      to.textBaseline = "top";
      const number = (name, value) => {
        to.font = "11px system-ui, sans-serif";
        to.fillStyle = "rgb(141,150,168)";
        to.fillText(name, left, top);
        if (value === undefined) return;
        to.font = "600 16px system-ui, sans-serif";
        to.fillStyle = "rgb(240,242,246)";
        to.fillText(value, left, top + 14);
        top += 42;
      };
      const group = (name, room, some) => {
        const bottom = top + 22 + room * (2 * SMALL + 4);
        number(name);
        top += 16;
        for (const next of some) {
          const drawing = lying[next];
          drawing.forEach((line, row) =>
            [...line].forEach((sign, column) => {
              const lower = ((2 - drawing.length) * SMALL) / 2;
              if (sign === "#") block(left + column * SMALL, top + lower + row * SMALL, SMALL, next);
            })
          );
          top += 2 * SMALL + 4;
        }
        top = bottom;
      };
      // Where a piece can be held, the first of these is it, or -1.
      const held = shown && shown[now.at][0];
      const next = shown ? shown[now.at].slice(1) : pieces.slice(now.pieces + 1, now.pieces + 1 + preview);
      if (shown) group("HOLD", 1, held >= 0 ? [held] : []);
      if (preview) group("NEXT", preview, next);
      number("LINES", String(lines));
      number("PIECES", String(landed));
      if (has.score) number("SCORE", scores[counted]);
      const ended = now.at === LAST ? [texts.more, end].filter(Boolean).join(", ") : "";
      const whose = player ? `${player}, step` : "Step";
      canvas.setAttribute("aria-label", `${whose} ${now.at} of ${LAST}: ${landed} pieces, ${lines} lines${ended ? `, ${ended}` : ""}`);
      return ended;
    };
    return { canvas, seek, draw };
  };

  const label = (element, words) => {
    element.setAttribute("aria-label", words);
    element.title = words;
    return element;
  };
  root.append(
    make("style", {
      textContent: `
        .game { display: inline-block; max-width: 100%; font: 13px/1.5 system-ui, sans-serif; color: inherit; }
        .words { margin: 4px 0; overflow-wrap: anywhere; }
        .name { font-weight: 600; }
        .sides { display: flex; flex-wrap: wrap; gap: 4px; }
        canvas { display: block; max-width: 100%; border-radius: 4px; }
        .controls { display: flex; flex-wrap: wrap; align-items: center; gap: 4px; margin-top: 6px; max-width: 540px; }
        input { flex: 1 1 100%; min-width: 120px; margin: 2px 0; accent-color: #3f6fe0; }
        button, select { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: 4px;
          padding: 1px 7px; min-width: 30px; cursor: pointer; }
        button:hover, select:hover { background: rgba(127, 127, 127, 0.25); }
        :focus-visible { outline: 2px solid #3f6fe0; outline-offset: 1px; }
        option { color: #000; background: #fff; }`,
    })
  );
  const button = (sign, words, act) => label(make("button", { type: "button", textContent: sign, onclick: act }), words);
  const play = button("", "Play", () => run(timer === null));
  const scrub = label(make("input", { type: "range", min: 0, max: LAST, value: 0 }), "Step");
  const choice = (words, named, chosen, act) => {
    const options = named.map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen }));
    return label(make("select", { onchange: act }, ...options), words);
  };
  const speeds = [...new Set([0.5, 1, 2, 4, 8, 16, 32, 64, game.speed])].sort((a, b) => a - b);
  const speed = choice("Speed", speeds.map((each) => [each, `${each} / s`]), game.speed, () => timer !== null && run(true));
  const colours = choice("Colours", Object.keys(palettes).map((name) => [name, name]), game.palette, () => draw());
  const count = make("span", { className: "count" });
  const buttons = [
    button("\u00AB", "To the beginning", () => go(0)),
    button("\u2039", "A step back", () => go(at - 1)),
    play,
    button("\u203A", "A step on", () => go(at + 1)),
    button("\u00BB", "To the end", () => go(LAST)),
  ];
  const sides = game.sides.map((each, number) => side(each, texts.sides[number]));
  const players = texts.sides.map(({ player }) => player).filter(Boolean).join(" against ");
  const words = make("div", { className: "words" }, make("span", { className: "name", textContent: players }));
  if (texts.origin) words.append(players ? ", " : "", texts.origin);
  const box = make("div", { className: "game", tabIndex: -1 });
  label(box, "A recorded game of Tetris").title = "";
  box.append(words, make("div", { className: "sides" }, ...sides.map(({ canvas }) => canvas)), make("div", { className: "controls" }, scrub, ...buttons, speed, colours, count));
  root.append(box);
  box.onkeydown = (event) => {
    const inControl = ["SELECT", "BUTTON", "INPUT"].includes(event.target.tagName);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: LAST }[event.key];
    if (event.key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SELECT") run(timer === null);
    else if (to !== undefined && !inControl) go(to);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  scrub.oninput = () => go(Number(scrub.value));

  let timer = null;
  let at = 0;
  const run = (on) => {
    clearInterval(timer);
    timer = null;
    if (on) {
      if (at >= LAST) show(0);
      // No more than some 30 pictures a second; above that, several steps each.
      const each = Math.max(1, Math.ceil(Number(speed.value) / 32));
      timer = setInterval(() => {
        if (!host.isConnected || at >= LAST) return run(false);
        show(Math.min(at + each, LAST));
        if (at >= LAST) run(false);
      }, (1000 * each) / Number(speed.value));
    }
    play.textContent = timer === null ? "Play" : "Pause";
    label(play, play.textContent);
  };
  const go = (step) => {
    run(false);
    show(Math.max(0, Math.min(step, LAST)));
  };
  const show = (step) => {
    at = step;
    draw();
  };
  const draw = () => {
    sides.forEach((each) => each.seek(at));
    const ends = sides.map((each) => each.draw(palettes[colours.value]));
    scrub.value = at;
    const named = ends.map((end, number) => (end && sides.length > 1 ? `${texts.sides[number].player || number + 1}: ${end}` : end));
    count.textContent = [`step ${at} of ${LAST}`, ...named.filter(Boolean)].join(", ");
  };
  run(false);
  show(0);
}
