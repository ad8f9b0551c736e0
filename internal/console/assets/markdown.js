// Markdown as agents write it, made into elements. Text only ever becomes text nodes; the one attribute that holds
// foreign text is the address of a link, and only http and https are links.

import { make, word } from "./words.js";
import { inline } from "./inline.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}>\s?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:\s+(.*)|$)/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 8;

// render returns a fragment for a whole message.
export function render(text) {
  const out = document.createDocumentFragment();
  blocks(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), out, 0);
  return out;
}

function blocks(lines, out, depth) {
  let at = 0;
  while (at < lines.length) {
    if (lines[at].trim() === "") { at++; continue; }
    at = block(lines, at, out, depth);
  }
}

// block appends the block that begins at a line and returns the line after it.
function block(lines, at, out, depth) {
  const line = lines[at];
  let found;
  if ((found = FENCE.exec(line))) return fence(lines, at, out, found);
  if ((found = HEADING.exec(line))) {
    const heading = make(`h${Math.min(2 + found[1].length, 5)}`);
    inline(found[2], heading);
    out.append(heading);
    return at + 1;
  }
  if (RULE.test(line)) { out.append(make("hr")); return at + 1; }
  if (depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, out, depth);
  if (depth < DEEPEST && ITEM.test(line)) return list(lines, at, out, depth);
  if (isTable(lines, at)) return table(lines, at, out);
  return paragraph(lines, at, out, depth);
}

function fence(lines, at, out, [, mark, language]) {
  const code = [];
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`);
  let end = at + 1;
  while (end < lines.length && !closing.test(lines[end])) code.push(lines[end++]);
  const copy = make("button", { type: "button", class: "copy" }, word("copy"));
  out.append(make("div", { class: "code" },
    make("div", { class: "bar" }, make("span", {}, language), copy),
    make("pre", { tabindex: "0" }, make("code", {}, code.join("\n")))));
  return end + 1;
}

function quote(lines, at, out, depth) {
  const inner = [];
  while (at < lines.length && QUOTE.test(lines[at])) inner.push(lines[at++].replace(QUOTE, ""));
  const made = make("blockquote");
  blocks(inner, made, depth + 1);
  out.append(made);
  return at;
}

function list(lines, at, out, depth) {
  const [, indent, mark] = ITEM.exec(lines[at]);
  const ordered = /\d/.test(mark);
  const made = make(ordered ? "ol" : "ul");
  if (ordered && parseInt(mark, 10) !== 1) made.setAttribute("start", String(parseInt(mark, 10)));
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length > indent.length + 1 || item[1].length < indent.length || /\d/.test(item[2]) !== ordered) break;
    const inner = [item[3] ?? ""];
    const deep = item[1].length + item[2].length + 1;
    at++;
    while (at < lines.length && belongs(lines, at, item[1].length)) inner.push(dedent(lines[at++], deep));
    const li = make("li");
    blocks(inner, li, depth + 1);
    unwrap(li);
    made.append(li);
    while (at + 1 < lines.length && lines[at].trim() === "" && ITEM.test(lines[at + 1])) at++;
  }
  out.append(made);
  return at;
}

// belongs says whether a line is part of an item whose mark stands at an indent.
function belongs(lines, at, indent) {
  const line = lines[at];
  if (line.trim() === "") return at + 1 < lines.length && lines[at + 1].search(/\S/) > indent;
  return line.search(/\S/) > indent;
}

const dedent = (line, most) => line.slice(Math.min(most, Math.max(line.search(/\S/), 0)));

// unwrap takes the paragraph away from an item that has only one.
function unwrap(li) {
  const first = li.firstElementChild;
  if (first?.tagName !== "P" || li.querySelector(":scope > p ~ p")) return;
  first.replaceWith(...first.childNodes);
}

const isTable = (lines, at) => lines[at].includes("|") && at + 1 < lines.length &&
  lines[at + 1].includes("-") && lines[at + 1].includes("|") && TABLE_LINE.test(lines[at + 1]);

const cells = (line) => line.trim().replace(/^\|/, "").replace(/\|$/, "").split(/(?<!\\)\|/)
  .map((cell) => cell.trim().replace(/\\\|/g, "|"));

function table(lines, at, out) {
  const row = (line, name) => make("tr", {}, ...cells(line).map((text) => {
    const cell = make(name);
    inline(text, cell);
    return cell;
  }));
  const body = make("tbody");
  const made = make("table", {}, make("thead", {}, row(lines[at], "th")), body);
  at += 2;
  while (at < lines.length && lines[at].includes("|")) body.append(row(lines[at++], "td"));
  out.append(make("div", { class: "table" }, made));
  return at;
}

function paragraph(lines, at, out, depth) {
  const words = [lines[at++]];
  while (at < lines.length && lines[at].trim() !== "" && !begins(lines, at, depth)) words.push(lines[at++]);
  const made = make("p");
  words.forEach((line, n) => {
    if (n > 0) made.append(make("br"));
    inline(line.trim(), made);
  });
  out.append(made);
  return at;
}

// begins says whether a line ends the paragraph above it.
function begins(lines, at, depth) {
  const line = lines[at];
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || isTable(lines, at) ||
    (depth < DEEPEST && (QUOTE.test(line) || ITEM.test(line)));
}
