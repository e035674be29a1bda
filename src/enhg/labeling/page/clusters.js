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
      "Images that are alike. In every cluster those to ask about come first, then the surest, the least sure last. " +
      "Select all of a cluster or the surest, take out what does not belong, and give it a name. Tinted names are predicted anew since the last action.";
    $("showing").append(...[["all", "All"], ["open", "Not settled"]].map(([way, text]) => {
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
    const all = make("button", { type: "button", className: "quiet all", onclick: () => this.select(cluster, this.shown(cluster)) });
    const core = make("button", { type: "button", className: "quiet core", onclick: () => this.select(cluster, this.core(cluster)) });
    return make("article", { className: "sheet", id: `cluster-${cluster}`, ariaLabel: `Cluster ${cluster + 1}` },
      make("header", {}, make("h3", {}, `Cluster ${cluster + 1}`), make("p"), core, all, toggle), make("div"));
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

  shown(cluster) {
    return this.ids[cluster].filter((i) => this.only === "all" || !isSettled(i));
  },

  /** The surest images of a cluster: errors of the clustering are mostly among the others. */
  core(cluster) {
    return content.clusters[cluster].slice(0, content.cores[cluster]).filter((i) => this.only === "all" || !isSettled(i));
  },

  /** Select images of a cluster, or none if just these are selected. */
  select(cluster, ids) {
    const same = ids.length === selection.rows.size && ids.every((i) => selection.rows.has(i));
    if (same) selection.clear();
    else selection.set(ids, "cluster");
  },

  /** Put the images to ask about first; the order stays while names are given. */
  show() {
    const asked = new Set(steps.questions);
    this.ids = content.clusters.map((rows) => {
      const shown = rows.filter((i) => this.only === "all" || !isSettled(i));
      return [...shown.filter((i) => asked.has(i)), ...shown.filter((i) => !asked.has(i))];
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
    const title = `Cluster ${cluster + 1}, ${images(ids.length)}`;
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

  /** Mark the images that are asked about. */
  mark(sheet) {
    const asked = new Set(steps.questions);
    for (const button of sheet.querySelectorAll(".thumb")) {
      button.classList.toggle("asked-about", asked.has(Number(button.dataset.row)) && !isSettled(Number(button.dataset.row)));
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
      else if (ghost(i) >= 0) ghosts.set(ghost(i), (ghosts.get(ghost(i)) ?? 0) + 1);
    }
    const most = (counts) => [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const part = (counts, className) => most(counts).flatMap(([code, count]) =>
      [make("span", { className: "share" }, dot(code, className), state.classes[code], make("small", {}, number(count)))]);
    const text = selected ? make("b", {}, `${number(selected)} selected`) : null;
    const [, line, core, all] = $(`cluster-${cluster}`).querySelector("header").children;
    line.replaceChildren(...[images(rows.length), settled ? `, ${settled === rows.length ? "all" : number(settled)} settled` : "",
      ...part(names, "dot"), ...part(ghosts, "dot ring"), text].filter((p) => p !== null));
    const [shown, surest] = [this.shown(cluster).length, this.core(cluster).length];
    all.textContent = selected === shown && shown ? "select none" : `select all ${number(shown)}`;
    core.textContent = `the surest ${number(surest)}`;
    core.hidden = surest === shown || !surest;
    all.setAttribute("aria-label", `${all.textContent} of cluster ${cluster + 1}`);
    core.setAttribute("aria-label", `select ${core.textContent} of cluster ${cluster + 1}`);
  },

  heads(rows) {
    for (const cluster of new Set(Array.from(rows, (i) => content.cluster[i]))) this.head(cluster);
  },

  changed(rows) { this.heads(rows); },
  selected(rows) { this.heads(rows); },
  stepped() { for (const sheet of $("sheets").children) this.mark(sheet); },
};
