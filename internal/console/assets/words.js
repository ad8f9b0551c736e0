// The words of the page, and times as people write them.

let labels = {};
let language = "en";

export function useLabels(all) {
  labels = all;
  language = document.documentElement.lang || "en";
}

// word returns a label with its {names} filled in.
export function word(key, values = {}) {
  return (labels[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

const format = (at, options) => new Intl.DateTimeFormat(language, options).format(at);

export const clock = (at) => format(at, { hour: "numeric", minute: "2-digit" });
export const full = (at) => format(at, { dateStyle: "full", timeStyle: "short" });

// dayKey is the same for two moments of one day, here.
export const dayKey = (at) => `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`;

export function dayName(at) {
  const now = new Date();
  if (dayKey(at) === dayKey(now)) return word("today");
  const before = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (dayKey(at) === dayKey(before)) return word("yesterday");
  const options = { weekday: "long", month: "long", day: "numeric" };
  if (at.getFullYear() !== now.getFullYear()) options.year = "numeric";
  return format(at, options);
}

// shortly is the time of today, else the date.
export function shortly(at) {
  if (dayKey(at) === dayKey(new Date())) return clock(at);
  return format(at, { month: "short", day: "numeric" });
}

// make builds an element; its children are elements or text, never markup.
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// quoted turns words between backquotes into code.
export function quoted(text) {
  return text.split("`").map((part, n) => (n % 2 ? make("code", {}, part) : part));
}
