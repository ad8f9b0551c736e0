// The field to write in, and the list of commands that opens above it.

import { make } from "./words.js";

const DRAFT = "draft";

export class Composer {
  constructor({ form, field, button, offers, send }) {
    Object.assign(this, { form, field, button, offers, deliver: send });
    this.commands = [];
    this.shown = [];
    this.at = 0;
    field.value = sessionStorage.getItem(DRAFT) ?? "";
    form.addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    field.addEventListener("input", () => this.changed());
    field.addEventListener("keydown", (event) => this.pressed(event));
    // Some keyboards send the line break apart from the key that was taken already.
    field.addEventListener("beforeinput", (event) => { if (this.sent && event.inputType === "insertLineBreak") event.preventDefault(); });
    field.addEventListener("keyup", () => { this.sent = false; });
    field.addEventListener("blur", () => this.close());
    offers.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const item = event.target.closest("li");
      if (item) this.take([...offers.children].indexOf(item));
    });
    this.fit();
  }

  submit() {
    const text = this.field.value.replace(/^\s*\n|\s+$/g, "");
    if (text === "") return;
    this.set("");
    this.deliver(text);
  }

  // set replaces the text and puts the cursor behind it.
  set(text) {
    this.field.value = text;
    this.field.setSelectionRange(text.length, text.length);
    this.fit();
    this.close();
  }

  changed() {
    this.fit();
    this.offer();
  }

  // fit makes the field as high as its text; the style sheet bounds it.
  fit() {
    const { field } = this;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
    this.button.disabled = field.value.trim() === "";
    if (field.value) sessionStorage.setItem(DRAFT, field.value);
    else sessionStorage.removeItem(DRAFT);
  }

  pressed(event) {
    // While an input method composes, Enter takes its suggestion. Safari says so by the key code alone.
    if (event.isComposing || event.keyCode === 229) return;
    if (this.shown.length > 0 && this.steer(event)) {
      event.preventDefault();
      this.sent = event.key === "Enter";
      return;
    }
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.sent = true;
    this.submit();
  }

  // steer moves in the open list and says whether the key was for it. Enter on a command that is written out sends.
  steer({ key, shiftKey }) {
    const count = this.shown.length;
    switch (key) {
      case "ArrowDown": this.point((this.at + 1) % count); return true;
      case "ArrowUp": this.point((this.at + count - 1) % count); return true;
      case "Escape": this.close(); return true;
      case "Tab": if (!shiftKey) this.take(this.at); return !shiftKey;
      case "Enter":
        if (shiftKey || this.field.value.trim() === this.shown[this.at].name) return false;
        this.take(this.at);
        return true;
    }
    return false;
  }

  // offer opens the list while the text is the beginning of a command.
  offer() {
    const typed = this.field.value;
    this.shown = /^\/\S*$/.test(typed)
      ? this.commands.filter(({ name }) => name.startsWith(typed.toLowerCase())) : [];
    this.offers.replaceChildren(...this.shown.map(({ name, args, help }, n) =>
      make("li", { role: "option", id: `offer-${n}` },
        make("code", {}, name, make("span", {}, args ? ` ${args}` : "")), make("small", {}, help))));
    this.offers.hidden = this.shown.length === 0;
    this.field.setAttribute("aria-expanded", String(this.shown.length > 0));
    if (this.shown.length > 0) this.point(0);
    else this.field.removeAttribute("aria-activedescendant");
  }

  point(at) {
    this.at = at;
    [...this.offers.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === at)));
    this.offers.children[at].scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", `offer-${at}`);
  }

  take(at) {
    const { name, args } = this.shown[at];
    this.set(args ? `${name} ` : name);
    this.field.focus();
  }

  close() {
    this.shown = [];
    this.offers.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
  }
}
