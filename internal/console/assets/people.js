// Who is admitted: the owner gives back a code that somebody brought, and removes people again.

import { admit, listPeople, remove } from "./api.js";
import { full, make, shortly, word } from "./words.js";

const $ = (id) => document.getElementById(id);

export class People {
  constructor() {
    this.box = $("admitted");
    $("people").addEventListener("click", () => this.open());
    $("admittedClose").addEventListener("click", () => this.box.close());
    this.box.addEventListener("click", (event) => { if (event.target === this.box) this.box.close(); });
    $("pair").addEventListener("submit", (event) => {
      event.preventDefault();
      this.pair();
    });
  }

  // offer shows the way here, where there is anything to see.
  offer(there) { $("people").hidden = !there; }

  async open() {
    this.tell("");
    this.box.showModal();
    await this.load();
    if (!$("pair").hidden) $("code").focus();
  }

  async load() {
    try {
      this.show(await listPeople());
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  show({ pairing, waiting, people }) {
    $("pair").hidden = !pairing;
    $("codes").textContent = waiting ? word("codesWaiting", { n: waiting }) : "";
    const rows = people.map((one) => {
      const at = new Date(one.at);
      const button = make("button", { type: "button", class: "quiet" }, word("remove"));
      button.addEventListener("click", () => this.remove(one, button));
      return make("li", {},
        make("span", { class: "who" }, make("bdi", {}, one.name ?? ""), one.name ? " " : "", make("code", {}, `${one.platform}/${one.id}`)),
        make("time", { datetime: one.at, title: full(at) }, shortly(at)), button);
    });
    $("known").replaceChildren(...(rows.length ? rows : [make("li", {}, word("nobodyAdmitted"))]));
  }

  async pair() {
    const field = $("code");
    const button = $("pair").querySelector("button");
    button.disabled = true;
    try {
      const one = await admit(field.value);
      field.value = "";
      this.tell(word("admitted", { name: one.name || one.id }));
      await this.load();
    } catch (error) {
      this.tell(error.status === 404 ? word("codeUnknown") : error.status === 429 ? word("codeTooMany") : error.message, true);
      field.select();
    } finally {
      button.disabled = false;
      field.focus();
    }
  }

  // remove asks once more, in the place of the button.
  async remove(one, button) {
    if (!button.dataset.asked) {
      button.dataset.asked = "yes";
      button.textContent = word("removeSure");
      button.addEventListener("blur", () => {
        delete button.dataset.asked;
        button.textContent = word("remove");
      }, { once: true });
      return;
    }
    try {
      await remove(one.platform, one.id);
      this.tell(word("removed", { name: one.name || one.id }));
    } catch (error) {
      this.tell(error.message, true);
    }
    await this.load();
    $("admittedClose").focus();
  }

  tell(text, failed = false) {
    $("paired").textContent = text;
    $("paired").classList.toggle("failed", failed);
  }
}
