// The page: it ties the list of conversations, the messages, the turn line and the composer to the bot's routes.

import { Refused, answerQuestion, cancelTurn, loadLabels, loadState, newID, openSession, sendMessage } from "./api.js";
import { Composer } from "./composer.js";
import { Log } from "./log.js";
import { Notes } from "./notes.js";
import { People } from "./people.js";
import { Sessions } from "./sessions.js";
import { follow, readUntil } from "./stream.js";
import { TurnLine } from "./turn.js";
import { make, quoted, useLabels, word } from "./words.js";

const PAGE = 400; // events that are read at once
const NEAR = 90; // pixels from the bottom that still count as being there
const STATE_MS = 20_000;

const $ = (id) => document.getElementById(id);

class Page {
  constructor(state) {
    this.view = { session: "" }; // the conversation that is shown; it gets its session with the first message
    this.sending = Promise.resolve();
    this.events = [];
    this.log = new Log($("log"), state.bot.name || state.bot.id,
      (request, option) => answerQuestion(this.session, request, option));
    this.turn = new TurnLine($("turn"), () => this.stop());
    this.sessions = new Sessions({ list: $("sessions"), side: $("side"), menu: $("menu"), close: $("close"), shade: $("shade") });
    this.composer = new Composer({ form: $("composer"), field: $("text"), button: $("send"), offers: $("offers"),
      send: (text) => this.send(text) });
    this.people = new People();
    this.notes = new Notes();
    this.useState(state);
    $("text").placeholder = word("placeholder", { name: this.log.name });
    $("text").setAttribute("aria-label", $("text").placeholder);
    $("fresh").addEventListener("click", () => this.fresh());
    $("earlier").addEventListener("click", () => this.earlier());
    $("jump").addEventListener("click", () => this.toBottom());
    this.low = true; // the end of the conversation is in view, and stays there when the view gets smaller
    $("scroll").addEventListener("scroll", () => {
      this.low = this.atBottom();
      if (this.low) $("jump").hidden = true;
    });
    new ResizeObserver(() => { if (this.low) this.toBottom(); }).observe($("scroll"));
    $("log").addEventListener("click", copyCode);
    window.addEventListener("hashchange", () => this.go(location.hash.slice(1)));
    window.addEventListener("offline", () => this.tell("offline"));
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.refresh(); });
    setInterval(() => { if (!document.hidden) this.refresh(); }, STATE_MS);
  }

  get session() { return this.view.session; }

  // begin shows the conversation that the address names, else the latest.
  async begin() {
    const known = await this.sessions.load();
    const asked = location.hash.slice(1);
    this.go(asked || known[0]?.id || "");
    $("text").focus();
  }

  async refresh() {
    try { this.useState(await loadState()); } catch { /* the stream tells that the bot is away */ }
    await this.sessions.load();
    this.entitle();
  }

  useState(state) {
    const same = JSON.stringify(state);
    if (same === this.state) return; // what has the focus keeps it
    this.state = same;
    const { bot, agent, commands } = state;
    this.composer.commands = commands;
    this.people.offer(state.people);
    this.notes.offer(state.notes);
    const thinks = [agent.name, agent.provider, agent.model || (agent.pending ? "" : word("ownModel"))].filter(Boolean).join(" · ");
    $("agent").textContent = agent.ready ? thinks : word("noAgent");
    $("agent").classList.toggle("ready", agent.ready);
    $("banner").hidden = agent.ready || !(agent.missing || agent.next);
    $("banner").replaceChildren(make("b", {}, ...quoted(agent.missing ?? "")), " ", ...quoted(agent.next ?? ""));
    $("empty").querySelector("h2").textContent = word("emptyTitle", { name: bot.name || bot.id });
    $("empty").querySelector(".goes").textContent = agent.ready ? word("goesTo", { agent: thinks }) : "";
    $("empty").querySelector(".starters").replaceChildren(...commands.slice(0, 4).map(({ name, args, help }) => {
      const button = make("button", { type: "button", title: help }, make("code", {}, name));
      button.addEventListener("click", () => {
        this.composer.set(args ? `${name} ` : name);
        $("text").focus();
      });
      return make("li", {}, button);
    }));
  }

  fresh() {
    this.sessions.open(false);
    history.pushState(null, "", "#");
    this.go("");
    $("text").focus();
  }

  // go shows a session from its latest events on; "" is one that does not exist yet.
  go(session) {
    if (session && session === this.session) return;
    this.leave?.abort();
    this.view = { session };
    this.events = [];
    this.oldest = undefined;
    this.log.clear();
    $("log").setAttribute("aria-busy", String(session !== "")); // history is not read out
    this.turn.clear();
    $("earlier").hidden = true;
    $("jump").hidden = true;
    this.tell("live");
    this.sessions.point(session);
    this.entitle();
    $("empty").hidden = session !== "";
    if (!session) return;
    history.replaceState(null, "", `#${session}`);
    this.follow(session, -PAGE);
  }

  async follow(session, from) {
    this.leave = new AbortController();
    const { signal } = this.leave;
    try {
      await follow({ session, from, signal, see: (events) => this.see(events), tell: (link) => this.tell(link) });
    } catch (error) {
      if (signal.aborted || !(error instanceof Refused)) throw error;
      if (error.status === 404) this.log.note(word("gone"), "", new Date());
      this.tell("live");
    }
  }

  see(events) {
    const stay = this.events.length === 0 || this.low;
    this.events.push(...events);
    for (const event of events) {
      this.log.see(event);
      this.turn.see(event);
    }
    this.turn.show();
    $("log").setAttribute("aria-busy", "false");
    $("earlier").hidden = this.events[0].index === 0 || this.events[0].index === this.oldest;
    if (stay) this.toBottom();
    else if (events.some(({ type }) => type === "message.completed" || type === "input.requested")) $("jump").hidden = false;
    if (events.some(({ type }) => type === "session.waiting" || type === "turn.started" || type === "message.received")) {
      this.sessions.load().then(() => this.entitle());
    }
  }

  // earlier reads the events before the first that is shown.
  async earlier() {
    const { session } = this;
    const first = this.events[0].index;
    $("earlier").disabled = true;
    try {
      const before = await this.before(session, Math.max(first - PAGE, 0), first);
      if (session !== this.session) return;
      if (before.length === 0) this.oldest = first;
      this.rebuild([...before, ...this.events]);
    } catch { /* the button stays, to try again */ } finally {
      $("earlier").disabled = false;
    }
  }

  async before(session, from, to) {
    try {
      return await readUntil(session, from, to);
    } catch (error) {
      if (error.status !== 410) throw error;
      const kept = error.body.firstIndex ?? to;
      return kept < to ? readUntil(session, kept, to) : [];
    }
  }

  // rebuild shows all events anew and keeps what is seen where it is.
  rebuild(events) {
    const { scrollHeight, scrollTop } = $("scroll");
    const waiting = [...this.log.pending];
    this.log.clear();
    this.turn.clear();
    this.events = [];
    this.see(events);
    for (const [id, { text }] of waiting) this.log.send(id, text);
    $("scroll").scrollTop = scrollTop + $("scroll").scrollHeight - scrollHeight;
  }

  send(text) {
    const id = newID();
    $("empty").hidden = true;
    this.log.send(id, text);
    this.toBottom();
    this.queue(id, text, this.view);
  }

  // queue sends one message after the other, so that they arrive as they were written.
  queue(id, text, view) {
    this.sending = this.sending.then(() => this.deliver(id, text, view));
  }

  async deliver(id, text, view) {
    try {
      const opens = view.session === "";
      const answer = opens ? await openSession(text, id) : await sendMessage(view.session, text, id);
      this.log.sent(id, answer.messageId);
      if (!opens) return;
      view.session = answer.sessionId;
      if (view === this.view) this.enter();
    } catch (error) {
      this.log.failed(id, error.message, () => this.queue(id, text, view), () => {
        if (this.composer.field.value === "") this.composer.set(text);
        $("empty").hidden = this.session !== "" || !this.log.isEmpty;
      });
    }
  }

  // enter makes the session that was just opened the one that is shown; what was sent stays in view.
  enter() {
    history.replaceState(null, "", `#${this.session}`);
    this.sessions.point(this.session);
    this.follow(this.session, 0);
  }

  async stop() {
    try {
      await cancelTurn(this.session);
    } catch {
      this.turn.resume();
    }
  }

  tell(link) {
    $("link").textContent = link === "live" ? "" : word(link === "offline" ? "offline" : "reconnecting");
  }

  entitle() {
    const title = this.session ? this.sessions.title(this.session) : word("newConversation");
    $("title").textContent = title;
    document.title = `${title} · ${this.log.name}`;
  }

  atBottom() {
    const { scrollHeight, scrollTop, clientHeight } = $("scroll");
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  toBottom() {
    this.low = true;
    $("scroll").scrollTop = $("scroll").scrollHeight;
    $("jump").hidden = true;
  }
}

async function copyCode(event) {
  const button = event.target.closest(".copy");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.closest(".code").querySelector("pre").textContent);
    button.textContent = word("copied");
    setTimeout(() => { button.textContent = word("copy"); }, 1500);
  } catch { /* no permission: the text can still be selected */ }
}

function notice(text) {
  $("banner").replaceChildren(...quoted(text));
  $("banner").hidden = false;
}

document.addEventListener("signedout", () => notice(word("signedOut")));

try {
  const [labels, state] = await Promise.all([loadLabels(), loadState()]);
  useLabels(labels);
  await new Page(state).begin();
} catch (error) {
  console.error(error);
  notice($("banner").dataset.failed);
}
