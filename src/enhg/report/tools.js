"use strict";
// What every page of enhg uses.

const $ = (id) => document.getElementById(id);

/** An element with properties, and texts or elements inside; texts are never parsed as HTML. */
function make(tag, properties = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...inside.filter((part) => part !== null));
  return element;
}

const number = (n) => (n < 10000 ? `${n}` : `${n}`.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
const counted = (n, word) => `${number(n)} ${word}${n === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
const percent = (share) => (share >= 0.995 && share < 1 ? "over 99\u202f%"
  : `${(100 * share).toFixed(share > 0 && share < 0.01 ? 1 : 0)}\u202f%`);
const range = (n) => Array.from({ length: n }, (_, i) => i);
