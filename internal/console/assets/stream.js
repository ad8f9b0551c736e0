// Following a session's stream: line by line, and from where it broke off when it did.

import { Refused, read, streamPath } from "./api.js";

const SILENT_MS = 40_000; // the bot sends an empty line every 15 s: after this the connection is dead
const LONGEST_WAIT_MS = 15_000;

// follow calls see with each bunch of events from an index on, and tell with "live", "lost" or "offline". It ends
// when signal does, and throws when the stream is refused for good.
export async function follow({ session, from, see, tell, signal }) {
  let next = from;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await once(session, next, signal, (events) => {
        failures = 0;
        if (events.length === 0) return;
        next = events[events.length - 1].index + 1;
        see(events);
      }, () => tell("live"));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status === 410) next = error.body.firstIndex ?? 0;
      else if (error instanceof Refused && error.status >= 400 && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    tell(navigator.onLine ? "lost" : "offline");
    await pause(Math.min(500 * 2 ** failures, LONGEST_WAIT_MS) * (0.75 + Math.random() / 2), signal);
  }
}

// readUntil reads the events with from <= index < to and returns them.
export async function readUntil(session, from, to) {
  const stop = new AbortController();
  const all = [];
  try {
    await once(session, from, stop.signal, (events) => {
      all.push(...events.filter((event) => event.index < to));
      if (events.some((event) => event.index >= to)) stop.abort();
    }, () => {});
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return all;
}

// once reads one connection to its end.
async function once(session, from, signal, see, up) {
  const silent = new AbortController();
  let watch = setTimeout(() => silent.abort(), SILENT_MS);
  try {
    const response = await fetch(streamPath(session, from),
      { cache: "no-store", signal: AbortSignal.any([signal, silent.signal]) });
    if (!response.ok) await read(response);
    up();
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => silent.abort(), SILENT_MS);
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop();
      see(lines.filter((line) => line !== "").map((line) => JSON.parse(line)));
    }
  } finally {
    clearTimeout(watch);
  }
}

// pause waits, but no longer than until the network or the page is back.
function pause(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      document.removeEventListener("visibilitychange", seen);
      signal.removeEventListener("abort", end);
      done();
    };
    const seen = () => { if (!document.hidden) end(); };
    const timer = setTimeout(end, ms);
    window.addEventListener("online", end);
    document.addEventListener("visibilitychange", seen);
    signal.addEventListener("abort", end);
  });
}
