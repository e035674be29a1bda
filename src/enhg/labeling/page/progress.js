// --- progress: counts, the curve, and the estimate of the accuracy --------------------------------

const FEWEST_CHECKS = 10; // below, an interval says nothing
const Z = 1.96; // of a 95 % interval

/** Wilson's interval of a share, at 95 %. */
function wilson(right, checked) {
  const [share, spread] = [right / checked, Z ** 2 / checked];
  const middle = (share + spread / 2) / (1 + spread);
  const half = (Z / (1 + spread)) * Math.sqrt((share * (1 - share)) / checked + spread / (4 * checked));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** The accuracy of the predictions on random images, in a line or in full. */
function estimateText(short = false) {
  const [settled, checked, right] = state.history.at(-1);
  if (checked < FEWEST_CHECKS) {
    if (settled === content.names.length) return `No estimate of the accuracy: ${counted(checked, "random check")} of at least ${FEWEST_CHECKS}.`;
    return `No estimate of the accuracy yet: ${checked} of ${FEWEST_CHECKS} random checks.${short ? "" : " They are among the questions."}`;
  }
  const [low, high] = wilson(right, checked).map(percent);
  if (short) return `About ${percent(right / checked)} of predictions right (${low} to ${high}).`;
  return `${number(right)} of ${number(checked)} images were predicted as you answered. With 95\u202f% confidence ` +
    `(Wilson’s interval) between ${low} and ${high} of such predictions are right.`;
}

const progress = {
  title: "Progress",

  start() {
    document.querySelector("#progress .about").textContent =
      "Every action is saved at once, and labels.csv is updated within seconds: you can close this page at any time. " +
      "Ctrl-C in the terminal stops the server; the same command resumes.";
  },

  show() {
    const total = content.names.length;
    const [settled, checked, right] = state.history.at(-1);
    const predicted = state.predicted.reduce((sum, code, i) => sum + (code >= 0 && !isSettled(i)), 0);
    const marked = state.marks.reduce((sum, mark) => sum + (mark >= 0), 0);
    const figure = (value, text) => make("div", {}, make("dt", {}, text), make("dd", {}, value));
    $("figures").replaceChildren(figure(number(settled), "labeled or marked"), figure(number(predicted), "predicted"),
      figure(number(total - settled - predicted), "neither"), figure(number(marked), "marked"),
      figure(number(state.history.length - 1), "actions"));
    $("estimate").replaceChildren(...this.estimate(checked, right));
    this.curve();
    $("counts").replaceChildren(this.table());
  },

  /** The estimate as a bar with its interval, and what it is of. */
  estimate(checked, right) {
    const about = make("p", { className: "about" }, "Measured on random images whose prediction was hidden until you answered, " +
      "including early predictions from few labels. Skipped images and the marks unsure and two things do not count; none of these counts as a wrong " +
      "prediction. It is an estimate for the predictions, not for the labels that you gave.");
    const text = make("p", {}, estimateText());
    if (checked < FEWEST_CHECKS) return [text, about];
    const bar = make("div", { className: "interval", ariaHidden: "true" }, make("i"), make("b"));
    const [low, high] = wilson(right, checked);
    bar.firstChild.style.left = `${100 * low}%`;
    bar.firstChild.style.right = `${100 * (1 - high)}%`;
    bar.lastChild.style.left = `${(100 * right) / checked}%`;
    return [make("div", { className: "estimate" }, make("b", {}, percent(right / checked)), bar,
      make("div", { className: "ends" }, make("span", {}, percent(0)), make("span", {}, percent(1)))), text, about];
  },

  /** Labeled or marked images after every action. */
  curve() {
    const home = $("curve");
    const [width, height, left, bottom] = [Math.max(240, home.clientWidth), 220, 48, 30];
    const values = state.history.map(([settled]) => settled);
    const [last, total] = [Math.max(1, values.length - 1), content.names.length];
    const title = `Labeled or marked images after every action, from ${number(values[0])} to ${number(values.at(-1))} of ${number(total)}`;
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": title });
    const x = (action) => left + (action / last) * (width - left - 12);
    const y = (count) => 10 + (1 - count / total) * (height - bottom - 10);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const at = y(share * total);
      svg.append(draw("line", { class: "axis", x1: left, x2: width, y1: at, y2: at }),
        draw("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, number(Math.round(share * total))));
    }
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((step) => (step / last) * (width - left) >= 34) ?? 5000;
    for (let action = 0; action <= last; action += every) {
      svg.append(draw("text", { x: x(action), y: height - 8, "text-anchor": "middle" }, number(action)));
    }
    const path = `M${values.map((count, action) => `${x(action)} ${y(count)}`).join("L")}`;
    svg.append(draw("path", { class: "area", d: `${path}V${y(0)}H${x(0)}Z` }), draw("path", { class: "line", d: path }));
    if (values.length <= 60) values.forEach((count, action) => svg.append(draw("circle", { class: "point", cx: x(action), cy: y(count), r: 3 })));
    home.replaceChildren(make("figcaption", {}, "Labeled or marked images after every action"), svg);
  },

  table() {
    const head = make("tr", {}, ...["Class", "Labeled", "Predicted"].map((text) => make("th", { scope: "col" }, text)));
    const row = (sign, text, ...values) => make("tr", {}, make("th", { scope: "row" }, sign, text),
      ...values.map((value) => make("td", {}, number(value))));
    const counts = tray.counts();
    const marks = content.marks.map((text, at) => row(make("i", { className: "sign" }, MARK_SIGNS[at]), text,
      state.marks.reduce((sum, mark) => sum + (mark === at), 0), 0));
    return make("table", { className: "counts" }, make("thead", {}, head), make("tbody", {},
      ...state.classes.map((text, code) => row(dot(code), text, counts[code].labeled, counts[code].predicted)), ...marks));
  },

  changed() { this.show(); },
  stepped() { },
};

/** An element of a drawing. */
function draw(tag, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}
