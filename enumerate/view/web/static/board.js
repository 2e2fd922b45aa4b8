// A board and a path as SVG in the browser: the same picture as enumerate/view/picture.py draws, but it changes.
// A board is { rows, cols, missing }, a square is row * cols + col, and row 1 is at the bottom.

const CELL = 40;
const MARGIN = 22;
const KNIGHT =
  "M-8 15 H11 C12.500 4 11 -6 2.500 -10.500 L1 -14.500 L-2.500 -11 C-7.500 -9 -10 -4 -13.500 2.500 " +
  "C-14.500 5.500 -11.500 8 -9 6.500 C-6.500 4 -4 4.500 -1 2.500 C-1 8 -7.500 9 -8 15 Z";

export function columnName(col) {
  let letters = "";
  for (let rest = col + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(97 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

export function squareName(board, square) {
  return columnName(square % board.cols) + (Math.floor(square / board.cols) + 1);
}

export function areNear(board, square, other) {
  const down = Math.abs(Math.floor(square / board.cols) - Math.floor(other / board.cols));
  const right = Math.abs((square % board.cols) - (other % board.cols));
  return down * right === 2;
}

function element(name, attributes = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  return made;
}

export class BoardView {
  // `label` names the picture for screen readers. With `onSquare` the squares are buttons: it is called with the square
  // that was clicked, touched or chosen by Enter or Space; arrow keys move the focus.
  constructor(holder, board, { label = "", onSquare = null } = {}) {
    this.board = board;
    this.path = [];
    this.stops = [];
    const width = board.cols * CELL + 2 * MARGIN;
    const height = board.rows * CELL + 2 * MARGIN;
    this.svg = element("svg", { class: "board", viewBox: `0 0 ${width} ${height}`, "font-family": "sans-serif" });
    this.svg.setAttribute("role", onSquare ? "group" : "img");
    this.describe(label);
    this.svg.append(element("rect", { class: "card-ground", width, height, rx: 8, fill: "#fbfaf7" }));
    this.#drawSquares(onSquare);
    this.#drawLabels(height);
    this.marks = element("g", { class: "marks", "pointer-events": "none" });
    this.line = element("polyline", { class: "path", fill: "none", stroke: "#1f4e79", "stroke-width": 2,
      "stroke-linejoin": "round", "pointer-events": "none" });
    this.closing = element("path", { class: "path", fill: "none", stroke: "#1f4e79", "stroke-width": 2,
      "stroke-dasharray": "5 4", "pointer-events": "none" });
    this.group = element("g", { class: "stops", "font-size": this.#fontSize(), "text-anchor": "middle",
      "pointer-events": "none" });
    this.knight = element("g", { class: "knight-place", "pointer-events": "none", visibility: "hidden" });
    const figure = element("g", { class: "knight", "stroke-width": 1.5 });
    figure.append(element("path", { d: KNIGHT }), element("circle", { class: "knight-eye", cx: -3, cy: -5.5, r: 1.4, stroke: "none" }));
    this.knight.append(figure);
    this.svg.append(this.marks, this.line, this.closing, this.group, this.knight);
    holder.replaceChildren(this.svg);
  }

  describe(label) {
    if (label) this.svg.setAttribute("aria-label", label);
  }

  centre(square) {
    const row = Math.floor(square / this.board.cols);
    const col = square % this.board.cols;
    return [MARGIN + col * CELL + CELL / 2, MARGIN + (this.board.rows - 1 - row) * CELL + CELL / 2];
  }

  // Show a path; only what differs from the last call is redrawn. `closed` adds the closing move, `knight` shows the
  // knight on the last square. `length` is that of the whole tour, whose last stop is coloured. `allowed` squares are
  // lit, `hint` gets a ring.
  show({ path, closed = false, length = this.#squares(), knight = true, allowed = [], hint = null }) {
    let same = 0;
    while (same < path.length && same < this.path.length && path[same] === this.path[same]) same += 1;
    while (this.stops.length > same) {
      for (const part of this.stops.pop()) part.remove();
      this.line.points.removeItem(this.line.points.numberOfItems - 1);
    }
    for (let move = same; move < path.length; move += 1) this.#addStop(path[move], move, move + 1 === length);
    this.path = path.slice();
    this.#showClosing(closed);
    this.#showMarks(allowed, hint);
    this.#showKnight(knight && path.length > 0);
  }

  // Focus a square, on a board with buttons.
  focusSquare(square) {
    this.#rove(square);
    this.squares.get(square).focus();
  }

  #squares() {
    return this.board.rows * this.board.cols - (this.board.missing === null || this.board.missing === undefined ? 0 : 1);
  }

  #fontSize() {
    return this.board.rows * this.board.cols < 1000 ? 11 : 8;
  }

  #drawSquares(onSquare) {
    this.squares = new Map();
    const { rows, cols, missing } = this.board;
    for (let square = 0; square < rows * cols; square += 1) {
      if (square === missing) continue;
      const [x, y] = this.centre(square);
      const dark = (Math.floor(square / cols) + (square % cols)) % 2 === 0;
      const rect = element("rect", { class: `square ${dark ? "dark" : "light"}`, x: x - CELL / 2, y: y - CELL / 2,
        width: CELL, height: CELL, fill: dark ? "#d9cdb8" : "#f3ecdf", "data-square": square });
      if (onSquare) {
        rect.setAttribute("role", "button");
        rect.setAttribute("tabindex", square === 0 ? 0 : -1);
        rect.setAttribute("aria-label", squareName(this.board, square));
      }
      this.squares.set(square, rect);
      this.svg.append(rect);
    }
    if (onSquare) this.#listen(onSquare);
  }

  #listen(onSquare) {
    const squareOf = (event) => {
      const rect = event.target.closest("[data-square]");
      return rect ? Number(rect.dataset.square) : null;
    };
    this.svg.addEventListener("click", (event) => {
      const square = squareOf(event);
      if (square === null) return;
      this.#rove(square);
      onSquare(square);
    });
    this.svg.addEventListener("keydown", (event) => {
      const square = squareOf(event);
      if (square === null) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        onSquare(square);
        return;
      }
      const step = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const row = Math.floor(square / this.board.cols) + step[0];
      const col = (square % this.board.cols) + step[1];
      const next = row * this.board.cols + col;
      if (row >= 0 && row < this.board.rows && col >= 0 && col < this.board.cols && this.squares.has(next)) {
        this.focusSquare(next);
      }
    });
  }

  #rove(square) {
    for (const rect of this.svg.querySelectorAll('.square[tabindex="0"]')) rect.setAttribute("tabindex", -1);
    this.squares.get(square).setAttribute("tabindex", 0);
  }

  #drawLabels(height) {
    const labels = element("g", { class: "labels", "font-size": 11, fill: "#6b6357", "text-anchor": "middle", "aria-hidden": true });
    for (let col = 0; col < this.board.cols; col += 1) {
      labels.append(element("text", { x: this.centre(col)[0], y: height - MARGIN / 2 + 4 }, columnName(col)));
    }
    for (let row = 0; row < this.board.rows; row += 1) {
      labels.append(element("text", { x: MARGIN / 2, y: this.centre(row * this.board.cols)[1] + 4 }, row + 1));
    }
    this.svg.append(labels);
  }

  #addStop(square, move, isLast) {
    const [x, y] = this.centre(square);
    const point = this.svg.createSVGPoint();
    point.x = x;
    point.y = y;
    this.line.points.appendItem(point);
    const kind = move === 0 ? "first" : isLast ? "last" : "disc";
    const ink = move === 0 ? "on-first" : isLast ? "on-last" : "number";
    const disc = element("circle", { class: kind === "disc" ? kind : `disc ${kind}`, cx: x, cy: y, r: 10 });
    const number = element("text", { class: ink, x, y: y + 4 }, move + 1);
    this.group.append(disc, number);
    this.stops.push([disc, number]);
  }

  #showClosing(closed) {
    if (!closed || this.path.length < 2) {
      this.closing.removeAttribute("d");
      return;
    }
    const [from, to] = [this.centre(this.path.at(-1)), this.centre(this.path[0])];
    this.closing.setAttribute("d", `M${from.join(",")}L${to.join(",")}`);
  }

  #showMarks(allowed, hint) {
    const lit = allowed.map((square) => {
      const [x, y] = this.centre(square);
      return element("circle", { class: "allowed", cx: x, cy: y, r: 12, "stroke-width": 2 });
    });
    if (hint !== null) {
      const [x, y] = this.centre(hint);
      lit.push(element("circle", { class: "hint", cx: x, cy: y, r: 16, "stroke-width": 4 }));
    }
    this.marks.replaceChildren(...lit);
  }

  #showKnight(shown) {
    this.knight.setAttribute("visibility", shown ? "visible" : "hidden");
    if (shown) {
      const [x, y] = this.centre(this.path.at(-1));
      this.knight.firstChild.setAttribute("transform", `translate(${x} ${y})`);
    }
  }
}
