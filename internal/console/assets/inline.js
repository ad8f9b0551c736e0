// The marks inside a line: code, emphasis, links. A scan from left to right; each closing mark is looked for at
// most once in vain, so that no text is slow.

import { make } from "./words.js";

const DEEPEST = 6;
const PLAIN = /[^\\`*_~[h<]+/y;
const ADDRESS = /https?:\/\/[^\s<>"'`\uff0c\u3002\uff1b\uff1a\uff01\uff1f\u3001\uff08\uff09\u300c\u300d\u300e\u300f\u300a\u300b\u3010\u3011]+/y; // Chinese punctuation ends it too
const PAIRS = [["**", "strong"], ["__", "strong"], ["~~", "s"], ["*", "em"], ["_", "em"]];

export function inline(text, out, depth = 0, linked = false) {
  const missing = new Set(); // marks that have no closing in the rest of the text
  let plain = "";
  const flush = () => {
    if (plain) out.append(plain);
    plain = "";
  };
  for (let at = 0; at < text.length;) {
    PLAIN.lastIndex = at;
    const words = PLAIN.exec(text);
    if (words) { plain += words[0]; at = PLAIN.lastIndex; continue; }
    const found = mark(text, at, { depth, linked, missing });
    if (!found) { plain += text[at++]; continue; }
    if (found.node) { flush(); out.append(found.node); } else plain += found.text;
    at = found.end;
  }
  flush();
}

// mark returns what begins at a place: a node or a text, and where it ends. Inside of a link there is no other.
function mark(text, at, { depth, linked, missing }) {
  if (linked && "[<h".includes(text[at])) return null;
  switch (text[at]) {
    case "\\":
      return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? { text: text[at + 1], end: at + 2 } : null;
    case "`": return code(text, at, missing);
    case "[": return link(text, at, depth);
    case "<":
    case "h": return address(text, at);
  }
  return depth < DEEPEST ? emphasis(text, at, { depth, linked, missing }) : null;
}

function code(text, at, missing) {
  let size = 1;
  while (text[at + size] === "`") size++;
  const ticks = "`".repeat(size);
  let end = missing.has(ticks) ? -1 : text.indexOf(ticks, at + size);
  while (end >= 0 && text[end + size] === "`") {
    let over = end;
    while (text[over] === "`") over++;
    end = text.indexOf(ticks, over);
  }
  if (end < 0) { missing.add(ticks); return { text: ticks, end: at + size }; }
  let inner = text.slice(at + size, end);
  if (/^ .*[^ ].* $/.test(inner)) inner = inner.slice(1, -1);
  return { node: make("code", {}, inner), end: end + size };
}

function link(text, at, depth) {
  const found = /^\[([^[\]\n]{1,1000})\]\(\s*<?([^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s+"[^"\n]{0,500}")?\s*\)/
    .exec(text.slice(at, at + 4000));
  if (!found) return null;
  const made = anchor(found[2]);
  if (!made) return null;
  inline(found[1], made, depth + 1, true);
  return { node: made, end: at + found[0].length };
}

function address(text, at) {
  const bracket = text[at] === "<" ? 1 : 0;
  ADDRESS.lastIndex = at + bracket;
  const found = ADDRESS.exec(text);
  if (!found || (!bracket && /[\w/]/.test(text[at - 1] ?? ""))) return null;
  let url = found[0];
  if (!bracket) {
    url = url.replace(/[.,;:!?*_~\]]+$/, "");
    if (url.endsWith(")") && !url.includes("(")) url = url.replace(/\)+$/, "");
  }
  const made = anchor(url);
  if (!made) return null;
  made.append(url);
  const end = at + bracket + url.length;
  return { node: made, end: bracket && text[end] === ">" ? end + 1 : end };
}

// anchor returns a link that tells its target nothing, or null when the address is none for the web.
function anchor(url) {
  let parsed;
  try { parsed = new URL(url); } catch { return null; }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") return null;
  return make("a", { href: parsed.href, target: "_blank", rel: "noopener noreferrer nofollow" });
}

function emphasis(text, at, { depth, linked, missing }) {
  const pair = PAIRS.find(([sign]) => text.startsWith(sign, at));
  if (!pair) return null;
  const [sign, name] = pair;
  const from = at + sign.length;
  const wordy = sign[0] === "_"; // an underscore inside of a word is a letter
  if (missing.has(sign) || !/\S/.test(text[from] ?? "") || (wordy && /\w/.test(text[at - 1] ?? ""))) return null;
  let end = text.indexOf(sign, from + 1);
  while (end >= 0 && !closes(text, end, sign, wordy)) end = text.indexOf(sign, end + sign.length);
  if (end < 0) { missing.add(sign); return null; }
  if (sign.length === 2 && text[end + 2] === sign[0]) end++; // ***both***
  const made = make(name);
  inline(text.slice(from, end), made, depth + 1, linked);
  return { node: made, end: end + sign.length };
}

function closes(text, end, sign, wordy) {
  if (/\s/.test(text[end - 1]) || text[end - 1] === "\\") return false;
  if (sign.length === 1 && (text[end + 1] === sign || text[end - 1] === sign)) return false;
  return !wordy || !/\w/.test(text[end + sign.length] ?? "");
}
