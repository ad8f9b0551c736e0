// The calls that the page makes. All are of the same origin; the cookie goes along by itself.

import { word } from "./words.js";

// Refused is an answer that is no success; status 0 means that nobody answered.
export class Refused extends Error {
  constructor(status, say, body = {}) {
    super(say);
    this.status = status;
    this.body = body;
  }
}

const CALL_MS = 40_000;

async function call(method, path, body) {
  const options = { method, cache: "no-store", signal: AbortSignal.timeout(CALL_MS) };
  if (body) {
    options.body = JSON.stringify(body);
    options.headers = { "Content-Type": "application/json" };
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused(0, word("noAnswer"));
  }
  return read(response);
}

// read returns the JSON of an answer, or throws what it refuses with.
export async function read(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  if (response.status === 401) document.dispatchEvent(new Event("signedout"));
  const known = { 403: "refused", 503: "busy" }[response.status];
  throw new Refused(response.status, known ? word(known) : body.error ?? String(response.status), body);
}

const session = (id) => `/v1/sessions/${encodeURIComponent(id)}`;

export const streamPath = (id, from) => `${session(id)}/stream?startIndex=${from}`;
export const loadState = () => call("GET", "/console/state");
export const loadLabels = () => call("GET", "/console/labels.json");
export const listSessions = async () => (await call("GET", "/v1/sessions")).sessions;
export const openSession = (message, id) => call("POST", "/v1/sessions", { message, id });
export const sendMessage = (to, message, id) => call("POST", session(to), { message, id });
export const answerQuestion = (of, requestId, optionId) => call("POST", session(of), { answers: [{ requestId, optionId }] });
export const cancelTurn = (of) => call("POST", `${session(of)}/cancel`);
export const listPeople = () => call("GET", "/console/people");
export const admit = (code) => call("POST", "/console/people/pair", { code });
export const listNotes = () => call("GET", "/console/notes");
export const admitNote = (session) => call("POST", "/console/notes/admit", { session });
export const rejectNote = (session) => call("POST", "/console/notes/reject", { session });
export const remove = (platform, id) => call("POST", "/console/people/unpair", { platform, id });

// newID names a message before it is sent, so that sending it twice is hearing it once.
export function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
