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
const root = document.documentElement;

/**
 * Fill `home` with a list in pages of at most `most` entries, and buttons that turn the pages.
 * `part` makes the element of an entry; `filled` is called with the list once a page is in it.
 */
function inPages(home, entries, { most, title, part, list, filled }) {
  const last = Math.max(0, Math.ceil(entries.length / most) - 1);
  let page = 0;
  const place = make("span", { ariaLive: "polite" });
  const turner = (text, by) => make("button", { type: "button", className: "quiet", onclick: () => turn(by) }, text);
  const [back, on] = [turner("← Previous", -1), turner("Next →", 1)];
  const fill = () => {
    const first = page * most;
    const shown = entries.slice(first, first + most);
    list.replaceChildren(...shown.map(part));
    filled(list);
    place.textContent = `${number(first + 1)}–${number(first + shown.length)} of ${number(entries.length)}`;
    [back.disabled, on.disabled] = [page === 0, page === last];
  };
  const turn = (by) => {
    if (page + by < 0 || page + by > last) return false;
    page += by;
    fill();
    if (list.getBoundingClientRect().top < 0) list.scrollIntoView({ block: "start" });
    return true;
  };
  list.turn = turn;
  fill();
  home.replaceChildren(list);
  if (last) home.append(make("div", { className: "pages", role: "group", ariaLabel: `Pages of ${title}` }, back, place, on));
}

/** The nearest of some buttons in the row below (`step` > 0) or above another one. */
function inNextRow(buttons, from, step) {
  const here = from.getBoundingClientRect();
  const boxes = buttons.map((button) => [button, button.getBoundingClientRect()]);
  const beyond = boxes.filter(([, box]) => (step > 0 ? box.top > here.top + 4 : box.top < here.top - 4));
  const far = (box) => Math.abs(box.top - here.top) * 1000 + Math.abs(box.left - here.left);
  return beyond.sort((a, b) => far(a[1]) - far(b[1]))[0]?.[0];
}

/** Write texts at places [text, x, y] of a canvas of some width, where they do not overlap. */
function writeTexts(brush, style, width, texts) {
  brush.font = `600 14px ${style.fontFamily}`;
  [brush.textAlign, brush.textBaseline, brush.lineJoin, brush.lineWidth] = ["center", "middle", "round", 4];
  [brush.strokeStyle, brush.fillStyle] = [style.backgroundColor, style.color];
  const taken = [];
  for (const [text, across, y] of texts) {
    const half = brush.measureText(text).width / 2;
    const x = Math.min(Math.max(across, half + 4), width - half - 4);
    if (taken.some(([u, v, w]) => Math.abs(u - x) < w + half && Math.abs(v - y) < 16)) continue;
    taken.push([x, y, half]);
    brush.strokeText(text, x, y);
    brush.fillText(text, x, y);
  }
}

/** Light or dark, as the system is or the button #theme says; `repaint` is called after a change. */
const makeTheme = (repaint) => ({
  system: matchMedia("(prefers-color-scheme: dark)"),
  dark: false,

  start() {
    this.turn(this.system.matches);
    $("theme").addEventListener("click", () => {
      root.style.colorScheme = this.dark ? "light" : "dark";
      this.turn(!this.dark);
    });
    this.system.addEventListener("change", () => {
      if (!root.style.colorScheme) this.turn(this.system.matches);
    });
  },

  turn(dark) {
    this.dark = dark;
    $("theme").textContent = dark ? "Light theme" : "Dark theme";
    repaint();
  },
});
