// --- predictions, to be accepted in bulk ----------------------------------------------------------

const BINS = 50; // bars of the histogram of confidences
const FEW = 120; // pictures on a page of the preview

const predictions = {
  title: "Predictions",
  threshold: -1, // until it is chosen: that of the quarter of highest confidence
  code: -1, // the class that is looked at, −1 for all
  moved: false,

  start() {
    document.querySelector("#predictions .about").textContent =
      "Labels that your labels spread to. Choose the lowest confidence to accept, check the images below, and accept them; " +
      "selected images are left out and can be given another label. Confidence is the largest class probability after the labels have " +
      "spread: with few labels it is low even for correct predictions, so use it to rank them.";
    this.slider = make("input", { type: "range", min: 0, max: 100, step: 1, id: "threshold" });
    this.slider.addEventListener("input", () => {
      this.threshold = Number(this.slider.value) / 100;
      this.moved = true;
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.fill());
    });
    this.classes = make("select", { id: "accepted-class", ariaLabel: "Class of the predictions" });
    this.classes.addEventListener("change", () => {
      this.code = Number(this.classes.value);
      this.show();
    });
    this.bars = make("div", { className: "bars", ariaHidden: "true" }, ...range(BINS).map(() => make("i")));
    this.value = make("output", { htmlFor: "threshold" });
    this.button = make("button", { type: "button", className: "solid", id: "accept", onclick: () => this.accept() });
    this.note = make("p", { className: "about" });
    [this.kept, this.left] = [make("div"), make("div")];
    this.controls = make("div", { className: "accepting" },
      make("div", { className: "threshold" },
        make("label", { htmlFor: "threshold" }, "Accept predictions with a confidence of at least ", this.value), this.bars, this.slider,
        make("div", { className: "ends", ariaHidden: "true" }, make("span", {}, percent(0)), make("span", {}, percent(1)))),
      this.classes, this.button);
    this.titles = [make("h3"), make("h3")];
    this.none = make("p", { className: "notice" });
    $("predicted").append(this.none, this.controls, this.note, this.titles[0], this.kept, this.titles[1], this.left);
  },

  /** Predictions of images that nobody decided on, the highest confidence first. */
  show() {
    const all = range(content.names.length).filter((i) => shownPrediction(i) >= 0);
    const counts = state.classes.map(() => 0);
    for (const i of all) counts[shownPrediction(i)] += 1;
    if (this.code >= state.classes.length) this.code = -1;
    this.classes.replaceChildren(make("option", { value: "-1" }, `All classes, ${number(all.length)}`),
      ...state.classes.map((text, code) => make("option", { value: `${code}` }, `${text}, ${number(counts[code])}`)));
    this.classes.value = `${this.code}`;
    this.ids = all.filter((i) => this.code < 0 || shownPrediction(i) === this.code).sort((a, b) => state.confidence[b] - state.confidence[a]);
    if (!this.moved && this.ids.length) {
      this.threshold = Math.floor(100 * confidence(this.ids[this.ids.length >> 2])) / 100;
      this.slider.value = `${100 * this.threshold}`;
    }
    const bins = new Array(BINS).fill(0);
    for (const i of this.ids) bins[Math.min(BINS - 1, Math.floor(confidence(i) * BINS))] += 1;
    const most = Math.max(...bins, 1);
    [...this.bars.children].forEach((bar, at) => { bar.style.height = `${bins[at] ? Math.max(4, 100 * Math.sqrt(bins[at] / most)) : 0}%`; });
    const some = all.length > 0;
    for (const part of [this.controls, this.note, this.kept, this.left, ...this.titles]) part.hidden = !some;
    this.none.hidden = some;
    const left = range(content.names.length).filter((i) => !isSettled(i) && state.predicted[i] >= 0).length;
    this.none.textContent = state.history.at(-1)[0] === content.names.length ? "Every image is labeled or marked."
      : left ? `${images(left)} left, drawn at random to check the predictions: label ${left === 1 ? "it" : "them"} in Questions.`
        : "No predictions yet. They appear after the first labels.";
    this.fill();
  },

  /** The images that would be accepted, without those selected. */
  chosen() {
    return this.ids.filter((i) => confidence(i) >= this.threshold && !selection.rows.has(i));
  },

  fill() {
    const above = this.ids.filter((i) => confidence(i) >= this.threshold);
    const below = this.ids.slice(above.length);
    const part = (i) => thumb(i, { withConfidence: true });
    this.titles[0].textContent = above.length ? "To be accepted, lowest confidence first" : "No prediction has this confidence";
    this.titles[1].textContent = below.length ? "Not to be accepted, highest confidence first" : "";
    paged(this.kept, above.reverse(), { title: "To be accepted", part, most: FEW });
    paged(this.left, below, { title: "Not to be accepted", part, most: FEW / 2 });
    [...this.bars.children].forEach((bar, at) => bar.classList.toggle("in", (at + 0.5) / BINS >= this.threshold));
    this.count();
  },

  count() {
    const count = this.chosen().length;
    const without = this.ids.filter((i) => confidence(i) >= this.threshold).length - count;
    this.value.textContent = percent(this.threshold);
    this.slider.setAttribute("aria-valuetext", `${percent(this.threshold)}, ${images(count)}`);
    this.button.textContent = `Accept ${number(count)}`;
    this.button.disabled = !count;
    const asked = [...hidden].filter((i) => state.predicted[i] >= 0 && !isSettled(i)).length;
    this.note.textContent = [without ? `${images(without)} selected and left out.` : "",
      asked ? `${images(asked)} drawn at random to check the predictions ${asked === 1 ? "is" : "are"} not among them.` : ""].join(" ");
  },

  async accept() {
    const rows = this.chosen();
    if (!rows.length) return;
    const focused = document.activeElement;
    await accept(rows);
    if (!focused.disabled) focused.focus();
    else this.slider.focus();
  },

  target: () => null,
  changed() { this.show(); },
  selected() { this.count(); },
  stepped() { },
};
