// The list of messages: what the events of a session look like.

import { render } from "./markdown.js";
import { Question } from "./question.js";
import { clock, dayKey, dayName, full, make, quoted, word } from "./words.js";

export class Log {
  // answer sends the answer to a question of the bot.
  constructor(list, name, answer) {
    this.list = list;
    this.name = name;
    this.answer = answer;
    this.clear();
  }

  clear() {
    this.list.replaceChildren();
    this.messages = new Map(); // by message id
    this.pending = new Map(); // what was sent and is not on the stream yet, by our own id
    this.day = "";
    this.lastMine = "";
  }

  get isEmpty() { return this.list.childElementCount === 0; }

  // see shows one event. Types that it does not know are not for people.
  see({ type, at, data }) {
    const when = new Date(at);
    switch (type) {
      case "message.received": return this.received(data, when);
      case "message.completed": return this.completed(data, when);
      case "message.files": return this.filed(data, when);
      case "message.updated": return this.updated(data);
      case "message.deleted": return this.deleted(data);
      case "message.reacted": return this.reacted(data);
      case "input.requested": return this.requested(data, when);
      case "input.completed": return this.messages.get(data.requestId)?.question?.close(data.text);
      case "turn.failed": return this.failedTurn(data, when);
      case "turn.cancelled": return this.note(word("turnCancelled"), "", when);
    }
  }

  received({ messageId, text }, when) {
    this.settleOne(messageId, text);
    const body = make("div", { class: "body", dir: "auto" }, text);
    const shown = this.add("mine", when, make("span", { class: "unseen" }, word("you")), body,
      make("div", { class: "meta" }, time(when)));
    this.messages.set(messageId, { ...shown, text });
    this.lastMine = messageId;
  }

  completed({ messageId, text, replyTo }, when) {
    const body = make("div", { class: "words", dir: "auto" }, render(text));
    const meta = make("div", { class: "meta" }, make("b", { dir: "auto" }, this.name), time(when));
    const shown = this.add("theirs", when, meta);
    const answered = replyTo !== this.lastMine && this.messages.get(replyTo);
    if (answered) shown.item.append(make("span", { class: "quote" }, answered.text.slice(0, 200)));
    shown.item.append(body);
    if (text === "") this.empty(body);
    this.messages.set(messageId, { ...shown, body, meta, text });
  }

  filed({ messageId, text, files }, when) {
    const meta = make("div", { class: "meta" }, make("b", { dir: "auto" }, this.name), time(when));
    const body = make("div", { class: "words", dir: "auto" }, ...(text ? [render(text)] : []));
    for (const { name, size, path } of files) {
      body.append(make("p", {}, make("a", { href: path, download: name }, `📄 ${name}`), ` ${Math.ceil(size / 1024)} KiB`));
    }
    this.messages.set(messageId, { ...this.add("theirs", when, meta, body), meta, text: text ?? "" });
  }

  requested({ requestId, text, options }, when) {
    const meta = make("div", { class: "meta" }, make("b", { dir: "auto" }, this.name), time(when));
    const question = new Question({ text, options }, when, (option) => this.answer(requestId, option));
    const shown = this.add("theirs question", when, meta, ...question.parts);
    this.messages.set(requestId, { ...shown, question, text });
  }

  updated({ messageId, text }) {
    const shown = this.messages.get(messageId);
    if (!shown?.body || text === "") return;
    shown.text = text;
    shown.body.replaceChildren(render(text));
    if (!shown.edited) shown.meta.append(` · ${word("edited")}`);
    shown.edited = true;
  }

  deleted({ messageId }) {
    const shown = this.messages.get(messageId);
    if (shown?.body) this.empty(shown.body);
  }

  empty(body) { body.replaceChildren(make("p", { class: "gone" }, word("deleted"))); }

  reacted({ messageId, emoji }) {
    const shown = this.messages.get(messageId);
    if (!shown) return;
    if (!shown.reactions) {
      shown.reactions = make("div", { class: "reactions" });
      shown.item.append(shown.reactions);
    }
    shown.reactions.append(make("span", {}, emoji));
  }

  // failedTurn says why, where the bot tells it: the person was told already that there is no answer.
  failedTurn({ reason, next }, when) {
    const why = [reason && make("span", { class: "why" }, reason), next && make("span", { class: "next" }, ...quoted(next))];
    this.note(word("turnFailed"), "failed", when, ...why.filter(Boolean));
  }

  note(text, kind, when, ...more) {
    this.separate(when);
    this.place(make("li", { class: `note ${kind}` }, text, ...more));
  }

  add(side, when, ...children) {
    this.separate(when);
    const item = make("li", { class: `message ${side}` }, ...children);
    this.place(item);
    return { item };
  }

  // place puts an item below the others and above what is still being sent.
  place(item) {
    const waiting = this.pending.values().next().value;
    this.list.insertBefore(item, waiting?.item ?? null);
  }

  separate(when) {
    const day = dayKey(when);
    if (day === this.day) return;
    this.day = day;
    this.place(make("li", { class: "day" }, dayName(when)));
  }

  // send shows a message that is on its way.
  send(id, text) {
    const meta = make("div", { class: "meta" }, word("sending"));
    const item = make("li", { class: "message mine pending" }, make("div", { class: "body", dir: "auto" }, text), meta);
    this.list.append(item);
    this.pending.set(id, { item, meta, text });
  }

  // sent says under which name the bot knows it; the stream shows the message itself.
  sent(id, messageId) {
    const waiting = this.pending.get(id);
    if (!waiting) return;
    waiting.messageId = messageId;
    // A duplicate has no name: then the stream shows it already.
    if (!messageId || this.messages.has(messageId)) this.drop(id);
  }

  failed(id, why, again, away) {
    const waiting = this.pending.get(id);
    if (!waiting) return;
    waiting.item.classList.add("failed");
    const button = (label, act) => {
      const made = make("button", { type: "button" }, word(label));
      made.addEventListener("click", act);
      return made;
    };
    waiting.meta.replaceChildren(make("span", { class: "error", role: "alert" }, word("notSent", { why })),
      button("retry", () => {
        waiting.item.classList.remove("failed");
        waiting.meta.replaceChildren(word("sending"));
        again();
      }),
      button("discard", () => { this.drop(id); away(); }));
  }

  drop(id) {
    this.pending.get(id)?.item.remove();
    this.pending.delete(id);
  }

  // settleOne takes away the waiting message that the stream now shows: by its name, or by its words when the
  // stream was faster than the answer.
  settleOne(messageId, text) {
    const waiting = [...this.pending];
    const found = waiting.find(([, w]) => w.messageId === messageId) ??
      waiting.find(([, w]) => !w.messageId && w.text === text);
    if (found) this.drop(found[0]);
  }
}

const time = (when) => make("time", { datetime: when.toISOString(), title: full(when) }, clock(when));
