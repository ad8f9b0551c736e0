// Notes that wait: the owner reads what the bot wrote about things that it read somewhere, lets it in or throws it away.

import { admitNote, listNotes, rejectNote } from "./api.js";
import { full, make, shortly, word } from "./words.js";

const $ = (id) => document.getElementById(id);

export class Notes {
  constructor() {
    this.box = $("drafts");
    $("notes").addEventListener("click", () => this.open());
    $("draftsClose").addEventListener("click", () => this.box.close());
    this.box.addEventListener("click", (event) => { if (event.target === this.box) this.box.close(); });
  }

  // offer shows the way here, where there is anything to see.
  offer(there) { $("notes").hidden = !there; }

  async open() {
    this.tell("");
    this.box.showModal();
    await this.load();
  }

  async load() {
    try {
      this.show(await listNotes());
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  show({ notes }) {
    const rows = notes.map((one) => this.row(one));
    $("waiting").replaceChildren(...(rows.length ? rows : [make("li", {}, word("noNotes"))]));
  }

  // row is one draft. Everything in it was written under the sway of strangers, so that all of it is shown as plain text.
  row(one) {
    const at = new Date(one.date);
    const admit = make("button", { type: "button", class: "quiet" }, word("admitNote"));
    admit.addEventListener("click", () => this.do(admitNote, one, word("noteAdmitted", { name: one.name })));
    const reject = make("button", { type: "button", class: "quiet" }, word("rejectNote"));
    reject.addEventListener("click", () => this.reject(one, reject));
    const sources = one.sources.map((source) => make("li", {}, make("code", {}, source)));
    const files = one.files.flatMap((file) => [
      make("p", { class: "path" }, make("code", {}, file.path), file.adds ? ` ${word("noteAdds")}` : ""),
      make("pre", {}, file.text),
    ]);
    return make("li", {},
      make("details", {},
        make("summary", {}, make("span", { class: "who" }, one.name), make("time", { datetime: one.date, title: full(at) }, shortly(at))),
        make("p", { class: "soft" }, sources.length ? word("noteSources") : word("noteNoSources")),
        make("ul", { class: "sources" }, ...sources), ...files,
        make("div", { class: "choice" }, admit, reject)));
  }

  // reject asks once more, in the place of the button.
  async reject(one, button) {
    if (!button.dataset.asked) {
      button.dataset.asked = "yes";
      button.textContent = word("rejectSure");
      button.addEventListener("blur", () => {
        delete button.dataset.asked;
        button.textContent = word("rejectNote");
      }, { once: true });
      return;
    }
    await this.do(rejectNote, one, word("noteRejected", { name: one.name }));
  }

  async do(deed, one, told) {
    try {
      await deed(one.session);
      this.tell(told);
    } catch (error) {
      this.tell(error.message, true);
    }
    await this.load();
    $("draftsClose").focus();
  }

  tell(text, failed = false) {
    $("reviewed").textContent = text;
    $("reviewed").classList.toggle("failed", failed);
  }
}
