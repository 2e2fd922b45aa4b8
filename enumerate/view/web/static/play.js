// The page of the game: what it shows, plays and says. The rules are in game.js.
import { ask, recall, remember } from "./asking.js";
import { BoardView, squareName } from "./board.js";
import { frameFocus } from "./cursor.js";
import { Game, LARGEST, SMALLEST, fromText, toText } from "./game.js";
import { sound } from "./sounds.js";

const STEP = 140; // milliseconds from square to square of an automatic move
const LONGEST = 4000; // for the whole of such a walk
const still = matchMedia("(prefers-reduced-motion: reduce)");

class Page {
  constructor(root) {
    this.root = root;
    this.switches = Object.fromEntries([...root.querySelectorAll("[data-switch]")].map((box) => [box.dataset.switch, box]));
    for (const [name, box] of Object.entries(this.switches)) {
      box.checked = (recall(`play-${name}`) ?? String(box.checked)) === "true";
      box.addEventListener("change", () => remember(`play-${name}`, String(box.checked)));
    }
    for (const button of root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.perform(button.dataset.do));
    }
    this.find("#file").addEventListener("change", (event) => this.load(event.target));
    for (const side of root.querySelectorAll("#rows, #cols")) {
      side.addEventListener("keydown", (event) => event.key === "Enter" && this.perform("board"));
    }
    document.addEventListener("keydown", (event) => this.hear(event));
    frameFocus(this.find(".stage"));
    this.begin(this.#kept(JSON.parse(root.dataset.board)));
  }

  find(what) {
    return this.root.querySelector(what);
  }

  name(square) {
    return squareName(this.game.board, square);
  }

  // The game that this browser has saved for a board, or a new one.
  #kept(board) {
    try {
      return fromText(recall(`play-${board.rows}x${board.cols}`));
    } catch {
      return new Game(board);
    }
  }

  begin(game) {
    cancelAnimationFrame(this.frame);
    this.game = game;
    this.view = new BoardView(this.find(".stage"), game.board, { onSquare: (square) => this.choose(square),
      label: `Board of ${game.board.rows} rows and ${game.board.cols} columns` });
    this.find("#rows").value = game.board.rows;
    this.find("#cols").value = game.board.cols;
    document.title = document.title.replace(/^[^·]*/, `Play on ${game.board.rows}x${game.board.cols} `);
    this.shown = game.path.length;
    this.changed(game.path.length ? `Your game continues: ${this.#standing()}` : "Choose a square to start.");
  }

  #standing() {
    const { path, squares } = this.game;
    return `${path.length} of ${squares} squares visited, the knight is on ${this.name(path.at(-1))}.`;
  }

  perform(name) {
    ({
      undo: () => this.step("undo"),
      redo: () => this.step("redo"),
      hint: () => this.hint(),
      finish: () => this.finish(),
      again: () => this.again(),
      board: () => this.changeBoard(),
      save: () => this.save(),
      load: () => this.find("#file").click(),
      next: () => this.focusNext(),
    })[name]();
  }

  hear(event) {
    if (event.defaultPrevented || event.altKey || event.target.closest?.("input, select, textarea")) return;
    const held = event.ctrlKey || event.metaKey;
    const key = (held ? "Ctrl+" : "") + (held && event.shiftKey ? "Shift+" : "") + event.key.toLowerCase();
    const action = { u: "undo", r: "redo", h: "hint", n: "next", "Ctrl+z": "undo", "Ctrl+y": "redo",
      "Ctrl+Shift+z": "redo" }[key];
    if (!action) return;
    event.preventDefault();
    this.perform(action);
  }

  choose(square) {
    const { game } = this;
    const at = game.path.indexOf(square);
    if (at >= 0 && at === game.path.length - 1) {
      this.say(`The knight is on ${this.name(square)}.`);
    } else if (at >= 0) {
      game.take(game.path.slice(0, at + 1));
      this.changed(`Back to ${this.name(square)}. Undo restores the moves after it.`, "back");
    } else if (game.path.length && !game.allowed().includes(square)) {
      this.say(`No knight's move leads from ${this.name(game.path.at(-1))} to ${this.name(square)}.`);
      this.play("refuse");
    } else {
      this.#went(game.go(square, this.switches.auto.checked));
    }
  }

  #went(squares) {
    const names = squares.map((square) => this.name(square));
    const on = names.length > 1 ? `, then automatically to ${names.slice(1).join(", ")}` : "";
    this.changed(`${this.game.path.length === 1 ? "From" : "To"} ${names[0]}${on}.`, "move", this.game.path.length - squares.length + 1);
    if (this.view.svg.contains(document.activeElement)) this.view.focusSquare(this.game.path.at(-1));
    if (this.switches.warn.checked && !this.game.isOver) this.warn();
  }

  step(which) {
    const isDone = this.game[which]();
    const end = this.game.path.at(-1);
    if (!isDone) this.say(`There is nothing to ${which}.`);
    else this.changed(end === undefined ? "The board is empty again." : `${which === "undo" ? "Undone" : "Redone"}: ${this.#standing()}`, "back");
  }

  again() {
    if (this.game.path.length) this.game.take([]);
    this.changed("The board is empty again. Choose a square to start.", "back");
  }

  // Update everything after a change of the path. The squares after the first `from` are shown one by one.
  changed(words, noise = null, from = this.game.path.length) {
    const { game } = this;
    this.hinted = null;
    remember(`play-${game.board.rows}x${game.board.cols}`, toText(game));
    remember("play-size", `${game.board.rows}x${game.board.cols}`);
    const end = this.#ending();
    this.say(end ? `${words} ${end}` : words, game.isWhole ? "won" : end ? "bad" : "");
    this.find("[data-count]").textContent = `${game.path.length} of ${game.squares}`;
    this.find("[data-left]").textContent = "squares visited";
    this.find('[data-do="undo"]').disabled = game.past.length === 0;
    this.find('[data-do="redo"]').disabled = game.future.length === 0;
    this.#nameSquares();
    this.shown = Math.min(from, game.path.length);
    this.walk(noise);
  }

  #ending() {
    const { game } = this;
    if (game.isWhole) return `${game.isClosed ? "A closed" : "An open"} tour of all ${game.squares} squares!`;
    return game.isOver ? `Game over: you visited ${game.path.length} of ${game.squares} squares.` : "";
  }

  // Show the path, and move the knight along the rest of it at a visible pace.
  walk(noise) {
    cancelAnimationFrame(this.frame);
    const { length } = this.game.path;
    const first = still.matches ? length : this.shown;
    const pause = Math.min(STEP, LONGEST / Math.max(1, length - first));
    const begin = performance.now();
    const stand = (shown) => {
      this.shown = shown;
      this.show();
      if (noise) this.play(shown < length || !this.game.isOver ? noise : this.game.isWhole ? "won" : "over");
    };
    const frame = (now) => {
      const shown = Math.min(length, first + Math.floor(Math.max(0, now - begin) / pause));
      if (shown > this.shown) stand(shown);
      if (shown < length) this.frame = requestAnimationFrame(frame);
    };
    stand(first);
    if (first < length) this.frame = requestAnimationFrame(frame);
  }

  show() {
    const { game } = this;
    const isThere = this.shown === game.path.length;
    this.view.show({ path: game.path.slice(0, this.shown), closed: isThere && game.isClosed, knight: !(isThere && game.isWhole),
      allowed: isThere && game.path.length ? game.allowed() : [], hint: isThere ? this.hinted : null });
  }

  // What a screen reader says for each square.
  #nameSquares() {
    const { game } = this;
    const allowed = new Set(game.path.length ? game.allowed() : []);
    const places = new Map(game.path.map((square, index) => [square, index + 1]));
    for (const [square, rect] of this.view.squares) {
      const place = places.get(square);
      const what = place === game.path.length ? `, the knight, ${place}` : place ? `, visited, ${place}` : allowed.has(square) ? ", allowed" : "";
      rect.setAttribute("aria-label", this.name(square) + what);
    }
  }

  say(words, kind = "") {
    const said = this.find("[data-said]");
    said.textContent = words;
    said.className = `status ${kind}`;
  }

  play(noise) {
    if (this.switches.sound.checked) sound(noise, this.shown / this.game.squares);
  }

  focusNext() {
    const allowed = this.game.allowed();
    if (allowed.length === 0) return;
    const now = Number(document.activeElement?.dataset?.square ?? -1);
    this.view.focusSquare(allowed.find((square) => square > now) ?? allowed[0]);
  }

  // The answer of the real search for the current path; null if the game has changed meanwhile.
  async #answer() {
    const { game } = this;
    const { board, path } = game;
    const names = path.map((square) => this.name(square)).join(",");
    const answer = await ask("/play/answer.json", { size: `${board.rows}x${board.cols}`, path: names });
    return game === this.game && path === game.path ? answer : null;
  }

  async #asking(then) {
    try {
      const answer = await this.#answer();
      if (answer) then(answer);
    } catch (error) {
      this.say(`${error.message}.`, "bad");
    }
  }

  async hint() {
    if (this.game.isOver) {
      this.say(this.#ending(), this.game.isWhole ? "won" : "bad");
      return;
    }
    this.say("Searching …");
    await this.#asking(({ state, hint, why }) => {
      this.hinted = hint;
      this.shown = this.game.path.length;
      this.show();
      const where = hint === null ? "" : this.name(hint);
      if (state === "found") this.say(`Hint: ${where}. It leads to a tour.`);
      else if (state === "none") this.say(this.#noTour(why), "bad");
      else this.say(`Hint: ${where}, by Warnsdorff's rule. The search did not find out in time whether a tour is left.`);
    });
  }

  #noTour(why) {
    const on = this.game.path.length === 0 ? "This board has no tour" : "No tour is left from here";
    return `${on}${why ? `: ${why}` : ""}. ${this.game.path.length ? "Undo a move, or see how far you get." : "See how far you get, or choose another board."}`;
  }

  async warn() {
    await this.#asking(({ state, why }) => {
      if (state === "none") this.say(this.#noTour(why), "bad");
    });
  }

  async finish() {
    if (this.game.isWhole) {
      this.say(this.#ending(), "won");
      return;
    }
    this.say("Searching …");
    await this.#asking(({ state, tour, why, iterations }) => {
      const from = this.game.path.length;
      if (state === "found") {
        this.game.take(tour);
        this.changed(`The search completed the tour after ${iterations.toLocaleString("en")} placements.`, "move", from);
      } else if (state === "none") {
        this.say(this.#noTour(why), "bad");
      } else {
        this.say("The search found no tour in time, but there may be one. Undo some moves and try again.", "bad");
      }
    });
  }

  changeBoard() {
    const [rows, cols] = ["#rows", "#cols"].map((side) => Number(this.find(side).value));
    const fits = (side) => Number.isInteger(side) && side >= SMALLEST && side <= LARGEST;
    if (!fits(rows) || !fits(cols)) {
      this.say(`A board has ${SMALLEST} to ${LARGEST} rows and columns.`, "bad");
      return;
    }
    remember("play-size", `${rows}x${cols}`);
    history.replaceState(null, "", `?size=${rows}x${cols}`);
    this.begin(this.#kept({ rows, cols, missing: null }));
  }

  save() {
    const { board, path } = this.game;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([toText(this.game)], { type: "application/json" }));
    link.download = `knight-${board.rows}x${board.cols}-${path.length}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    this.say(`Saved as ${link.download}.`);
  }

  async load(input) {
    const file = input.files[0];
    if (!file) return;
    try {
      const game = fromText(file.size > 100_000 ? "" : await file.text());
      history.replaceState(null, "", `?size=${game.board.rows}x${game.board.cols}`);
      this.begin(game);
      this.say(game.path.length ? `Loaded: ${this.#standing()} ${this.#ending()}` : "Loaded. Choose a square to start.");
    } catch (error) {
      this.say(`Not loaded: ${error.message}.`, "bad");
    }
    input.value = ""; // so that the same file can be chosen again
  }
}

// Without a board in the address, use that of the last game.
const root = document.getElementById("game");
const last = /^(\d{1,2})x(\d{1,2})$/.exec(recall("play-size") ?? "");
if (root.dataset.sizeGiven === "false" && last) {
  const [rows, cols] = [Number(last[1]), Number(last[2])];
  if (Math.min(rows, cols) >= SMALLEST && Math.max(rows, cols) <= LARGEST) {
    root.dataset.board = JSON.stringify({ rows, cols, missing: null });
  }
}
new Page(root);
