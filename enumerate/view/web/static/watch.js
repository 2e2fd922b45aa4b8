// The page that shows a search step by step, while the server runs the real one. The search is in search.js.
import { ask, recall, remember } from "./asking.js";
import { BoardView, squareName } from "./board.js";
import { frameFocus } from "./cursor.js";
import { LARGEST, SMALLEST } from "./game.js";
import { makeSearch } from "./search.js";

const FASTEST = 61; // the last value of the speed slider: as fast as the browser can
const FRAME = 12; // milliseconds of steps in a frame, then
const WORTH = 5; // seconds of display that are worth a skip

const shownNumber = (number) => (number === null ? "not counted" : number.toLocaleString("en"));

function shownTime(seconds) {
  const units = [["second", 60], ["minute", 60], ["hour", 24], ["day", 365], ["year", Infinity]];
  let value = seconds;
  for (const [unit, size] of units) {
    if (value < size) return `${Math.round(value).toLocaleString("en")} ${unit}${Math.round(value) === 1 ? "" : "s"}`;
    value /= size;
  }
  return "";
}

class Watcher {
  constructor(root) {
    this.root = root;
    this.moves = JSON.parse(root.dataset.moves);
    for (const field of root.querySelectorAll("#rows, #cols, #start, #strategy, #variant")) {
      field.addEventListener("change", () => this.reset());
    }
    for (const button of root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.perform(button.dataset.do));
    }
    this.find("[data-speed]").addEventListener("input", (event) => this.setSpeed(Number(event.target.value)));
    document.addEventListener("keydown", (event) => this.hear(event));
    frameFocus(this.find(".stage"));
    this.setSpeed(Number(recall("watch-speed") ?? 10) || 10);
    this.reset();
  }

  find(what) {
    return this.root.querySelector(what);
  }

  perform(name) {
    ({
      run: () => (this.timer === null ? this.run() : this.pause()),
      step: () => this.oneStep(),
      reset: () => this.reset(),
      skip: () => this.skip(),
    })[name]();
  }

  hear(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const target = event.target.closest?.("input, select, textarea, button, a, summary, [role=button]");
    if (event.key === " " && !target) {
      event.preventDefault();
      this.perform("run");
    } else if (event.key === "s" && !target?.matches("input:not([type=range]), select")) {
      this.perform("step");
    } else if ("+-−=".includes(event.key) && !target?.matches("input:not([type=range]), select")) {
      event.preventDefault();
      this.setSpeed(this.speed + ("+=".includes(event.key) ? 1 : -1));
    }
  }

  setSpeed(speed) {
    this.speed = Math.max(1, Math.min(speed, FASTEST));
    const pace = this.speed === FASTEST ? "maximum" : `${this.speed} a second`;
    this.find("[data-speed]").value = this.speed;
    this.find("[data-speed]").setAttribute("aria-valuetext", pace);
    this.find("[data-pace]").textContent = pace;
    remember("watch-speed", this.speed);
    this.view?.svg.classList.toggle("at-once", this.speed > 8);
    if (this.search) this.offer();
  }

  // The values of the fields, or null after saying what is wrong with them.
  #asked() {
    const board = { rows: Number(this.find("#rows").value), cols: Number(this.find("#cols").value), missing: null };
    const fits = (side) => Number.isInteger(side) && side >= SMALLEST && side <= LARGEST;
    if (!fits(board.rows) || !fits(board.cols)) {
      this.say(`A board has ${SMALLEST} to ${LARGEST} rows and columns.`, "bad");
      return null;
    }
    const name = this.find("#start").value.trim().toLowerCase();
    const start = Array.from({ length: board.rows * board.cols }, (_, square) => square)
      .find((square) => squareName(board, square) === name);
    if (start === undefined) {
      this.say(`This board has no square named ${name || "''"}.`, "bad");
      return null;
    }
    return { board, start, strategy: this.find("#strategy").value, variant: this.find("#variant").value };
  }

  reset() {
    this.pause();
    this.find("[data-offer]").hidden = true;
    const asked = this.#asked();
    for (const button of this.root.querySelectorAll('[data-do="run"], [data-do="step"]')) button.disabled = asked === null;
    if (asked === null) return;
    this.asked = asked;
    this.params = { size: `${asked.board.rows}x${asked.board.cols}`, strategy: asked.strategy, variant: asked.variant,
      start: squareName(asked.board, asked.start) };
    history.replaceState(null, "", `?${new URLSearchParams(this.params)}`);
    this.search = makeSearch(asked.board, asked.start, { ...asked, moves: this.moves });
    Object.assign(this, { answer: null, isAsked: false, ended: 0, milliseconds: 0, left: null });
    this.#makeView();
    this.find('[data-name="retreats"]').textContent = asked.strategy === "greedy" ? "started over" : "retreats";
    this.find('[data-do="run"]').textContent = "Start";
    this.say(`Ready to search from ${this.params.start}.`);
    this.show();
  }

  #makeView() {
    const { board } = this.asked;
    const hadFocus = this.find(".stage").contains(document.activeElement);
    this.view = new BoardView(this.find(".stage"), board, { onSquare: (square) => this.chooseStart(square),
      label: `Board of ${board.rows} rows and ${board.cols} columns; choose a square to start there` });
    this.view.svg.classList.toggle("at-once", this.speed > 8);
    this.ghost = document.createElementNS("http://www.w3.org/2000/svg", "path");
    this.ghost.setAttribute("class", "retreat");
    this.ghost.setAttribute("pointer-events", "none");
    this.view.line.after(this.ghost);
    if (hadFocus) this.view.focusSquare(this.asked.start);
  }

  chooseStart(square) {
    if (this.timer !== null) {
      this.say("Pause or reset the search to start from another square.");
      return;
    }
    this.find("#start").value = squareName(this.asked.board, square);
    this.reset();
  }

  get isEnded() {
    return this.search.state !== "searching";
  }

  run() {
    if (this.find('[data-do="run"]').disabled) return;
    if (this.isEnded) this.#goOn();
    this.#askReal();
    this.find('[data-do="run"]').textContent = "Pause";
    this.say(`Searching from ${this.params.start} …`);
    let before = performance.now();
    let owed = 0;
    const frame = (now) => {
      const passed = Math.min(now - before, 1000); // a hidden page catches up at most this much
      this.milliseconds += passed;
      owed += (passed / 1000) * this.speed;
      before = now;
      if (this.speed === FASTEST) this.#stepsFor(FRAME);
      else for (; owed >= 1 && !this.isEnded; owed -= 1) this.#step();
      if (this.speed === FASTEST) owed = 0;
      this.show();
      if (this.isEnded) this.end();
      else this.timer = requestAnimationFrame(frame);
    };
    this.timer = requestAnimationFrame(frame);
  }

  // After a tour that was found or given up: search for the next one.
  #goOn() {
    this.ended += 1;
    this.find("[data-offer]").hidden = true;
    this.#step();
  }

  #step() {
    const before = this.search.path.at(-1);
    const depth = this.search.path.length;
    this.search.step();
    this.left = this.search.path.length < depth ? before : null;
  }

  #stepsFor(milliseconds) {
    const end = performance.now() + milliseconds;
    while (!this.isEnded && performance.now() < end) for (let i = 0; i < 50 && !this.isEnded; i += 1) this.#step();
  }

  pause() {
    if (this.timer) {
      cancelAnimationFrame(this.timer);
      this.say(`Paused, ${this.search.path.length} squares on the board.`);
      this.find('[data-do="run"]').textContent = "Continue";
    }
    this.timer = null;
  }

  oneStep() {
    this.pause();
    if (this.find('[data-do="step"]').disabled) return;
    if (this.isEnded) this.#goOn();
    else this.#step();
    this.#askReal();
    const end = this.search.path.at(-1);
    const name = end === undefined ? "" : squareName(this.asked.board, end);
    this.say(this.left === null ? `Placed on ${name}.` : name ? `Back to ${name}.` : "Back to the start.");
    this.find('[data-do="run"]').textContent = "Continue";
    this.show();
    if (this.isEnded) this.end();
  }

  end() {
    this.timer = null;
    const { state } = this.search;
    const board = this.params.size;
    const words = {
      tour: () => `Found ${this.search.isClosed ? "a closed" : "an open"} tour of the ${board} board.`,
      none: () => (this.ended ? "There are no more tours from here." : `There is no ${this.#kind()}tour from ${this.params.start}: the search tried everything.`),
      "given up": () => "Gave up after five dead ends. 'Next tour' tries again with other random choices.",
    }[state];
    this.say(words(), state === "tour" ? "won" : "bad");
    this.find('[data-do="run"]').textContent = "Next tour";
    for (const button of this.root.querySelectorAll('[data-do="run"], [data-do="step"]')) button.disabled = state === "none";
    this.find("[data-offer]").hidden = true;
    this.show();
  }

  #kind() {
    return this.asked.variant === "both" ? "" : `${this.asked.variant} `;
  }

  say(words, kind = "") {
    const said = this.find("[data-said]");
    said.textContent = words;
    said.className = `status ${kind}`;
  }

  show() {
    const { search } = this;
    const isTour = search.state === "tour";
    this.view.show({ path: search.path, closed: isTour && search.isClosed, knight: !isTour,
      hint: search.path.length === 0 && search.state === "searching" ? this.asked.start : null });
    this.#showRetreat();
    const facts = { placements: shownNumber(search.placements), retreats: shownNumber(search.retreats),
      depth: `${search.path.length} of ${this.asked.board.rows * this.asked.board.cols}`,
      time: `${(this.milliseconds / 1000).toFixed(1)} s` };
    for (const [name, text] of Object.entries(facts)) this.find(`[data-fact="${name}"]`).textContent = text;
  }

  #showRetreat() {
    const end = this.search.path.at(-1);
    if (this.left === null || end === undefined) this.ghost.removeAttribute("d");
    else this.ghost.setAttribute("d", `M${this.view.centre(end).join(",")}L${this.view.centre(this.left).join(",")}`);
  }

  // Ask the real search once, when the display begins.
  async #askReal() {
    if (this.isAsked) return;
    this.isAsked = true;
    const { search } = this;
    try {
      const answer = await ask("/watch/answer.json", this.params);
      if (search !== this.search) return;
      this.answer = answer;
      this.offer();
    } catch { /* the display continues without it */ }
  }

  // Offer to skip to the result of the real search, if the display would take long.
  offer() {
    const { answer } = this;
    const box = this.find("[data-offer]");
    box.hidden = true;
    const isIdle = this.ended > 0 || this.isEnded || this.find('[data-do="run"]').disabled;
    if (!answer || answer.state === "unknown" || isIdle) return;
    const seconds = answer.iterations === null ? null : this.#stepsLeft() / (this.speed === FASTEST ? 500_000 : this.speed);
    if (seconds !== null && seconds < WORTH) return;
    const found = { found: "found a tour", none: "tried everything: there is no tour", "given up": "gave up" }[answer.state];
    const after = answer.iterations === null ? "" : ` after ${shownNumber(answer.iterations)} placements`;
    const took = answer.seconds < 0.01 ? "less than 0.01" : answer.seconds.toFixed(2);
    const rest = seconds === null ? "The display would take far longer." : `The display would take about ${shownTime(seconds)}.`;
    this.find("[data-offer-said]").textContent = `The server's search ${found}${after}, in ${took} s. ${rest}`;
    box.hidden = false;
  }

  // A placement and a retreat are a step each; every placement that is not on the board at the end was taken back.
  #stepsLeft() {
    const { iterations, tour } = this.answer;
    const retreats = this.asked.strategy === "greedy" ? 0 : iterations - (tour?.length ?? 0);
    return iterations + retreats - this.search.placements - this.search.retreats;
  }

  skip() {
    this.pause();
    this.search.skipTo(this.answer);
    this.left = null;
    this.end();
    this.find('[data-do="run"]').focus();
  }
}

new Watcher(document.getElementById("watch"));
