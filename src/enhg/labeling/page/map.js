// --- the map, with a lasso ------------------------------------------------------------------------

const REACH = 14; // largest distance of the pointer from a point, in pixels
const AROUND = 20; // images that Shift and Space select around a point
const MOST_LASSOED = 120; // pictures on a page of the selected

const plane = {
  title: "Map",
  canvas: $("plane"),
  tip: $("tip"),
  hovered: -1,
  lasso: null,

  start() {
    document.querySelector("#map .about").textContent =
      "Every point is an image; similar ones are near each other. Draw around points to select them, with Shift to add. " +
      "Filled point: labeled. Ring: predicted. Cross: marked. Gray: no label, and no prediction shown.";
    this.canvas.setAttribute("aria-label", `Map of ${images(content.names.length)}. Arrow keys go from point to point, ` +
      `Space selects one, Shift and Space the ${AROUND} nearest.`);
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointercancel", () => { this.lasso = null; this.draw(); });
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => this.hover(-1));
    new ResizeObserver(() => requestAnimationFrame(() => this.resize())).observe(this.canvas.parentElement);
  },

  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.hover(-1);
    this.lasso = [[event.offsetX, event.offsetY]];
  },

  move(event) {
    if (!this.lasso) return this.hover(this.nearest(event.offsetX, event.offsetY));
    const [x, y] = this.lasso.at(-1);
    if (Math.hypot(event.offsetX - x, event.offsetY - y) < 3) return;
    this.lasso.push([event.offsetX, event.offsetY]);
    this.draw();
  },

  release(event) {
    const path = this.lasso;
    this.lasso = null;
    if (!path) return;
    const adds = event.shiftKey || event.ctrlKey || event.metaKey;
    if (path.length < 4) {
      const i = this.nearest(event.offsetX, event.offsetY);
      if (i >= 0) selection.toggle(i);
      else if (!adds) selection.clear();
    } else {
      const rows = range(content.names.length).filter((i) => this.inside(path, i));
      selection.set(adds ? [...selection.rows, ...rows] : rows);
      showStatus(`${images(selection.rows.size)} selected.`);
    }
    this.draw();
  },

  /** Whether a point is inside a path: a ray from it crosses the path an odd number of times. */
  inside(path, i) {
    let odd = false;
    for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
      const [[ax, ay], [bx, by]] = [path[a], path[b]];
      if (ay > this.y[i] !== by > this.y[i] && this.x[i] < ax + ((bx - ax) * (this.y[i] - ay)) / (by - ay)) odd = !odd;
    }
    return odd;
  },

  show() {
    this.resize();
    this.paint();
    this.selected();
  },

  resize() {
    const width = this.canvas.clientWidth;
    const height = Math.min(width, Math.max(300, Math.round(0.62 * innerHeight)));
    const ratio = devicePixelRatio || 1;
    if (!width || (width === this.width && height === this.height && ratio === this.ratio)) return;
    this.hover(-1);
    Object.assign(this, { width, height, ratio });
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const margin = 18;
    const n = content.names.length;
    this.x = Float32Array.from({ length: n }, (_, i) => margin + content.places[2 * i] * (width - 2 * margin));
    this.y = Float32Array.from({ length: n }, (_, i) => height - margin - content.places[2 * i + 1] * (height - 2 * margin));
    this.paint();
  },

  nearest(x, y, allowed = () => true, reach = REACH) {
    let [best, least] = [-1, reach * reach];
    for (let i = 0; i < this.x.length; i++) {
      const far = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (far < least && allowed(i)) [best, least] = [i, far];
    }
    return best;
  },

  hover(i) {
    this.canvas.style.cursor = i >= 0 ? "pointer" : "";
    if (i === this.hovered) return;
    this.hovered = i;
    this.tip.hidden = i < 0;
    if (i >= 0) {
      this.tip.replaceChildren(picture(i, isPhoto() ? 112 : 56),
        make("p", {}, make("b", {}, ending(content.names[i], 40)), make("br"), make("small", {}, describe(i))));
      const left = Math.min(this.x[i] + 14, this.width - this.tip.offsetWidth - 4);
      const above = this.y[i] + 14 + this.tip.offsetHeight > this.height;
      this.tip.style.left = `${Math.max(4, left)}px`;
      this.tip.style.top = `${above ? this.y[i] - 14 - this.tip.offsetHeight : this.y[i] + 14}px`;
    }
    this.draw();
    tray.showTarget();
  },

  key(event) {
    const toward = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const from = this.hovered < 0 ? Math.max(this.x.findIndex((x) => x >= 0), 0) : this.hovered; // not all are on the map
    if (event.key === " ") {
      event.preventDefault();
      if (event.shiftKey) selection.set([...selection.rows, ...this.around(from)]);
      else selection.toggle(from);
      showStatus(`${images(selection.rows.size)} selected.`);
    } else if (toward && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      const ahead = (i) => {
        const [dx, dy] = [this.x[i] - this.x[from], this.y[i] - this.y[from]];
        const along = dx * toward[0] + dy * toward[1];
        return along > 0.5 && along > Math.abs(dx * toward[1] + dy * toward[0]);
      };
      const next = this.hovered < 0 ? from : this.nearest(this.x[from], this.y[from], ahead, Infinity);
      this.hover(next >= 0 ? next : from);
      showStatus(`${content.names[this.hovered]}, ${describe(this.hovered)}`);
    }
  },

  around(from) {
    const far = (i) => (this.x[i] - this.x[from]) ** 2 + (this.y[i] - this.y[from]) ** 2;
    return range(this.x.length).filter((i) => this.x[i] >= 0).sort((a, b) => far(a) - far(b)).slice(0, AROUND);
  },

  target() {
    return this.hovered >= 0 && document.activeElement === this.canvas
      ? { rows: [this.hovered], origin: "selection", text: "the point in focus" } : null;
  },

  disc(brush, i, radius) {
    brush.beginPath();
    brush.arc(this.x[i], this.y[i], radius, 0, 7);
  },

  cross(brush, i, radius) {
    const [x, y] = [this.x[i], this.y[i]];
    brush.beginPath();
    for (const [dx, dy] of [[1, 1], [1, -1]]) {
      brush.moveTo(x - dx * radius, y - dy * radius);
      brush.lineTo(x + dx * radius, y + dy * radius);
    }
    brush.stroke();
  },

  /** All points, on a second canvas that is kept while the pointer moves. */
  paint() {
    if (!this.x) return;
    this.points = make("canvas", { width: this.canvas.width, height: this.canvas.height });
    const brush = this.points.getContext("2d");
    brush.scale(this.ratio, this.ratio);
    this.radius = Math.max(1.8, Math.min(4, (0.11 * this.width) / Math.sqrt(this.x.length)));
    const fill = (code) => (code < 0 ? "#8a8f94" : (theme.dark ? lighter : color)(code));
    for (const settled of [false, true]) {
      for (let i = 0; i < this.x.length; i++) {
        if (isSettled(i) !== settled) continue;
        const code = settled ? state.labels[i] : shownPrediction(i);
        brush.fillStyle = brush.strokeStyle = fill(code);
        brush.globalAlpha = settled ? 0.9 : code < 0 ? 0.45 : 0.8;
        if (state.marks[i] >= 0) {
          this.cross(brush, i, this.radius);
          continue;
        }
        this.disc(brush, i, this.radius);
        if (settled || code < 0) brush.fill();
        else brush.stroke();
      }
    }
    brush.globalAlpha = 1;
    this.write(brush, getComputedStyle(this.canvas));
    this.draw();
  },

  /** Names of the classes at the medians of their points, where they do not overlap. */
  write(brush, style) {
    const points = state.classes.map(() => []);
    for (const i of range(this.x.length)) {
      const code = state.labels[i] >= 0 ? state.labels[i] : shownPrediction(i);
      if (code >= 0 && this.x[i] >= 0) points[code].push(i); // of many images not all are on the map
    }
    const shown = state.classes.flatMap((name, code) => {
      if (!points[code].length) return [];
      const median = (values) => points[code].map((i) => values[i]).sort((a, b) => a - b)[points[code].length >> 1];
      return [[beginning(name, 16), median(this.x), median(this.y)]];
    });
    writeTexts(brush, style, this.width, shown);
  },

  draw() {
    if (!this.points) return;
    const brush = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, this.canvas.width, this.canvas.height);
    brush.drawImage(this.points, 0, 0);
    brush.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    brush.strokeStyle = style.outlineColor; // the accent
    brush.lineWidth = 1.2;
    for (const i of selection.rows) {
      this.disc(brush, i, this.radius + 2);
      brush.stroke();
    }
    if (this.lasso) this.drawLasso(brush, style);
    if (this.hovered < 0) return;
    brush.strokeStyle = style.color;
    brush.lineWidth = 2;
    this.disc(brush, this.hovered, this.radius + 5);
    brush.stroke();
  },

  drawLasso(brush, style) {
    brush.beginPath();
    for (const [x, y] of this.lasso) brush.lineTo(x, y);
    brush.closePath();
    brush.globalAlpha = 0.12;
    brush.fillStyle = style.outlineColor;
    brush.fill();
    brush.globalAlpha = 1;
    brush.stroke();
  },

  changed() { this.paint(); },
  stepped() { },

  /** The pictures that are selected, below the map. */
  selected() {
    this.draw();
    const rows = [...selection.rows];
    const listed = new Set($("lassoed").querySelector(".listing")?.listed.ids ?? []);
    if (rows.length && rows.every((i) => listed.has(i)) && document.activeElement?.closest("#lassoed")) return;
    if (!rows.length) return void $("lassoed").replaceChildren();
    paged($("lassoed"), rows, { title: "Selected on the map", most: MOST_LASSOED });
    $("lassoed").prepend(make("h3", {}, `${number(rows.length)} selected`));
  },
};
