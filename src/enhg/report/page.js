"use strict";
// The page is drawn from the JSON in #data. A sample is identified by its position in the columns
// of `data.samples`; those before `data.pictured` have a picture and a hyperedge.
const data = JSON.parse(document.getElementById("data").textContent);
const samples = data.samples;
const shaped = data.shape !== null;
const clustered = data.kind === "cluster";
const noun = shaped ? "image" : "sample";
const groupNoun = clustered ? "cluster" : "class";
const groupNouns = clustered ? "clusters" : "classes";
const root = document.documentElement;

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
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 1 : 0)}\u202f%`;
const score = (value) => value.toFixed(2);
const signed = (z) => `${z < 0 ? "−" : "+"}${Math.abs(z).toFixed(3)}`;
const range = (n) => Array.from({ length: n }, (_, i) => i);
const lighter = (at) => `color-mix(in oklab, ${color(at)} 72%, white)`; // on a dark background
const color = (at) => data.colors[at % data.colors.length];
const dot = (at) => {
  const element = make("i", { className: "dot" });
  element.style.background = `light-dark(${color(at)}, ${lighter(at)})`;
  return element;
};

const short = (group) => data.groups[group].name || "no label";
const groupName = (group) => `${clustered ? "Cluster" : "Class"} ${short(group)}`;
const trueClass = (i) => (samples.truth[i] < 0 ? "" : data.trueClasses[samples.truth[i]]);
const hasPicture = (i) => i < data.pictured;

/** Whether the true class differs from that of most of the cluster, or from the class. */
function isWrong(i) {
  if (samples.truth[i] < 0) return false;
  const group = data.groups[samples.group[i]];
  return clustered ? samples.truth[i] !== group.truth : trueClass(i) !== group.name;
}

/** Why a sample has low confidence or is an outlier, in words. */
function remarks(i) {
  const group = samples.group[i];
  const texts = [];
  if (data.groups[group].name === "") texts.push("no label spreads to it");
  if (samples.fragment[i]) texts.push(`in a component of only ${counted(samples.fragment[i], noun)}`);
  if (samples.isOutlier[i]) texts.push(`unlike every other ${noun}`);
  if (samples.lowConfidence[i] && samples.alternative[i] >= 0 && data.groups[group].name !== "") {
    texts.push(`between ${short(group)} and ${short(samples.alternative[i])}`);
  }
  if (samples.boundary[i] >= 0.5) {
    texts.push(`boundary score ${score(samples.boundary[i])}`);
  }
  return texts;
}

function describe(i) {
  return `${samples.name[i]}, ${groupName(samples.group[i])}, confidence ${score(samples.confidence[i])}`;
}

// --- pictures ----------------------------------------------------------------------------------

/** Width and height of a tile in a box: whole multiples for small tiles. */
function fitted(side) {
  if (!shaped) return side > 100 ? [Math.min(side, 340), 48] : [116, 22];
  const [height, width] = data.tiles.size;
  const long = Math.max(height, width);
  const scale = long <= 0.6 * side ? Math.round(side / long) : side / long;
  const smallest = Math.min(14, side);
  return [width, height].map((edge) => Math.max(smallest, Math.round(edge * scale)));
}

/** A picture from one of the sheets: "sample", "reconstruction" or "residual". */
function picture(i, side, sheet = "sample") {
  const [width, height] = fitted(side);
  const element = make("span", { className: "picture" });
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
  if (!hasPicture(i)) {
    element.classList.add("none");
    element.textContent = "no picture";
    return element;
  }
  const small = sheet !== "sample";
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
  ? "The stripes of a sample are its coordinates in the main directions, blue below the mean and orange above."
  : "The stripes of a sample are its features, blue below the mean and orange above.";

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

// --- results -----------------------------------------------------------------------------------

function showResults() {
  const name = data.source.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || data.source;
  const size = shaped ? `of ${data.shape.slice(0, 2).join("×")} pixels` : `of ${counted(data.features, "feature")}`;
  $("title").textContent = name;
  $("kicker").textContent = clustered ? "Clustering" : "Classification";
  $("lead").textContent = `${counted(data.total, noun)} ${size} in ` +
    (clustered ? counted(data.groups.length, "cluster") : counted(namedGroups().length, "class"));
  if (data.pictured < data.total) {
    const listed = samples.name.length;
    $("sampling").hidden = false;
    $("sampling").textContent =
      `${number(data.pictured)} of ${number(data.total)} ${noun}s are on this page: of every ${groupNoun} ` +
      "those of highest and lowest confidence and some at random, the largest outlier scores, and the " +
      `members of their hyperedges. Counts and scores are of all ${number(data.total)}; the map shows ` +
      `${listed < data.total ? number(listed) : "all"} of them.`;
  }
  const figure = (value, text, link = null) => $("figures").append(make("div", {}, make("dt", {}, text),
    make("dd", {}, link && value !== "0" ? make("a", { href: link }, value) : value)));
  figure(number(data.total), `${noun}s`);
  figure(number(namedGroups().length), groupNouns, "#groups");
  for (const [kind, value] of data.scores) {
    figure(value.toFixed(3), kind === "accuracy" ? "accuracy, unlabeled" : kind, "#confusion");
  }
  figure(number(data.lowConfidence), "low confidence", "#review");
  figure(number(data.outliers), data.outliers === 1 ? "outlier" : "outliers", "#outliers-title");
  $("warnings").hidden = !data.warnings.length;
  $("warnings").append(...data.warnings.map((text) => make("li", {}, make("b", {}, "Warning "), text)));
  showRows($("summary"), data.summary);
  $("command").textContent = data.command;
  showStages();
  const components = data.components === 1 ? "1"
    : `${number(data.components)}; the largest has ${counted(data.largest, noun)}`;
  showRows($("quality"), [
    ["Certificate", data.certificate === null
      ? "not known: numerical overflow"
      : `at most ${data.certificate.toExponential(1)}; 0 is exactly optimal`],
    ["Components", components],
  ]);
  $("footer").textContent = `Written by enhg ${data.version}. This file is complete; nothing else is loaded.`;
}

const namedGroups = () => data.groups.filter((group) => group.name !== "");

function showRows(list, rows) {
  list.append(...rows.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))));
}

function showStages() {
  const total = data.stages.reduce((sum, [, seconds]) => sum + seconds, 0);
  const time = (seconds) => (seconds < 60 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`);
  const bar = make("div", { className: "times", ariaHidden: "true" }, ...data.stages.map(([name, seconds]) => {
    const part = make("span", { title: `${name}, ${time(seconds)}` });
    part.style.flexGrow = seconds / (total || 1);
    return part;
  }));
  const texts = [...data.stages, ["total", total]].map(([name, seconds]) =>
    make("li", {}, `${name} `, make("b", {}, time(seconds))));
  $("stages").append(bar, make("ul", { className: "stages" }, ...texts));
}

// --- sheets of the groups ------------------------------------------------------------------------

const MANY_GROUPS = 20; // groups above which sheets are short

const sheets = {
  open: new Set(),
  across: 0,
  ids: data.groups.map(() => []),

  start() {
    for (const i of range(data.pictured)) this.ids[samples.group[i]].push(i);
    for (const ids of this.ids) ids.sort((a, b) => samples.confidence[b] - samples.confidence[a]);
    document.querySelector("#groups h2").textContent = clustered ? "Clusters" : "Classes";
    const marked = range(data.pictured).some(isWrong);
    document.querySelector("#groups .about").textContent =
      `In order of decreasing confidence. Choose one to see its hyperedge and its reconstruction.` +
      (shaped ? "" : ` ${STRIPES}`) +
      (marked ? ` Underlined: its true class differs from that of ${clustered ? "most of the cluster" : "the class"}.` : "");
    $("sheets").classList.toggle("many", data.groups.length > MANY_GROUPS);
    $("sheets").append(...data.groups.map((_, group) => this.sheet(group)));
  },

  sheet(group) {
    const { count, given, truth, purity } = data.groups[group];
    const here = this.ids[group].length;
    const parts = [counted(count, noun)];
    if (here < count) parts.push(`${number(here)} on this page`);
    if (given) parts.push(`${number(given)} given`);
    if (truth >= 0) parts.push(`${purity === 1 ? "all" : "mostly"} ${data.trueClasses[truth]}` +
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
    const ids = this.ids[group];
    const lines = (data.groups.length > MANY_GROUPS ? 1 : 2) + (this.across < 8 ? 1 : 0);
    const most = lines * this.across;
    const whole = this.open.has(group) || ids.length <= most;
    const last = Math.max(1, Math.floor(this.across / 3));
    const hidden = ids.length - most + 1;
    const shown = whole ? ids : [...ids.slice(0, most - 1 - last), ...ids.slice(-last)];
    grid.replaceChildren(...shown.map((i) => thumb(i)));
    if (!whole) grid.children[most - 1 - last].before(this.gap(group, hidden));
    listing(grid, ids, this.list(group).title);
    toggle.hidden = ids.length <= most;
    toggle.textContent = this.open.has(group) ? "show fewer" : `show all ${number(ids.length)}`;
    toggle.setAttribute("aria-expanded", this.open.has(group));
    if (panel.chosen >= 0) panel.mark();
  },

  list(group) {
    return { ids: this.ids[group], title: groupName(group).replace(/^C/, "c") };
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

// --- low confidence and outliers ----------------------------------------------------------------

const FIRST_CARDS = innerWidth < 600 ? 6 : 12;
const MOST_CARDS = 96;

function showReview() {
  const ids = range(data.pictured);
  const ambiguous = ids.slice().sort((a, b) => samples.confidence[a] - samples.confidence[b]);
  const outliers = ids.slice().sort((a, b) => samples.outlier[b] - samples.outlier[a]);
  const title = (count, some, none) => (count ? some : none);
  $("low-confidence-title").textContent = title(data.lowConfidence,
    `${counted(data.lowConfidence, noun)} with low confidence`, `No ${noun} with low confidence`);
  $("low-confidence-about").textContent = title(data.lowConfidence,
    `Confidence near that of a uniform guess between ${groupNouns}, in increasing order.`,
    "Those of lowest confidence, in increasing order.");
  $("outliers-title").textContent = title(data.outliers, counted(data.outliers, "outlier"), "No outliers");
  $("outliers-about").textContent = title(data.outliers,
    `${shaped ? "Images" : "Samples"} unlike all others, in decreasing order of the outlier score.`,
    "Those of the largest outlier scores, in decreasing order.");
  cards($("low-confidence"), ambiguous, data.lowConfidence, "confidence", "low confidence");
  cards($("outliers"), outliers, data.outliers, "outlier", "outliers");
}

/** A grid of cards of the first `count` samples, of at least six. */
function cards(home, ids, count, column, title) {
  const shown = ids.slice(0, Math.min(MOST_CARDS, Math.max(count, 6)));
  const named = column === "confidence" ? "confidence" : "outlier score";
  const card = (i) => {
    const button = make("button", { type: "button", className: "card" },
      shaped ? picture(i, THUMB) : null,
      make("p", {}, shaped ? null : picture(i, THUMB), make("b", { title: samples.name[i] }, samples.name[i]),
        `${named} ${score(samples[column][i])}`,
        make("small", {}, remarks(i).join("; ") || groupName(samples.group[i]))));
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
