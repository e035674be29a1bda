// --- sheets of the clusters -----------------------------------------------------------------------

const MANY_CLUSTERS = 20; // clusters above which sheets are short
const SPACE = 4; // pixels between pictures

const clusters = {
  title: "Clusters",
  opened: new Set(),
  across: 0,
  only: "all",
  ids: [],

  start() {
    document.querySelector("#clusters .about").textContent =
      "Similar images: suggested ones (★) first, then by falling confidence. Select a cluster or its core, the images of highest " +
      "confidence, deselect what does not belong, and label it. A tinted label is a prediction that changed with the last action.";
    $("showing").append(...[["all", "All"], ["open", "Not labeled"]].map(([way, text]) => {
      const button = make("button", { type: "button", onclick: () => this.filter(way) }, text);
      button.dataset.way = way;
      return button;
    }));
    $("sheets").classList.toggle("many", content.clusters.length > MANY_CLUSTERS);
    $("sheets").append(...content.clusters.map((_, cluster) => this.sheet(cluster)));
    new ResizeObserver(() => requestAnimationFrame(() => this.resize())).observe($("sheets"));
  },

  sheet(cluster) {
    const toggle = make("button", { type: "button", className: "quiet", onclick: () => this.toggle(cluster) });
    const all = make("button", { type: "button", className: "quiet all", onclick: () => this.select(cluster, this.selectable(cluster)) });
    const core = make("button", { type: "button", className: "quiet core", onclick: () => this.select(cluster, this.core(cluster)) });
    return make("article", { className: "sheet", id: `cluster-${cluster}`, ariaLabel: `Cluster ${cluster}` },
      make("header", {}, make("h3", {}, `Cluster ${cluster}`), make("p"), core, all, toggle), make("div"));
  },

  filter(way) {
    this.only = way;
    this.show();
  },

  toggle(cluster) {
    if (!this.opened.delete(cluster)) this.opened.add(cluster);
    this.fill(cluster);
    $(`cluster-${cluster}`).querySelector("header button:last-child").focus();
  },

  /** The images of a cluster without a label or mark; all of them if each has one. */
  selectable(cluster, rows = this.ids[cluster]) {
    const open = rows.filter((i) => !isSettled(i));
    return open.length ? open : rows;
  },

  /** The images of highest confidence: errors of the clustering are mostly among the others. */
  core(cluster) {
    return this.selectable(cluster, content.clusters[cluster].slice(0, content.cores[cluster]));
  },

  /** Select images of a cluster, or none if just these are selected. */
  select(cluster, ids) {
    const same = ids.length === selection.rows.size && ids.every((i) => selection.rows.has(i));
    if (same) selection.clear();
    else selection.set(ids, "cluster");
  },

  /** Put suggested images first; the order stays while labels are given. */
  show() {
    const suggested = new Set(steps.questions);
    this.ids = content.clusters.map((rows) => {
      const shown = rows.filter((i) => this.only === "all" || !isSettled(i));
      return [...shown.filter((i) => suggested.has(i)), ...shown.filter((i) => !suggested.has(i))];
    });
    for (const button of $("showing").children) button.setAttribute("aria-pressed", button.dataset.way === this.only);
    this.across = 0;
    this.resize();
    $("nothing").hidden = this.ids.some((ids) => ids.length);
  },

  resize() {
    const width = $("sheets").clientWidth;
    if (!width || $("clusters").hidden) return;
    const sheet = $("sheets").firstElementChild.clientWidth - 8;
    const across = Math.max(3, Math.floor((sheet + SPACE) / (side() + SPACE)));
    if (across === this.across) return;
    const first = this.across === 0;
    this.across = across;
    content.clusters.forEach((_, cluster) => { if (first || !this.opened.has(cluster)) this.fill(cluster); });
  },

  fill(cluster) {
    const sheet = $(`cluster-${cluster}`);
    const ids = this.ids[cluster];
    const lines = (content.clusters.length > MANY_CLUSTERS ? 1 : 2) + (this.across < 8 ? 1 : 0);
    const most = lines * this.across;
    const opened = this.opened.has(cluster);
    const toggle = sheet.querySelector("header button:last-child");
    sheet.hidden = !ids.length;
    sheet.style.containIntrinsicBlockSize = `auto ${48 + Math.min(lines, Math.ceil(ids.length / this.across)) * (side() + 26)}px`;
    toggle.hidden = ids.length <= most;
    toggle.textContent = opened ? "show fewer" : "show all";
    toggle.setAttribute("aria-expanded", opened);
    const title = `Cluster ${cluster}, ${images(ids.length)}`;
    if (opened || ids.length <= most) paged(sheet.lastElementChild, ids, { title });
    else {
      const last = Math.max(1, Math.floor(this.across / 3));
      const gap = make("button", { type: "button", className: "more", ariaLabel: `Show ${ids.length - most + 1} more`,
        onclick: () => this.toggle(cluster) }, `+${number(ids.length - most + 1)}`);
      gap.style.width = `${side()}px`;
      gap.style.height = `${side()}px`;
      const list = grid(...ids.slice(0, most - 1 - last).map((i) => thumb(i)), gap, ...ids.slice(-last).map((i) => thumb(i)));
      sheet.lastElementChild.replaceChildren(listing(list, ids, title));
    }
    this.mark(sheet);
    this.head(cluster);
  },

  /** Mark the suggested images. */
  mark(sheet) {
    const suggested = new Set(steps.questions);
    for (const button of sheet.querySelectorAll(".thumb")) {
      button.classList.toggle("suggested", suggested.has(Number(button.dataset.row)) && !isSettled(Number(button.dataset.row)));
    }
  },

  /** Counts of a cluster, and how many of it are selected. */
  head(cluster) {
    const rows = content.clusters[cluster];
    const [names, ghosts] = [new Map(), new Map()];
    let [settled, selected] = [0, 0];
    for (const i of rows) {
      if (isSettled(i)) settled += 1;
      if (selection.rows.has(i)) selected += 1;
      if (state.labels[i] >= 0) names.set(state.labels[i], (names.get(state.labels[i]) ?? 0) + 1);
      else if (shownPrediction(i) >= 0) ghosts.set(shownPrediction(i), (ghosts.get(shownPrediction(i)) ?? 0) + 1);
    }
    const most = (counts) => [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const part = (counts, className) => most(counts).flatMap(([code, count]) =>
      [make("span", { className: "share" }, dot(code, className), make("bdi", {}, state.classes[code]), make("small", {}, number(count)))]);
    const text = selected ? make("b", {}, `${number(selected)} selected`) : null;
    const [, line, core, all] = $(`cluster-${cluster}`).querySelector("header").children;
    line.replaceChildren(...[images(rows.length), settled ? `, ${settled === rows.length ? "all" : number(settled)} labeled or marked` : "",
      ...part(names, "dot"), ...part(ghosts, "dot ring"), text].filter((p) => p !== null));
    const [open, inCore] = [this.selectable(cluster).length, this.core(cluster).length];
    const some = open < this.ids[cluster].length;
    all.textContent = selected === open && open ? "select none" : some ? `select ${number(open)} not labeled` : `select all ${number(open)}`;
    core.textContent = `core, ${number(inCore)}`;
    core.hidden = inCore === open || !inCore;
    all.setAttribute("aria-label", `${all.textContent} of cluster ${cluster}`);
    core.setAttribute("aria-label", `select ${core.textContent} of cluster ${cluster}`);
  },

  heads(rows) {
    for (const cluster of new Set(Array.from(rows, (i) => content.cluster[i]))) this.head(cluster);
  },

  changed(rows) { this.heads(rows); },
  selected(rows) { this.heads(rows); },
  stepped() { for (const sheet of $("sheets").children) this.mark(sheet); },
};
