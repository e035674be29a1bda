// --- the map --------------------------------------------------------------------------------------

const REACH = 14; // largest distance of the pointer from a point, in pixels
const map = {
  canvas: $("plane"),
  tip: $("tip"),
  by: "group",
  only: -1,
  hovered: -1,

  start() {
    if (!samples.x) { // new samples are not on a map
      $("map").remove();
      return;
    }
    document.querySelector("#map .about").textContent =
      `Every point is ${shaped ? "an image" : "a sample"}; similar ones are near each other. ` +
      `Distances between ${groupNouns} mean little.` +
      (samples.name.length < data.total ? ` ${number(samples.name.length)} of ${number(data.total)} are drawn.` : "");
    this.canvas.setAttribute("aria-label",
      `Map of ${samples.name.length} ${noun}s. Arrow keys go from point to point, Enter opens one.`);
    this.canvas.setAttribute("role", "application");
    const ways = [["group", clustered ? "Cluster" : "Class"]];
    if (data.trueClasses.length) ways.push(["truth", capital(truthNoun)]);
    ways.push(["confidence", "Confidence"]);
    for (const [way, text] of ways) {
      const button = make("button", { type: "button" }, text);
      button.dataset.way = way;
      button.addEventListener("click", () => this.colorBy(way));
      $("coloring").append(button);
    }
    this.colorBy("group");
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.nearest(event.offsetX, event.offsetY)));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener("click", (event) => {
      const i = this.nearest(event.offsetX, event.offsetY);
      if (i >= 0) this.choose(i);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => this.hover(-1));
    document.addEventListener("chosen", () => this.draw());
  },

  choose(i) {
    this.hover(-1);
    panel.open(i, hasPicture(i) ? sheets.list(samples.group[i]) : null, this.canvas);
  },

  colorBy(way) {
    this.by = way;
    this.only = -1;
    for (const button of $("coloring").children) button.setAttribute("aria-pressed", button.dataset.way === way);
    $("legend").replaceChildren(...(way === "confidence" ? this.scale() : this.kinds()));
    this.paint();
  },

  /** Buttons of the groups or true classes, each of which shows only its own points. */
  kinds() {
    const names = this.by === "group" ? data.groups.map((_, at) => short(at)) : data.trueClasses;
    const counts = names.map(() => 0);
    for (const kind of samples[this.by]) if (kind >= 0) counts[kind] += 1;
    return names.map((name, at) => {
      const button = make("button", { type: "button", ariaPressed: "false" }, dot(at), name,
        make("small", {}, number(counts[at])));
      button.addEventListener("click", () => {
        this.only = this.only === at ? -1 : at;
        [...$("legend").children].forEach((other, o) => other.setAttribute("aria-pressed", o === this.only));
        this.paint();
      });
      return button;
    });
  },

  scale() {
    const bar = make("div", { className: "scale" });
    const stops = [0, 0.25, 0.5, 0.75, 1].map((value) => this.shade(value));
    bar.style.background = `linear-gradient(90deg, ${stops.join(",")})`;
    return [bar, make("div", { className: "ends" }, make("span", {}, percent(0)), make("span", {}, percent(1)))];
  },

  shade(confidence) {
    return `color-mix(in oklab, #a9b0b6, #d2440c ${(100 * (1 - confidence)).toFixed(0)}%)`;
  },

  /** Place the points anew where the size is another one; otherwise a point under the pointer or the keys stays. */
  resize() {
    if (!samples.x) return;
    const side = this.canvas.clientWidth;
    const height = Math.round(Math.min(1.3 * side, Math.max(420, 0.8 * innerHeight)));
    const ratio = devicePixelRatio || 1;
    if (side === this.width && height === this.height && ratio === this.ratio) return;
    this.hover(-1);
    Object.assign(this, { width: side, height, ratio });
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(side * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.place();
    this.paint();
  },

  place() {
    const margin = 22;
    const span = (values, side) => {
      const low = values.reduce((a, b) => Math.min(a, b), Infinity);
      const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
      return [(side - 2 * margin) / (high - low || 1), (low + high) / 2];
    };
    const [ax, mx] = span(samples.x, this.width);
    const [ay, my] = span(samples.y, this.height);
    // The plane is stretched to the space, by at most 1.6.
    const [sx, sy] = [Math.min(ax, 1.6 * ay), Math.min(ay, 1.6 * ax)];
    this.x = Float32Array.from(samples.x, (x) => this.width / 2 + sx * (x - mx));
    this.y = Float32Array.from(samples.y, (y) => this.height / 2 - sy * (y - my));
  },

  nearest(x, y, allowed = () => true, reach = REACH) {
    let best = -1;
    let least = reach * reach;
    for (let i = 0; i < this.x.length; i++) {
      const far = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (far < least && this.visible(i) && allowed(i)) [best, least] = [i, far];
    }
    return best;
  },

  visible(i) {
    return this.only < 0 || samples[this.by][i] === this.only;
  },

  hover(i) {
    this.canvas.style.cursor = i >= 0 ? "pointer" : "";
    if (i === this.hovered) return;
    this.hovered = i;
    this.tip.hidden = i < 0;
    if (i >= 0) {
      this.tip.replaceChildren(...(hasPicture(i) && shaped ? [picture(i, photos ? 128 : THUMB)] : []),
        make("p", {}, make("b", {}, samples.name[i]), make("br"),
          make("small", {}, `${groupName(samples.group[i])}, confidence ${percent(samples.confidence[i])}`)));
      const left = Math.min(this.x[i] + 14, this.width - this.tip.offsetWidth - 4);
      const above = this.y[i] + 14 + this.tip.offsetHeight > this.height;
      this.tip.style.left = `${Math.max(4, left)}px`;
      this.tip.style.top = `${above ? this.y[i] - 14 - this.tip.offsetHeight : this.y[i] + 14}px`;
    }
    this.draw();
  },

  key(event) {
    const toward = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" && this.hovered >= 0) {
      event.preventDefault();
      this.choose(this.hovered);
    } else if (toward) {
      event.preventDefault();
      const from = this.hovered >= 0 ? this.hovered : Math.max(panel.chosen, 0);
      const ahead = (i) => {
        const [dx, dy] = [this.x[i] - this.x[from], this.y[i] - this.y[from]];
        const along = dx * toward[0] + dy * toward[1];
        return along > 0.5 && along > Math.abs(dx * toward[1] + dy * toward[0]);
      };
      const next = this.nearest(this.x[from], this.y[from], ahead, Infinity);
      this.hover(next >= 0 ? next : from);
    }
  },

  draw() {
    if (!this.points) return;
    const brush = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    const scale = this.canvas.width / this.width;
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, this.canvas.width, this.canvas.height);
    brush.drawImage(this.points, 0, 0);
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    this.drawChosen(brush, style);
  },

  disc(brush, i, radius) {
    brush.beginPath();
    brush.arc(this.x[i], this.y[i], radius, 0, 7);
  },

  /** All points and names, on a second canvas that is kept while the pointer moves. */
  paint() {
    if (!this.x) return;
    this.points = make("canvas", { width: this.canvas.width, height: this.canvas.height });
    const brush = this.points.getContext("2d");
    const scale = this.canvas.width / this.width;
    brush.scale(scale, scale);
    this.radius = Math.max(1.6, Math.min(4, 0.11 * this.width / Math.sqrt(this.x.length)));
    const fills = this.by === "confidence"
      ? (i) => this.shade(Math.round(20 * samples.confidence[i]) / 20)
      : (i) => (samples[this.by][i] < 0 ? "#8a8f94" : (theme.dark ? lighter : color)(samples[this.by][i]));
    for (const shown of [false, true]) {
      brush.globalAlpha = shown ? 0.75 : 0.12;
      for (let i = 0; i < this.x.length; i++) {
        if (this.visible(i) !== shown) continue;
        brush.fillStyle = fills(i);
        this.disc(brush, i, this.radius);
        brush.fill();
      }
    }
    brush.globalAlpha = 1;
    if (this.by !== "confidence") this.write(brush, getComputedStyle(this.canvas));
    this.draw();
  },

  /** Names at the medians of their points, where they do not overlap. */
  write(brush, style) {
    const names = this.by === "group" ? data.groups.map((_, at) => short(at)) : data.trueClasses;
    const points = names.map(() => []);
    samples[this.by].forEach((kind, i) => { if (kind >= 0) points[kind].push(i); });
    const shown = names.flatMap((name, kind) => {
      if (!points[kind].length || (this.only >= 0 && kind !== this.only)) return [];
      const middle = this.middle(points[kind]);
      return [[name.length > 16 ? `${name.slice(0, 15)}…` : name, this.x[middle], this.y[middle]]];
    });
    writeTexts(brush, style, this.width, shown);
  },

  /** The point nearest to the median of some. */
  middle(points) {
    const median = (values) => points.map((i) => values[i]).sort((a, b) => a - b)[points.length >> 1];
    const [x, y] = [median(this.x), median(this.y)];
    const far = (i) => (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
    return points.reduce((best, i) => (far(i) < far(best) ? i : best));
  },

  /** The chosen sample with lines to its members, and the one under the pointer. */
  drawChosen(brush, style) {
    brush.strokeStyle = style.color;
    const i = panel.chosen;
    if (i >= 0 && hasPicture(i)) { // a map is of fitted samples, which have hyperedges
      const [, ids] = pairs(data.edges.members[i]);
      brush.globalAlpha = 0.55;
      brush.lineWidth = 1;
      for (const j of ids) {
        brush.beginPath();
        brush.moveTo(this.x[i], this.y[i]);
        brush.lineTo(this.x[j], this.y[j]);
        brush.stroke();
      }
      brush.globalAlpha = 1;
    }
    brush.lineWidth = 2;
    for (const ringed of [i, this.hovered]) {
      if (ringed < 0) continue;
      this.disc(brush, ringed, this.radius + 4);
      brush.stroke();
    }
  },
};
