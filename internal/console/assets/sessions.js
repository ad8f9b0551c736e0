// The list of conversations at the side, and the drawer that it is on a phone.

import { listSessions } from "./api.js";
import { full, make, shortly, word } from "./words.js";

export class Sessions {
  constructor({ list, side, menu, close, shade }) {
    Object.assign(this, { list, side, menu, shade });
    this.current = "";
    this.known = [];
    menu.addEventListener("click", () => this.open(true));
    close.addEventListener("click", () => this.open(false));
    shade.addEventListener("click", () => this.open(false));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && side.classList.contains("open")) this.open(false);
    });
    matchMedia("(max-width: 52rem)").addEventListener("change", () => this.open(false));
    list.addEventListener("click", (event) => { if (event.target.closest("a")) this.open(false); });
  }

  open(open) {
    const was = this.side.classList.contains("open");
    this.side.classList.toggle("open", open);
    this.shade.hidden = !open;
    document.querySelector("main").inert = open;
    this.menu.setAttribute("aria-expanded", String(open));
    if (open) this.side.querySelector("#close").focus();
    else if (was) this.menu.focus();
  }

  // load asks the bot for its sessions; what cannot be had now is had the next time.
  async load() {
    try { this.known = await listSessions(); } catch { return this.known; }
    this.show();
    return this.known;
  }

  point(session) {
    this.current = session;
    this.show();
  }

  title(session) { return this.known.find(({ id }) => id === session)?.title || word("untitled"); }

  show() {
    const same = JSON.stringify([this.known, this.current, new Date().toDateString()]);
    if (same === this.shown) return; // what has the focus keeps it
    this.shown = same;
    this.list.replaceChildren(...this.known.map(({ id, title, activeAt, busy }) => {
      const at = new Date(activeAt);
      return make("li", {}, make("a", { href: `#${id}`, class: busy ? "busy" : undefined, "aria-current": id === this.current ? "page" : undefined },
        make("span", { class: "what", dir: "auto" }, title || word("untitled")),
        make("time", { class: "when", datetime: activeAt, title: full(at) }, shortly(at))));
    }));
  }
}
