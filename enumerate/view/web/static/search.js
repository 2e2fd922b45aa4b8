// The searches of enumerate/kernels, one step at a time and without pruning: same order, same placements, same tours.
// A step is a placement or a retreat. `state` says how it stands: searching, tour, none (nothing is left), given up.
import { areNear } from "./board.js";

const MOVES = [[-2, -1], [-2, 1], [-1, -2], [-1, 2], [1, -2], [1, 2], [2, -1], [2, 1]];
const FAILURES = 5;

export function makeSearch(board, start, { strategy, variant = "both", moves = MOVES }) {
  if (strategy === "greedy") return new Greedy(board, start, variant);
  return new DepthFirst(board, start, variant, strategy === "backtrack" ? moves : null);
}

// For each square, where each of the eight moves leads, or null.
function movesTable(board, moves) {
  return Array.from({ length: board.rows * board.cols }, (_, square) => moves.map(([down, right]) => {
    const row = Math.floor(square / board.cols) + down;
    const col = (square % board.cols) + right;
    return row >= 0 && row < board.rows && col >= 0 && col < board.cols ? row * board.cols + col : null;
  }));
}

class Search {
  constructor(board, start, variant, moves) {
    Object.assign(this, { board, start, variant, state: "searching", path: [], placements: 0, retreats: 0 });
    this.table = movesTable(board, moves);
    this.visited = new Array(board.rows * board.cols).fill(false);
  }

  get isClosed() {
    return areNear(this.board, this.path[0], this.path.at(-1));
  }

  // Whether the path is a tour of the wanted variant.
  isTour() {
    return this.path.length === this.visited.length
      && (this.variant === "both" || (this.variant === "closed") === this.isClosed);
  }

  unvisited(square) {
    return this.table[square].filter((other) => other !== null && !this.visited[other]);
  }

  onward(square) {
    let count = 0;
    for (const other of this.table[square]) if (other !== null && !this.visited[other]) count += 1;
    return count;
  }

  place(square) {
    this.path.push(square);
    this.visited[square] = true;
    this.placements += 1;
  }
}

// Candidates in the order of `moves`, or without them by Warnsdorff's rule: fewest onward moves, ties by square number.
class DepthFirst extends Search {
  constructor(board, start, variant, moves) {
    super(board, start, variant, moves ?? MOVES);
    this.isFixed = moves !== null;
    this.untried = [];
    this.next = start;
  }

  step() {
    if (this.state === "none") return;
    this.state = "searching";
    if (this.next === null) this.#retreat();
    else this.#place();
    if (this.path.length > 0) this.next = this.untried.at(-1).shift() ?? null;
  }

  // Jump to a tour that the real search found, as if all steps up to it had been made.
  skipTo({ state, tour, iterations }) {
    Object.assign(this, { path: [], untried: [] });
    this.visited.fill(false);
    for (const [index, square] of (tour ?? []).entries()) {
      this.next = square;
      this.#place();
      const untried = this.untried.at(-1);
      if (index + 1 < tour.length) untried.splice(0, untried.indexOf(tour[index + 1]) + 1);
    }
    this.next = null;
    this.placements = iterations;
    this.retreats = iterations === null ? null : iterations - this.path.length;
    this.state = state === "found" ? "tour" : state;
  }

  #place() {
    this.place(this.next);
    const candidates = this.unvisited(this.next);
    if (!this.isFixed && candidates.length > 1) {
      const keys = new Map(candidates.map((square) => [square, this.onward(square)]));
      candidates.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
    }
    this.untried.push(candidates);
    if (this.isTour()) this.state = "tour";
  }

  #retreat() {
    this.visited[this.path.pop()] = false;
    this.untried.pop();
    this.retreats += 1;
    if (this.path.length === 0) this.state = "none";
  }
}

const WORD = (1n << 64n) - 1n;

function mix(word) {
  let x = (word + 0x9e3779b97f4a7c15n) & WORD;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return x ^ (x >> 31n);
}

// Warnsdorff's rule with ties broken at random, without backtracking: a dead end starts over, and after five of them
// the tour is given up. The random choices are the kernel's, a hash with seed 0.
class Greedy extends Search {
  constructor(board, start, variant) {
    super(board, start, variant, MOVES);
    Object.assign(this, { tour: 0, attempt: 0, next: start });
  }

  // Here `retreats` counts how often it started over.
  step() {
    if (this.next === null) {
      this.#startOver();
      return;
    }
    this.state = "searching";
    this.place(this.next);
    this.next = this.#choose();
    if (this.next === null) this.#end();
  }

  skipTo() {
    while (this.state === "searching") this.step();
  }

  #startOver() {
    if (this.state === "searching") this.retreats += 1;
    this.path = [];
    this.visited.fill(false);
    this.next = this.start;
    this.state = "searching";
  }

  #end() {
    this.attempt += 1;
    if (this.isTour()) this.state = "tour";
    else if (this.attempt === FAILURES) this.state = "given up";
    if (this.state === "searching") return;
    this.tour += 1;
    this.attempt = 0;
  }

  #choose() {
    const candidates = this.unvisited(this.path.at(-1));
    if (candidates.length === 0) return null;
    const keys = candidates.map((square) => this.onward(square));
    const fewest = Math.min(...keys);
    const tied = candidates.filter((_, index) => keys[index] === fewest);
    if (tied.length === 1) return tied[0];
    const base = mix(mix(mix(0n) ^ BigInt(this.start)) ^ BigInt(this.tour)) ^ BigInt(this.attempt);
    const chance = mix((base + BigInt(this.path.length) * 0xd1b54a32d192ed03n) & WORD);
    return tied[Number(((chance >> 32n) * BigInt(tied.length)) >> 32n)];
  }
}
