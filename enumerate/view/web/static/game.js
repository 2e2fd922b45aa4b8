// The rules of the game, without its looks. Every change keeps the path before it, so all can be undone and redone.
import { areNear, squareName } from "./board.js";

const FORMAT = "knights-tour-game";
export const SMALLEST = 3;
export const LARGEST = 20;

export class Game {
  constructor(board, path = []) {
    this.board = board;
    this.path = path;
    this.past = [];
    this.future = [];
  }

  get squares() {
    return this.board.rows * this.board.cols;
  }

  get isWhole() {
    return this.path.length === this.squares;
  }

  get isClosed() {
    return this.isWhole && areNear(this.board, this.path[0], this.path.at(-1));
  }

  get isOver() {
    return this.path.length > 0 && this.allowed().length === 0;
  }

  // Where the knight may go; everywhere before the first move.
  allowed() {
    const visited = new Set(this.path);
    const all = Array.from({ length: this.squares }, (_, square) => square).filter((square) => !visited.has(square));
    return this.path.length ? all.filter((square) => areNear(this.board, this.path.at(-1), square)) : all;
  }

  // Go to an allowed square; with `auto` continue as long as only one is allowed. Returns the squares visited.
  go(square, auto) {
    if (!this.allowed().includes(square)) return [];
    const went = [square];
    const before = this.path;
    this.path = [...before, square];
    for (let next = this.allowed(); auto && next.length === 1; next = this.allowed()) {
      went.push(next[0]);
      this.path = [...this.path, next[0]];
    }
    this.#changed(before);
    return went;
  }

  // Replace the path by a shorter one, a whole tour, or a loaded one.
  take(path) {
    const before = this.path;
    this.path = path.slice();
    this.#changed(before);
  }

  undo() {
    return this.#swap(this.past, this.future);
  }

  redo() {
    return this.#swap(this.future, this.past);
  }

  #changed(before) {
    this.past.push(before);
    this.future = [];
  }

  #swap(from, to) {
    if (from.length === 0) return false;
    to.push(this.path);
    this.path = from.pop();
    return true;
  }
}

export function toText(game) {
  const { board, path } = game;
  const names = path.map((square) => squareName(board, square));
  return `${JSON.stringify({ format: FORMAT, version: 1, rows: board.rows, cols: board.cols, path: names })}\n`;
}

// A game from its text. Invalid text is an error with a message to show.
export function fromText(text) {
  let saved;
  try {
    saved = JSON.parse(text);
  } catch {
    throw new Error("this file is not a saved game");
  }
  if (saved?.format !== FORMAT || !Array.isArray(saved.path)) throw new Error("this file is not a saved game");
  if (saved.version !== 1) throw new Error("this game was saved by a later version");
  const { rows, cols } = saved;
  const fits = (side) => Number.isInteger(side) && side >= SMALLEST && side <= LARGEST;
  if (!fits(rows) || !fits(cols)) throw new Error("the board of this game is too small or too large");
  const board = { rows, cols, missing: null };
  return new Game(board, checkedPath(board, saved.path));
}

function checkedPath(board, names) {
  const squares = new Map(Array.from({ length: board.rows * board.cols }, (_, square) => [squareName(board, square), square]));
  const path = names.map((name) => squares.get(name));
  const wrong = path.findIndex((square, index) => square === undefined || path.indexOf(square) < index
    || (index > 0 && !areNear(board, path[index - 1], square)));
  if (wrong >= 0) throw new Error(`move ${wrong + 1} of this game is not allowed: ${String(names[wrong]).slice(0, 8)}`);
  return path;
}
