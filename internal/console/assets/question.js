// A question of the bot: what it would do, and the buttons that answer. It never takes the focus, so that no key that
// was meant for the message field says yes.

import { render } from "./markdown.js";
import { make, word } from "./words.js";

const QUIET_MS = 700; // a click that comes sooner was aimed at what stood there before

export class Question {
  // answer sends an option's id, and throws when it was not taken.
  constructor({ text, options }, when, answer) {
    this.words = make("div", { class: "words", dir: "auto" }, render(text));
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.buttons = options.map(({ optionId, label }) => {
      const button = make("button", { type: "button", class: "quiet" }, label);
      button.addEventListener("click", () => this.press(() => answer(optionId)));
      return button;
    });
    this.row = make("div", { class: "answers", role: "group", "aria-label": word("yourAnswer") }, ...this.buttons);
    this.parts = [this.words, this.row, this.error];
    if (Date.now() - when < QUIET_MS) {
      this.enable(false);
      setTimeout(() => this.enable(true), QUIET_MS);
    }
  }

  enable(on) { for (const button of this.buttons) button.disabled = !on; }

  async press(send) {
    this.enable(false);
    this.error.hidden = true;
    try {
      await send();
    } catch (error) {
      this.error.textContent = word("notSent", { why: error.message });
      this.error.hidden = false;
      this.enable(true);
    }
  }

  // close shows how it ended.
  close(text) {
    this.words.replaceChildren(render(text));
    this.row.remove();
    this.error.remove();
  }
}
