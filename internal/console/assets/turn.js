// The quiet line above the composer: that a turn runs, which tools it uses, for how long, and how to stop it.

import { make, word } from "./words.js";

const SHOW_SECONDS_FROM = 5;

export class TurnLine {
  constructor(line, stop) {
    this.line = line;
    this.doing = line.querySelector(".doing");
    this.used = line.querySelector(".tools");
    this.took = line.querySelector(".took");
    this.button = line.querySelector("button");
    this.button.addEventListener("click", () => {
      this.button.disabled = true;
      this.button.textContent = word("stopping");
      stop();
    });
    this.clear();
  }

  clear() {
    this.turns = new Map(); // by turn id
    this.show();
  }

  see({ type, at, data }) {
    const turn = this.turns.get(data.turnId);
    switch (type) {
      case "turn.started": this.turns.set(data.turnId, { began: new Date(at), tools: [], running: [], asked: new Set() }); break;
      case "actions.requested": turn?.running.push(data.tool); break;
      case "action.result": if (turn) result(turn, data); break;
      case "input.requested": turn?.asked.add(data.requestId); break;
      case "input.completed": for (const { asked } of this.turns.values()) asked.delete(data.requestId); break;
      case "turn.completed":
      case "turn.failed":
      case "turn.cancelled": this.turns.delete(data.turnId); break;
      case "session.waiting": this.turns.clear(); break;
      default: return;
    }
  }

  // show draws the line as things stand now.
  show() {
    const turn = this.turns.values().next().value;
    this.line.hidden = !turn;
    if (!turn) {
      clearInterval(this.tick);
      this.tick = undefined;
      this.resume();
      return;
    }
    const tool = turn.running.at(-1);
    const mark = "\u0000"; // stands for the tool's name, so that it can be set as code
    const [before, after] = word("using", { tool: mark }).split(mark);
    const waits = turn.asked.size > 0 && word("waiting");
    const text = tool && !waits ? [before, make("code", {}, tool), after ?? ""] : [waits || word("thinking")];
    const said = waits || (tool ?? "");
    if (this.said !== said) this.doing.replaceChildren(...text);
    this.said = said;
    this.used.replaceChildren(...turn.tools.slice(-6).map(({ tool: name, ok }) =>
      make("span", { class: ok ? undefined : "failed" }, make("code", {}, name))));
    this.count(turn);
    this.tick ??= setInterval(() => this.count(this.turns.values().next().value), 1000);
  }

  count(turn) {
    if (!turn) return;
    const seconds = Math.floor((Date.now() - turn.began) / 1000);
    this.took.textContent = seconds >= SHOW_SECONDS_FROM ? word("seconds", { n: seconds }) : "";
  }

  // resume makes the stop button ready again.
  resume() {
    this.button.disabled = false;
    this.button.textContent = word("stop");
    this.said = undefined;
  }
}

function result(turn, { tool, ok }) {
  const at = turn.running.lastIndexOf(tool);
  if (at >= 0) turn.running.splice(at, 1);
  turn.tools.push({ tool, ok });
}
