// --- confusion ------------------------------------------------------------------------------------

const MOST_WRITTEN = 600; // cells of a table with numbers
const confusion = {
  start() {
    if (!data.confusion) {
      $("confusion").remove();
      return;
    }
    const { rows, columns } = data.confusion;
    document.querySelector("#confusion h2").textContent = `Compared with the ${truthNouns}`;
    document.querySelector("#confusion .about").textContent =
      `Number of ${noun}s of each ${truthNoun} (row) in each ${groupNoun} (column)` +
      (clustered ? `, each cluster below the ${truthNoun} that it matches best.` : ", without those whose label was given.") +
      " Choose a number to see them.";
    const written = rows.length * columns.length <= MOST_WRITTEN;
    $("table").append(written ? this.table() : this.canvas());
    this.show(...this.worst());
  },

  share(row, column) {
    const counts = data.confusion.table[row];
    return counts[column] / Math.max(1, counts.reduce((a, b) => a + b, 0));
  },

  /** The off-diagonal cell with the largest count, or the first if there is none. */
  worst() {
    const { table, rows, columns } = data.confusion;
    const right = (r, c) => (clustered ? r === c : data.trueClasses[rows[r]] === short(columns[c]));
    let best = [0, 0];
    let most = 0;
    table.forEach((counts, r) => counts.forEach((count, c) => {
      if (!right(r, c) && count > most) [best, most] = [[r, c], count];
    }));
    return best;
  },

  table() {
    const { table, rows, columns } = data.confusion;
    const head = make("tr", {}, make("td"), ...columns.map((at) => make("th", { scope: "col" }, short(at))));
    const lines = rows.map((truth, r) => make("tr", {}, make("th", { scope: "row", title: data.trueClasses[truth] }, data.trueClasses[truth]),
      ...columns.map((group, c) => make("td", {}, this.button(table[r][c], r, c)))));
    return make("table", {}, make("caption", {}, `Rows: ${truthNouns}. Columns: ${clustered ? "clusters" : "predicted classes"}.`),
      make("thead", {}, head), make("tbody", {}, ...lines));
  },

  button(count, r, c) {
    if (!count) return make("span", {}, "·");
    const share = this.share(r, c);
    const button = make("button", { type: "button" }, number(count));
    button.style.setProperty("--shade", `color-mix(in oklab, var(--accent) ${(8 + 92 * share).toFixed(0)}%, var(--surface))`);
    if (share > 0.45) button.style.setProperty("--text", "var(--on-accent)");
    button.setAttribute("aria-label", this.text(r, c));
    button.dataset.cell = [r, c];
    button.addEventListener("click", () => this.show(r, c));
    return button;
  },

  text(r, c) {
    const { table, rows, columns } = data.confusion;
    return `${counted(table[r][c], noun)} of ${data.trueClasses[rows[r]]} in ${inSentence(groupName(columns[c]))}`;
  },

  /** The samples of one cell that are on the page. */
  show(r, c) {
    const { table, rows, columns } = data.confusion;
    const ids = sheets.ids[columns[c]].filter((i) => samples.truth[i] === rows[r] && !samples.given[i]);
    for (const button of document.querySelectorAll("#table [data-cell]")) {
      button.setAttribute("aria-pressed", button.dataset.cell === `${r},${c}`);
    }
    const here = ids.length < table[r][c] ? `, ${ids.length} of them here` : "";
    const list = make("div", { className: "after" });
    paged(list, ids, { most: photos ? 12 : 60, title: this.text(r, c) });
    $("cell").replaceChildren(make("p", { className: "about" }, `${this.text(r, c)}${here}`), list);
  },

  /** A picture for many classes; the cell under the pointer is described below it. */
  canvas() {
    const { table, rows, columns } = data.confusion;
    const width = Math.min(640, $("confusion").clientWidth - 8);
    const side = Math.max(2, Math.min(14, Math.floor(width / Math.max(rows.length, columns.length))));
    const canvas = make("canvas", { width: side * columns.length, height: side * rows.length });
    canvas.style.width = `${canvas.width}px`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Confusion of ${counted(rows.length, truthNoun)} with ${counted(columns.length, groupNoun)}`);
    const description = make("p", { className: "about" }, `Rows: ${truthNouns}. Columns: ${groupNouns}. Point at a cell.`);
    const cell = (event) => [Math.floor(event.offsetY / side), Math.floor(event.offsetX / side)];
    const inside = ([r, c]) => r >= 0 && c >= 0 && table[r]?.[c] > 0;
    canvas.addEventListener("pointermove", (event) => {
      if (inside(cell(event))) description.textContent = this.text(...cell(event));
    });
    canvas.addEventListener("click", (event) => { if (inside(cell(event))) this.show(...cell(event)); });
    this.paint = () => {
      const brush = canvas.getContext("2d");
      brush.clearRect(0, 0, canvas.width, canvas.height);
      brush.fillStyle = getComputedStyle($("theme")).color;
      table.forEach((counts, r) => counts.forEach((count, c) => {
        brush.globalAlpha = count ? 0.12 + 0.88 * this.share(r, c) : 0;
        brush.fillRect(c * side, r * side, side - 1, side - 1);
      }));
    };
    this.paint();
    return make("div", {}, canvas, description);
  },

  paint() {},
};

// --- the number of groups ---------------------------------------------------------------------------

const charts = {
  start() {
    const { estimate } = data;
    if (!data.eigenvalues) return void $("count").remove(); // the number is that of the labels, or of the model
    const used = namedGroups().length;
    const text = [];
    if (!estimate) text.push(`The number of clusters, ${used}, was given; no estimate was made.`);
    else {
      const compared = estimate.runnerUp !== estimate.nClusters; // with another number
      text.push(`The estimate is ${counted(estimate.nClusters, "cluster")}` +
        (compared ? `; the next peak of the scores is at ${estimate.runnerUp}.` : "."),
        estimate.reliable ? "The estimate is reliable." : `The estimate is not reliable${compared ? ": compare both." : "."}`);
      if (estimate.nClusters !== used) text.push(`${used} clusters were made.`);
    }
    document.querySelector("#count .about").textContent = text.join(" ");
    if (!estimate) {
      $("scores").remove();
      document.querySelector(".charts").style.gridTemplateColumns = "minmax(0, 1fr)";
    }
  },

  resize() {
    if (!data.eigenvalues) return;
    this.spectrum($("spectrum"), data.estimate ? data.estimate.eigenvalues : data.eigenvalues);
    if (data.estimate) this.scores($("scores"), data.estimate);
  },

  /** An empty chart with axes; returns functions from values to places. */
  frame(home, title, count, low, high) {
    const [width, height, left, bottom] = [Math.max(240, home.clientWidth), 250, 44, 28];
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": title });
    const x = (k) => left + ((k - 0.5) / count) * (width - left);
    const y = (value) => 10 + (1 - (value - low) / (high - low || 1)) * (height - bottom - 10);
    for (const value of ticks(low, high)) {
      svg.append(draw("line", { class: "axis", x1: left, x2: width, y1: y(value), y2: y(value) }),
        draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, tickText(value)));
    }
    const every = [1, 2, 5, 10, 20, 50].find((step) => step * (width - left) >= 26 * count) ?? 100;
    for (let k = every > 1 ? every : 1; k <= count; k += every) {
      svg.append(draw("text", { x: x(k), y: height - 8, "text-anchor": "middle" }, `${k}`));
    }
    home.replaceChildren(make("figcaption", {}, title), svg);
    return { svg, x, y, width, height, bottom };
  },

  spectrum(home, values) {
    const known = values.map((value, at) => [at + 1, value]).filter(([, value]) => value !== null);
    const low = Math.min(...known.map(([, value]) => value));
    const { svg, x, y, width, height, bottom } =
      this.frame(home, "Eigenvalues of the hypergraph in decreasing order", values.length, Math.min(low, 0.999), 1);
    const used = namedGroups().length;
    if (used < values.length) {
      const at = x(used + 0.5);
      const end = at > width - 110;
      svg.append(draw("line", { class: "mark", x1: at, x2: at, y1: 4, y2: height - bottom }),
        draw("text", { class: "strong", x: at + (end ? -8 : 8), y: 16, "text-anchor": end ? "end" : "start" },
          counted(used, "cluster")));
    }
    svg.append(draw("polyline", { class: "line", points: known.map(([k, value]) => `${x(k)},${y(value)}`).join(" ") }));
    for (const [k, value] of known) {
      const point = draw("circle", { class: "point", cx: x(k), cy: y(value), r: values.length > 50 ? 2.5 : 3.5 });
      point.append(draw("title", {}, `eigenvalue ${k}: ${value.toFixed(4)}`));
      svg.append(point);
    }
  },

  scores(home, { nClusters, runnerUp, scores }) {
    const values = scores.map((value) => value ?? 0);
    const [low, high] = [Math.min(0, ...values), Math.max(...values, 1e-9)];
    const { svg, x, y } = this.frame(home, "Score of every number of clusters", values.length, low, high);
    const wide = Math.max(2, Math.min(28, 0.7 * (x(2) - x(1))));
    values.forEach((value, at) => {
      const k = at + 1;
      const kind = k === nClusters ? "best" : k === runnerUp ? "second" : "";
      const bar = draw("rect", { class: `bar ${kind}`, x: x(k) - wide / 2, width: wide,
        y: y(Math.max(0, value)), height: Math.abs(y(0) - y(value)) });
      bar.append(draw("title", {}, `${k}: ${value.toFixed(3)}`));
      svg.append(bar);
      if (kind) svg.append(draw("text", { class: "strong", x: x(k), y: y(Math.max(0, value)) - 5, "text-anchor": "middle" }, `${k}`));
    });
  },
};

function draw(tag, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** Round numbers from low to high, about five. */
function ticks(low, high) {
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.ceil(low / step - 1e-9);
  return range(Math.floor(high / step + 1e-9) - first + 1).map((at) => (first + at) * step);
}

const tickText = (value) => `${Number(value.toPrecision(4))}`.replace("-", "−");
