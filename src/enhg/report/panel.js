// --- the panel of one sample -------------------------------------------------------------------

const panel = {
  element: $("panel"),
  chosen: -1,
  list: null,
  origin: null, // what was clicked, of the sample `first`
  first: -1,
  past: [],
  detailed: false, // whether the details are open

  open(i, list, origin) {
    if (this.element.contains(origin)) this.past.push([this.chosen, this.list]);
    else [this.origin, this.first, this.past] = [origin, i, []];
    this.show(i, list ?? { ids: [i], title: "" });
  },

  show(i, list) {
    [this.chosen, this.list] = [i, list];
    this.element.replaceChildren(...this.content(i));
    this.element.scrollTop = 0;
    if (this.element.hidden) this.toggle(true);
    this.element.querySelector("h2").focus({ preventScroll: true });
    this.mark();
  },

  /** Open or close the panel; what was clicked keeps its height on the screen. */
  toggle(shown) {
    const before = this.height();
    this.element.hidden = !shown;
    root.classList.toggle("open", shown);
    resize();
    scrollBy({ top: this.height() - before, behavior: "instant" });
    const { left, top } = this.element.getBoundingClientRect();
    if (shown && left === 0) scrollBy({ top: Math.max(0, this.height() + 40 - top), behavior: "instant" }); // not below it
  },

  /** Height on the screen of what was clicked: of a button, or of a point of the map. */
  height() {
    if (!this.origin.isConnected) { // its sheet was filled again, perhaps without it
      this.origin = document.querySelector(`#sheets [data-sample="${this.first}"]`)
        ?? document.querySelector(`#group-${samples.group[this.first]} .more`) ?? $("sheets");
    }
    const { top } = this.origin.getBoundingClientRect();
    return this.origin === map.canvas ? top + map.y[this.first] : top;
  },

  step(by) {
    const next = this.list.ids[this.list.ids.indexOf(this.chosen) + by];
    if (next !== undefined) this.show(next, this.list);
  },

  back() {
    if (this.past.length) this.show(...this.past.pop());
  },

  close() {
    if (this.element.hidden) return;
    this.toggle(false);
    this.chosen = -1;
    this.mark();
    this.origin.focus({ preventScroll: true });
  },

  /** Mark the chosen sample in all lists. */
  mark() {
    for (const button of document.querySelectorAll('main [aria-pressed="true"][data-sample]')) {
      button.removeAttribute("aria-pressed");
    }
    for (const button of document.querySelectorAll(`main [data-sample="${this.chosen}"]`)) {
      button.setAttribute("aria-pressed", "true");
    }
    document.dispatchEvent(new Event("chosen"));
  },

  content(i) {
    const at = this.list.ids.indexOf(i);
    const place = this.list.title && `${number(at + 1)} of ${number(this.list.ids.length)}, ${this.list.title}`;
    const tool = (text, label, act, disabled = false) =>
      make("button", { type: "button", ariaLabel: label, title: label, onclick: act, disabled }, text);
    const parts = [
      make("div", { className: "tools" },
        this.past.length ? tool("↩", "Back", () => this.back()) : null,
        make("span", {}, place),
        tool("←", "Previous", () => this.step(-1), at <= 0),
        tool("→", "Next", () => this.step(1), at < 0 || at === this.list.ids.length - 1),
        tool("✕", "Close", () => this.close())),
      make("h2", { id: "panel-name", tabIndex: -1 }, samples.name[i]),
      this.figures(i),
    ];
    const texts = remarks(i);
    if (texts.length) parts.push(make("p", { className: "remarks" }, sentence(texts)));
    if (!hasPicture(i)) {
      return [...parts, make("p", { className: "about after" },
        `Its ${shaped ? "picture is" : "features are"} not on this page, which holds those of ` +
        `${number(data.pictured)} of ${number(data.total)} ${noun}s.`)];
    }
    return [...parts, ...this.similar(i), this.details(i)];
  },

  figures(i) {
    const group = samples.group[i];
    const other = samples.alternative[i];
    const facts = factList();
    facts.add(clustered ? "Cluster" : "Class", [dot(group), short(group)]);
    if (samples.truth[i] >= 0) facts.add(capital(truthNoun), trueClass(i) + (isWrong(i) ? " (differs)" : ""));
    if (!clustered && !predicted) facts.add("Label", samples.given[i] ? "given" : "predicted");
    facts.add("Confidence", percent(samples.confidence[i]), samples.confidence[i]);
    if (other >= 0 && samples.lowConfidence[i]) facts.add("Could also be", [dot(other), short(other)]);
    facts.add("Unusual", samples.isOutlier[i] ? "yes" : "no", samples.outlier[i]);
    const large = picture(i, photos ? THUMBNAIL : shaped ? 168 : 340);
    large.setAttribute("role", "img");
    large.setAttribute("aria-label", samples.name[i]);
    if (photos) facts.add("Original", toOriginal(i, `${data.sizes[2 * i]}×${data.sizes[2 * i + 1]} pixels`));
    const wide = !photos && (!shaped || data.tiles.size[1] > 1.6 * data.tiles.size[0]);
    return make("div", { className: wide ? "first stacked" : "first" }, photos ? toOriginal(i, large) : large, facts.element);
  },

  /** Members of the hyperedge with positive coefficients, and the nearest by their features. */
  similar(i) {
    if (data.fitted) return this.similarFitted(i);
    if (!data.edges) return [];
    const [, members, values] = pairs(data.edges.members[i]);
    const ids = [...members.filter((j, at) => values[at] > 0 && hasPicture(j)), ...data.edges.nearest[i]]
      .slice(0, data.edges.similar);
    if (!ids.length) return [];
    return [heading(`Similar ${noun}s`),
      listing(grid(...ids.map((j) => thumb(j, photos ? 128 : THUMB))), ids, `similar to ${samples.name[i]}`)];
  },

  /** The nearest samples of the model. */
  similarFitted(i) {
    return [heading(`Similar ${noun}s of the model`),
      make("ul", { className: photos ? "grid photos fitted-list" : "grid fitted-list" },
        ...data.fitted.similar[i].map((at) => fittedThumb(at)))];
  },

  /** Scores, hyperedges and the reconstruction, closed until they are wanted. */
  details(i) {
    const facts = factList();
    facts.add("Confidence", score(samples.confidence[i]), samples.confidence[i]);
    facts.add("Outlier score", score(samples.outlier[i]), samples.outlier[i]);
    if (samples.boundary) facts.add("Boundary score", score(samples.boundary[i]), samples.boundary[i]);
    if (samples.residual) facts.add("Relative residual", percent(samples.residual[i]));
    const fitted = data.edges ? [...this.members(i), ...this.reconstruction(i), ...this.memberOf(i)] : [];
    const details = make("details", { open: this.detailed }, make("summary", {}, "Details"), facts.element, ...fitted);
    details.addEventListener("toggle", () => { this.detailed = details.open; });
    return details;
  },

  members(i) {
    const [count, ids, values] = pairs(data.edges.members[i]);
    if (!count) return [heading("Hyperedge without other members"), about("All its coefficients are zero.")];
    const rest = count - ids.length;
    return [
      heading(`Hyperedge of ${counted(count, "member")}`),
      about(`Members with their coefficients, out of ${counted(data.edges.support[i], "non-zero coefficient")}` +
        (rest ? `; ${rest} more are not listed.` : ".")),
      this.parts(ids, values, `members of ${samples.name[i]}`),
    ];
  },

  memberOf(i) {
    const count = data.edges.memberOf[i];
    if (!count) return [heading("Member of no other hyperedge")];
    const listed = hyperedgesWith(i);
    const rest = count - listed.length;
    return [
      heading(`Member of ${counted(count, "other hyperedge")}`),
      about("Centroids of these hyperedges, with its coefficient in each" + (rest ? `; ${rest} more are not listed.` : ".")),
      this.parts(listed.map(([j]) => j), listed.map(([, z]) => z), `hyperedges with ${samples.name[i]}`),
    ];
  },

  parts(ids, values, title) {
    const cells = ids.map((id, at) =>
      make("span", { className: "part" }, thumb(id, photos ? 128 : THUMB),
        make("span", { className: values[at] < 0 ? "minus" : "plus" }, signed(values[at]))));
    return listing(make("div", { className: photos ? "parts photos" : "parts" }, ...cells), ids, title);
  },

  reconstruction(i) {
    if (!data.tiles) return [];
    const each = (name, sheet) => {
      const drawn = tile(i, shaped ? 84 : 340, sheet);
      drawn.setAttribute("role", "img");
      drawn.setAttribute("aria-label", `${samples.name[i]}, ${name}`);
      return make("figure", {}, drawn, make("figcaption", {}, name));
    };
    const span = data.tiles.residualSpan;
    const end = span === null ? "2.5 standard deviations" : `${Number(span.toPrecision(2))}`;
    const legend = make("div", {}, make("div", { className: "signed" }),
      make("div", { className: "ends" }, ...[`−${end}`, "0", `+${end}`].map((text) => make("span", {}, text))));
    return [
      heading("Reconstruction and residual"),
      about(`Relative residual of the preprocessed ${noun}: ${percent(samples.residual[i])}.`),
      make("div", { className: "triple" }, each(photos ? "as it was used" : noun, "sample"), each("reconstruction", "reconstruction"),
        each("residual", "residual")),
      legend,
    ];
  },
};

/** A link to the file of a photograph, at full size, around `inside`. */
const toOriginal = (i, inside) => make("a", { href: data.originals[i], target: "_blank", rel: "noopener" }, inside);

const heading = (text) => make("h3", {}, text);
const about = (text) => make("p", { className: "about" }, text);
const sentence = (parts) => `${capital(parts.join("; "))}.`;

/** A list of facts: a name, a value and for a share its bar. */
function factList() {
  const element = make("dl", { className: "facts" });
  const add = (name, value, share = null) => {
    const meter = share === null ? null : make("span", { className: "meter" }, make("i"));
    if (meter) meter.firstChild.style.width = `${100 * share}%`;
    element.append(make("div", {}, make("dt", {}, name), make("dd", {}, ...[value].flat(), meter)));
  };
  return { element, add };
}

const MOST_HYPEREDGES = 24; // listed for a member
let centroids = null;

/** The hyperedges on this page that a sample is a member of: their centroids and its coefficients. */
function hyperedgesWith(i) {
  if (!centroids) {
    centroids = range(data.pictured).map(() => []);
    data.edges.members.forEach((edge, e) => {
      for (let at = 1; at < edge.length; at += 2) centroids[edge[at]]?.push([e, edge[at + 1]]);
    });
  }
  return centroids[i].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MOST_HYPEREDGES);
}

const pairs = ([count, ...flat]) =>
  [count, flat.filter((_, at) => at % 2 === 0), flat.filter((_, at) => at % 2 === 1)];
