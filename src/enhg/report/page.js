"use strict";
// Everything is drawn from the JSON in #data. A sample is known by its place in the columns of
// `data.samples`; those before `data.pictured` have a picture and a hyperedge.
const data = JSON.parse(document.getElementById("data").textContent);
const samples = data.samples;
const shaped = data.shape !== null;
const clustered = data.kind === "cluster";
const what = shaped ? "image" : "sample";
const root = document.documentElement;

const $ = (id) => document.getElementById(id);

/** An element with properties, and texts or elements inside; texts are never read as HTML. */
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
const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 1 : 0)}\u202f%`;
const score = (thousandths) => (thousandths / 1000).toFixed(2);
const signed = (z) => `${z < 0 ? "−" : "+"}${Math.abs(z).toFixed(3)}`;
const range = (n) => Array.from({ length: n }, (_, i) => i);
const lighter = (at) => `color-mix(in oklab, ${color(at)} 72%, white)`; // on a dark ground
const color = (at) => data.colors[at % data.colors.length];
const dot = (at) => {
  const element = make("i", { className: "dot" });
  element.style.background = `light-dark(${color(at)}, ${lighter(at)})`;
  return element;
};

const short = (group) => data.groups[group].name || "no label";
const groupName = (group) => `${clustered ? "Cluster" : "Class"} ${short(group)}`;
const truthName = (i) => (samples.truth[i] < 0 ? "" : data.truths[samples.truth[i]]);
const hasPicture = (i) => i < data.pictured;

/** Whether a sample's truth is not that of its group: most of its cluster, or its class. */
function isWrong(i) {
  if (samples.truth[i] < 0) return false;
  const group = data.groups[samples.group[i]];
  return clustered ? samples.truth[i] !== group.truth : truthName(i) !== group.name;
}

/** Why a sample is doubtful or strange, in words. */
function reasons(i) {
  const group = samples.group[i];
  const found = [];
  if (data.groups[group].name === "") found.push("no label reaches it");
  if (samples.piece[i]) found.push(`in a piece of ${counted(samples.piece[i], what)} apart from the rest`);
  if (samples.outlier[i]) found.push("far from every other");
  if (samples.doubtful[i] && samples.rival[i] >= 0 && data.groups[group].name !== "") {
    found.push(`between ${short(group)} and ${short(samples.rival[i])}`);
  }
  if (samples.foreign[i] >= 500) {
    const others = clustered ? "other clusters" : "other classes";
    found.push(`${percent(samples.foreign[i] / 1000)} in hyperedges of ${others}`);
  }
  return found;
}

function describe(i) {
  return `${samples.name[i]}, ${groupName(samples.group[i])}, confidence ${score(samples.confidence[i])}`;
}

// --- pictures ----------------------------------------------------------------------------------

/** Width and height at which a tile is shown in a box: whole multiples where it is small. */
function fitted(side) {
  if (!shaped) return side > 100 ? [Math.min(side, 340), 48] : [116, 22];
  const [height, width] = data.tiles.size;
  const long = Math.max(height, width);
  const scale = long <= 0.6 * side ? Math.round(side / long) : side / long;
  const smallest = Math.min(14, side);
  return [width, height].map((edge) => Math.max(smallest, Math.round(edge * scale)));
}

/** A picture of a sample from one of the sheets: "image", "corrected" or "error". */
function picture(i, side, sheet = "image") {
  const [width, height] = fitted(side);
  const element = make("span", { className: "picture" });
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
  if (!hasPicture(i)) {
    element.classList.add("none");
    element.textContent = "no picture";
    return element;
  }
  const small = sheet !== "image";
  const columns = small ? data.tiles.smallColumns : data.tiles.columns;
  const rows = Math.ceil(data.pictured / columns);
  const [tileHeight] = small ? data.tiles.smallSize : data.tiles.size;
  element.classList.add(sheet);
  element.classList.toggle("sharp", !shaped || height >= 1.5 * tileHeight);
  element.style.backgroundSize = `${columns * width}px ${rows * height}px`;
  element.style.backgroundPosition =
    `${-(i % columns) * width}px ${-Math.floor(i / columns) * height}px`;
  return element;
}

const THUMB = 56;
const STRIPES = data.features > data.tiles.size[1]
  ? "The stripes of a sample are its places in the main directions, blue below the mean and orange above."
  : "The stripes of a sample are its values, blue below the mean and orange above.";

function thumb(i, side = THUMB) {
  const button = make("button", { type: "button", className: "thumb", title: samples.name[i] });
  button.dataset.sample = i;
  button.setAttribute("aria-label", describe(i));
  button.classList.toggle("wrong", isWrong(i));
  button.append(picture(i, side));
  if (!shaped) button.append(make("span", { className: "label" }, samples.name[i]));
  return button;
}

// --- lists of samples: one stop of the tab key each, arrows inside ----------------------------

/** Make `element` a list of samples: its buttons open the panel, with `ids` as neighbors. */
function listing(element, ids, title) {
  element.listed = { ids, title };
  element.classList.add("listing");
  element.querySelectorAll("[data-sample]").forEach((button, at) => { button.tabIndex = at ? -1 : 0; });
  return element;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-sample]");
  if (button) panel.open(Number(button.dataset.sample), button.closest(".listing")?.listed, button);
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") return void panel.close();
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 }[event.key];
  const list = event.target.closest?.("aside") ? null : event.target.closest?.(".listing");
  if (!step || event.target.id === "plane") return;
  if (list && event.target.dataset.sample) {
    event.preventDefault();
    moveFocus(list, event.target, step);
  } else if (Math.abs(step) === 1 && event.target.closest?.("aside")) {
    event.preventDefault();
    panel.step(step);
  }
});

/** Focus the button before or after, or the nearest one in the row above or below. */
function moveFocus(list, from, step) {
  const buttons = [...list.querySelectorAll("[data-sample]")];
  let next = buttons[buttons.indexOf(from) + step];
  if (Math.abs(step) === 2) {
    const here = from.getBoundingClientRect();
    const boxes = buttons.map((button) => [button, button.getBoundingClientRect()]);
    const beyond = boxes.filter(([, box]) => (step > 0 ? box.top > here.top + 4 : box.top < here.top - 4));
    const far = (box) => Math.abs(box.top - here.top) * 1000 + Math.abs(box.left - here.left);
    next = beyond.sort((a, b) => far(a[1]) - far(b[1]))[0]?.[0];
  }
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// --- what was found ----------------------------------------------------------------------------

function tellFound() {
  const name = data.source.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || data.source;
  const size = shaped ? `of ${data.shape.slice(0, 2).join("×")} pixels` : `of ${data.features} values`;
  $("title").textContent = name;
  $("kicker").textContent = clustered ? "Clustering" : "Classification";
  $("lead").textContent = `${counted(data.total, what)} ${size} in ` +
    (clustered ? counted(data.groups.length, "cluster") : counted(namedGroups().length, "class"));
  if (data.pictured < data.total) {
    const numbered = samples.name.length;
    $("sampling").hidden = false;
    $("sampling").textContent =
      `${number(data.pictured)} of ${number(data.total)} ${what}s are on this page: of every ` +
      `${clustered ? "cluster" : "class"} the most typical, the most doubtful and some at random, the ` +
      "strangest of all, and those that rebuild them. All counts and scores are of all " +
      `${number(data.total)}; the map shows ${numbered < data.total ? `${number(numbered)} of them` : "them all"}.`;
  }
  const figure = (value, text, link = null) => $("figures").append(make("div", {}, make("dt", {}, text),
    make("dd", {}, link && value !== "0" ? make("a", { href: link }, value) : value)));
  figure(number(data.total), `${what}s`);
  figure(number(namedGroups().length), clustered ? "clusters" : "classes", "#groups");
  for (const [kind, value] of data.scores) {
    figure(value.toFixed(3), kind === "accuracy" ? "accuracy, unlabeled" : kind, "#confusion");
  }
  figure(number(data.doubtful), "doubtful", "#strange");
  figure(number(data.outliers), data.outliers === 1 ? "outlier" : "outliers", "#outliers-title");
  $("warnings").hidden = !data.warnings.length;
  $("warnings").append(...data.warnings.map((text) => make("li", {}, make("b", {}, "Warning "), text)));
  tellRows($("summary"), data.summary);
  $("command").textContent = data.command;
  tellStages();
  const together = data.components === 1 ? "one: everything hangs together"
    : `${number(data.components)}; the largest holds ${counted(data.largest, what)}`;
  tellRows($("quality"), [
    ["Certificate", data.certificate === null
      ? "not known: numbers left their range"
      : `${data.certificate.toExponential(1)} at worst; 0 is exactly optimal`],
    ["Components", together],
  ]);
  $("footer").textContent = `Written by enhg ${data.version}. Everything is inside this file; nothing is loaded.`;
}

const namedGroups = () => data.groups.filter((group) => group.name !== "");

function tellRows(list, rows) {
  list.append(...rows.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))));
}

function tellStages() {
  const total = data.stages.reduce((sum, [, seconds]) => sum + seconds, 0);
  const time = (seconds) => (seconds < 60 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`);
  const bar = make("div", { className: "times", ariaHidden: "true" }, ...data.stages.map(([name, seconds]) => {
    const part = make("span", { title: `${name}, ${time(seconds)}` });
    part.style.flexGrow = seconds / (total || 1);
    return part;
  }));
  const texts = [...data.stages, ["in all", total]].map(([name, seconds]) =>
    make("li", {}, `${name} `, make("b", {}, time(seconds))));
  $("stages").append(bar, make("ul", { className: "stages" }, ...texts));
}

// --- sheets of the groups ------------------------------------------------------------------------

const MANY_GROUPS = 20; // from which sheets are short

const sheets = {
  open: new Set(),
  across: 0,
  members: data.groups.map(() => []),

  start() {
    for (const i of range(data.pictured)) this.members[samples.group[i]].push(i);
    for (const ids of this.members) ids.sort((a, b) => samples.confidence[b] - samples.confidence[a]);
    document.querySelector("#groups h2").textContent = clustered ? "Clusters" : "Classes";
    const marked = range(data.pictured).some(isWrong);
    document.querySelector("#groups .about").textContent =
      "The most typical first, the most doubtful last. Choose one to see what it is rebuilt from." +
      (shaped ? "" : ` ${STRIPES}`) +
      (marked ? ` Underlined: its truth is not that of ${clustered ? "most of the cluster" : "the class"}.` : "");
    $("sheets").classList.toggle("many", data.groups.length > MANY_GROUPS);
    $("sheets").append(...data.groups.map((_, group) => this.sheet(group)));
  },

  sheet(group) {
    const { count, given, truth, purity } = data.groups[group];
    const here = this.members[group].length;
    const parts = [counted(count, what)];
    if (here < count) parts.push(`${number(here)} on this page`);
    if (given) parts.push(`${number(given)} given`);
    if (truth >= 0) parts.push(`${purity === 1 ? "all" : "mostly"} ${data.truths[truth]}` +
      (purity === 1 ? "" : `, ${percent(purity)}`));
    const toggle = make("button", { type: "button", className: "quiet", hidden: true });
    toggle.addEventListener("click", () => {
      if (!this.open.delete(group)) this.open.add(group);
      this.fill(group);
    });
    return make("article", { className: "sheet", id: `group-${group}` },
      make("header", {}, make("h3", {}, dot(group), groupName(group)),
        make("p", {}, parts.join(" · ")), toggle),
      make("div", { className: "grid" }));
  },

  /** Fill all sheets again where another number of tiles fits into a row. */
  resize() {
    const [tile] = fitted(THUMB);
    const width = $("group-0").clientWidth;
    const across = Math.max(2, Math.floor((width + 4) / (tile + 4)));
    if (across === this.across) return;
    this.across = across;
    data.groups.forEach((_, group) => this.fill(group));
  },

  fill(group) {
    const sheet = $(`group-${group}`);
    const grid = sheet.querySelector(".grid");
    const toggle = sheet.querySelector("header button");
    const ids = this.members[group];
    const lines = (data.groups.length > MANY_GROUPS ? 1 : 2) + (this.across < 8 ? 1 : 0);
    const room = lines * this.across;
    const whole = this.open.has(group) || ids.length <= room;
    const last = Math.max(1, Math.floor(this.across / 3));
    const hidden = ids.length - room + 1;
    const shown = whole ? ids : [...ids.slice(0, room - 1 - last), ...ids.slice(-last)];
    grid.replaceChildren(...shown.map((i) => thumb(i)));
    if (!whole) grid.children[room - 1 - last].before(this.gap(group, hidden));
    listing(grid, ids, this.list(group).title);
    toggle.hidden = ids.length <= room;
    toggle.textContent = this.open.has(group) ? "show fewer" : `show all ${number(ids.length)}`;
    toggle.setAttribute("aria-expanded", this.open.has(group));
    if (panel.chosen >= 0) panel.mark();
  },

  list(group) {
    return { ids: this.members[group], title: groupName(group).replace(/^C/, "c") };
  },

  gap(group, hidden) {
    const button = make("button", { type: "button", className: "more" }, `+${number(hidden)}`);
    button.setAttribute("aria-label", `Show ${hidden} more`);
    const [width, height] = fitted(THUMB);
    button.style.width = `${width}px`;
    button.style.minHeight = `${height}px`;
    button.addEventListener("click", () => { this.open.add(group); this.fill(group); });
    return button;
  },
};

// --- the doubtful and the outliers ---------------------------------------------------------------

const FIRST_CARDS = innerWidth < 600 ? 6 : 12;
const MOST_CARDS = 96;

function tellStrange() {
  const ids = range(data.pictured);
  const doubtful = ids.slice().sort((a, b) => samples.confidence[a] - samples.confidence[b]);
  const outliers = ids.slice().sort((a, b) => samples.outlying[b] - samples.outlying[a]);
  const groups = clustered ? "clusters" : "classes";
  const lead = (count, some, none) => (count ? some : none);
  $("doubtful-title").textContent = lead(data.doubtful, `${number(data.doubtful)} doubtful`, "None doubtful");
  $("doubtful-about").textContent = lead(data.doubtful,
    `Of a confidence hardly above an even guess between ${groups}; the most doubtful first.`,
    "These are the least confident.");
  $("outliers-title").textContent = lead(data.outliers, counted(data.outliers, "outlier"), "No outliers");
  $("outliers-about").textContent = lead(data.outliers,
    `Unlike all other ${what}s; the strangest first.`,
    "These are the strangest.");
  cards($("doubtful"), doubtful, data.doubtful, "confidence", "the doubtful");
  cards($("outliers"), outliers, data.outliers, "outlying", "the outliers");
}

/** A grid of cards of the first samples: at least a row, at most as many as there are. */
function cards(home, ids, count, column, title) {
  const shown = ids.slice(0, Math.min(MOST_CARDS, Math.max(count, 6)));
  const named = column === "confidence" ? "confidence" : "outlier score";
  const card = (i) => {
    const button = make("button", { type: "button", className: "card" },
      shaped ? picture(i, THUMB) : null,
      make("p", {}, shaped ? null : picture(i, THUMB), make("b", { title: samples.name[i] }, samples.name[i]),
        `${named} ${score(samples[column][i])}`,
        make("small", {}, reasons(i).join("; ") || groupName(samples.group[i]))));
    button.dataset.sample = i;
    return button;
  };
  const grid = make("div", { className: "cards" }, ...shown.slice(0, FIRST_CARDS).map(card));
  home.append(listing(grid, shown, title));
  if (shown.length <= FIRST_CARDS) return;
  const more = make("button", { type: "button", className: "quiet" },
    shown.length < count ? `show the first ${shown.length}` : `show all ${shown.length}`);
  more.addEventListener("click", () => {
    grid.append(...shown.slice(FIRST_CARDS).map(card));
    listing(grid, shown, title);
    more.parentElement.remove();
  });
  home.append(make("p", { className: "after" }, more));
}
