// --- sheets of the groups ------------------------------------------------------------------------

const MANY_GROUPS = 20; // groups above which sheets are short and beside each other
const FEWEST = photos ? 6 : data.groups.length > MANY_GROUPS ? 8 : 24; // pictures in a closed sheet
const [HEAD, ROW] = [18, 185]; // heights of the head of a sheet and of a row of photographs
const PER_PAGE = photos ? 96 : 600;

const sheets = {
  open: new Set(),
  across: 0,
  ids: data.groups.map(() => []),

  start() {
    for (const i of range(data.pictured)) this.ids[samples.group[i]].push(i);
    for (const ids of this.ids) ids.sort((a, b) => samples.confidence[b] - samples.confidence[a]);
    document.querySelector("#groups h2").textContent = clustered ? "Clusters" : "Classes";
    const marked = range(data.pictured).some(isWrong);
    $("order").textContent = `The highest confidence comes first, the lowest last. Choose ${shaped ? "an" : "a"} ${noun} ` +
      `to see ${data.edges || data.fitted ? "similar ones" : "more about it"}.${STRIPES}` +
      (marked ? ` Underlined: its true class differs from that of ${clustered ? "most of the cluster" : "the class"}.` : "");
    $("sheets").classList.toggle("many", data.groups.length > MANY_GROUPS);
    $("sheets").append(...data.groups.map((_, group) => this.sheet(group)));
  },

  sheet(group) {
    const { count, confidence, given, truth, purity } = data.groups[group];
    const here = this.ids[group].length;
    const parts = [`${counted(count, noun)}, ${percent(count / data.total)}`];
    if (here < count) parts.push(`${number(here)} on this page`);
    if (given) parts.push(`${number(given)} given`);
    if (truth >= 0) parts.push(`${purity === 1 ? "all" : "mostly"} ${data.trueClasses[truth]}` +
      (purity === 1 ? "" : `, ${percent(purity)}`));
    if (count) parts.push(`median confidence ${percent(confidence)}`);
    const toggle = make("button", { type: "button", className: "quiet", hidden: true });
    toggle.addEventListener("click", () => {
      if (!this.open.delete(group)) this.open.add(group);
      this.fill(group);
    });
    return make("article", { className: "sheet", id: `group-${group}` },
      make("header", {}, make("h3", {}, dot(group), groupName(group)),
        make("p", {}, parts.join(" · ")), toggle),
      make("div"));
  },

  /** Fill the closed sheets again where another number of pictures fits into a row. */
  resize() {
    const width = $("group-0").lastElementChild.clientWidth;
    const across = Math.max(2, Math.floor((width + GAP) / (CELL + GAP)));
    if (across === this.across) return;
    this.across = across;
    data.groups.forEach((_, group) => { if (!this.open.has(group)) this.fill(group); });
  },

  fill(group) {
    const home = $(`group-${group}`).lastElementChild;
    const toggle = $(`group-${group}`).querySelector("header button");
    const ids = this.ids[group];
    const lines = Math.ceil(FEWEST / this.across);
    const most = lines * this.across;
    const opened = this.open.has(group);
    // The height of a sheet that is not drawn yet: links to later sections arrive at their place.
    const rows = Math.min(lines, Math.ceil(ids.length / this.across));
    if (photos) $(`group-${group}`).style.containIntrinsicBlockSize = `auto ${HEAD + rows * ROW}px`;
    toggle.hidden = ids.length <= most;
    toggle.textContent = opened ? "show fewer" : `show all ${number(ids.length)}`;
    toggle.setAttribute("aria-expanded", opened);
    if (opened || ids.length <= most) {
      paged(home, ids, { most: PER_PAGE, title: this.list(group).title });
      return;
    }
    const last = Math.max(1, Math.floor(this.across / 3));
    const list = grid(...ids.slice(0, most - 1 - last).map((i) => thumb(i)),
      this.gap(group, ids.length - most + 1), ...ids.slice(-last).map((i) => thumb(i)));
    home.replaceChildren(listing(list, ids, this.list(group).title));
    if (panel.chosen >= 0) panel.mark();
  },

  list(group) {
    return { ids: this.ids[group], title: inSentence(groupName(group)) };
  },

  gap(group, hidden) {
    const button = make("button", { type: "button", className: "more" }, `+${number(hidden)}`);
    button.setAttribute("aria-label", `Show ${hidden} more`);
    button.style.minHeight = `${photos ? THUMB : fitted(THUMB)[1]}px`;
    if (!photos) button.style.width = `${fitted(THUMB)[0]}px`;
    button.addEventListener("click", () => { this.open.add(group); this.fill(group); });
    return button;
  },
};
