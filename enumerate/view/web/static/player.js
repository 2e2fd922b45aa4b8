// Plays a tour: play, pause, step, back, at 1 to 60 squares a second or at once, also by keyboard.
// The address holds its move and speed, so a link leads back to them.
import { BoardView, squareName } from "./board.js";

const AT_ONCE = 61; // the last value of the speed slider

class Player {
  constructor(root) {
    this.root = root;
    this.load(JSON.parse(root.dataset.board), JSON.parse(root.dataset.squares), JSON.parse(root.dataset.closed));
    this.find("[data-move]").addEventListener("input", (event) => this.goTo(Number(event.target.value)));
    this.find("[data-speed]").addEventListener("input", (event) => this.setSpeed(Number(event.target.value)));
    for (const button of root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.perform(button.dataset.do));
    }
    document.addEventListener("keydown", (event) => this.hear(event));
    this.find(".controls").hidden = false;
    this.recall();
    addEventListener("hashchange", () => this.recall());
  }

  find(what) {
    return this.root.querySelector(what);
  }

  // Load another tour into the same player.
  load(board, squares, closed) {
    this.pause?.();
    Object.assign(this, { board, squares, closed, move: squares.length, timer: null });
    const kind = closed ? "Closed" : "Open";
    const label = `${kind} knight's tour of the ${board.rows}x${board.cols} board from ${squareName(board, squares[0])}`;
    this.view = new BoardView(this.find(".stage"), board, { label });
    this.find("[data-move]").max = squares.length;
    this.show();
  }

  perform(name) {
    ({
      first: () => this.goTo(1),
      back: () => this.goTo(this.move - 1),
      play: () => (this.timer === null ? this.play() : this.stop()),
      step: () => this.goTo(this.move + 1),
      last: () => this.goTo(this.squares.length),
    })[name]();
  }

  hear(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const target = event.target.closest?.("input, select, textarea, button, a, summary");
    const isField = target?.matches("input, select, textarea");
    const action = { ArrowLeft: "back", ArrowRight: "step", Home: "first", End: "last", " ": "play" }[event.key];
    if (action && !isField && !(event.key === " " && target)) {
      event.preventDefault();
      this.perform(action);
    } else if ("+-−=".includes(event.key) && !target?.matches("select, textarea")) {
      event.preventDefault();
      this.setSpeed(this.speed + ("+=".includes(event.key) ? 1 : -1));
    }
  }

  play() {
    if (this.move >= this.squares.length) this.move = 1;
    if (this.speed >= AT_ONCE) {
      this.goTo(this.squares.length);
      return;
    }
    this.show();
    this.find('[data-do="play"]').textContent = "Pause";
    let before = performance.now();
    let owed = 0;
    const frame = (now) => {
      owed += ((now - before) / 1000) * this.speed;
      before = now;
      const steps = this.speed >= AT_ONCE ? this.squares.length : Math.floor(owed);
      owed -= Math.floor(owed);
      if (steps > 0) {
        this.move = Math.min(this.move + steps, this.squares.length);
        this.show();
      }
      if (this.move >= this.squares.length) this.stop();
      else this.timer = requestAnimationFrame(frame);
    };
    this.timer = requestAnimationFrame(frame);
  }

  pause() {
    if (this.timer !== null && this.timer !== undefined) cancelAnimationFrame(this.timer);
    this.timer = null;
    this.find('[data-do="play"]').textContent = "Play";
  }

  stop() {
    this.pause();
    this.say();
    this.remember();
  }

  goTo(move) {
    this.move = Math.max(1, Math.min(move, this.squares.length));
    this.show();
    this.stop();
  }

  setSpeed(speed) {
    this.showSpeed(speed);
    this.remember();
  }

  showSpeed(speed) {
    this.speed = Math.max(1, Math.min(speed, AT_ONCE));
    this.find("[data-speed]").value = this.speed;
    const pace = this.speed === AT_ONCE ? "at once" : `${this.speed} a second`;
    this.find("[data-pace]").textContent = pace;
    this.find("[data-speed]").setAttribute("aria-valuetext", pace);
  }

  show() {
    const whole = this.move === this.squares.length;
    this.view.svg.classList.toggle("at-once", this.speed > 8);
    this.view.show({ path: this.squares.slice(0, this.move), length: this.squares.length, closed: this.closed && whole,
      knight: !whole });
    const place = `${this.move} of ${this.squares.length}, ${squareName(this.board, this.squares[this.move - 1])}`;
    this.find("[data-shown]").textContent = place;
    this.find("[data-move]").value = this.move;
    this.find("[data-move]").setAttribute("aria-valuetext", place);
  }

  // For screen readers, and only when the knight stands still: nobody can listen to sixty squares a second.
  say() {
    this.find("[data-said]").textContent = `square ${this.find("[data-shown]").textContent}`;
  }

  remember() {
    const state = new URLSearchParams({ move: this.move, speed: this.speed });
    history.replaceState(null, "", `#${state}`);
  }

  recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    const number = (name, otherwise) => (/^\d{1,9}$/.test(state.get(name) ?? "") ? Number(state.get(name)) : otherwise);
    this.pause();
    this.showSpeed(number("speed", this.speed ?? 6));
    this.move = Math.max(1, Math.min(number("move", this.squares.length), this.squares.length));
    this.show();
  }
}

const players = [...document.querySelectorAll("[data-player]")].map((root) => new Player(root));

// Pictures of a gallery load their tour into the player of the page.
for (const button of players.length ? document.querySelectorAll("[data-load]") : []) {
  button.addEventListener("click", () => {
    players[0].load(players[0].board, JSON.parse(button.dataset.squares), JSON.parse(button.dataset.closed));
    players[0].goTo(1);
    players[0].root.scrollIntoView({ block: "nearest" });
    players[0].find('[data-do="play"]').focus({ preventScroll: true });
  });
}
