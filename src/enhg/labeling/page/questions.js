// --- questions: one image at a time ---------------------------------------------------------------

const RANDOM_EVERY = 4; // of the questions one is of a random image, which checks the predictions
const LATER = 7; // questions to come that are shown
const MOST_ALIKE = 48; // pictures on a page of those that are similar to the one asked about

const questions = {
  title: "Questions",
  row: -1,
  skipped: new Set(),

  start() {
    document.querySelector("#questions .about").textContent =
      "The images whose labels are most informative. Every fourth is a random check, drawn at random, with its prediction hidden: " +
      "these measure the accuracy of the predictions.";
  },

  /** Whether the questions that follow from the last action are not known yet. */
  waits: () => session.sending || steps.version !== state.version,

  target() {
    return this.row < 0 || this.waits() ? null
      : { rows: [this.row], origin: "question", text: "this image" };
  },

  /** The image asked about, with similar ones that are selected. */
  together() {
    if (this.row < 0 || this.waits()) return null;
    const rows = [...new Set([this.row, ...selection.rows])];
    return { rows, origin: "question", text: `this and ${number(rows.length - 1)} similar` };
  },

  /** Images similar to the one asked about; none for a random one, whose answer is a check. */
  alike() {
    const at = steps.questions.indexOf(this.row);
    return hidden.has(this.row) ? [] : (steps.alike?.[at] ?? []).filter((i) => !isSettled(i));
  },

  open() {
    const left = steps.questions.filter((i) => !isSettled(i));
    const rest = left.filter((i) => !this.skipped.has(i));
    if (!rest.length) this.skipped.clear();
    return rest.length ? rest : left;
  },

  /** The next image: the most informative, and every few answers a random one. */
  choose() {
    const open = this.open();
    if (open.includes(this.row)) return;
    const random = open.filter((i) => hidden.has(i));
    const informative = open.filter((i) => !hidden.has(i));
    const turn = state.history.length % RANDOM_EVERY === 0;
    this.row = (turn ? random[0] ?? informative[0] : informative[0] ?? random[0]) ?? -1;
  },

  show() {
    if (this.waits()) {
      $("question").classList.add("waiting");
      return;
    }
    const before = this.row;
    this.choose();
    $("question").classList.remove("waiting");
    const focused = $("question").contains(document.activeElement) || document.activeElement === document.body;
    if (this.row !== before || this.row < 0) this.draw();
    else this.drawFacts();
    if (focused) this.focus();
    tray.showTarget();
  },

  focus() {
    $("asked")?.focus({ preventScroll: true });
    $("asked")?.scrollIntoView({ block: "nearest" });
  },

  draw() {
    if (this.row < 0) {
      const open = contradictions.open().length;
      $("question").replaceChildren(make("p", { className: "notice" }, "No question is left: every image is labeled or marked."),
        make("div", { className: "plains" },
          open ? make("a", { className: "plain", href: "#contradictions" }, `Look at ${counted(open, "contradiction")}`) : null,
          make("button", { type: "button", className: "plain", onclick: showExport }, "Export")));
      return;
    }
    const square = Math.min(384, Math.max(160, Math.round(innerHeight * (innerWidth < 560 ? 0.26 : 0.42))), innerWidth - 48);
    const asked = make("figure", { id: "asked", className: "asked", tabIndex: -1 }, picture(this.row, square, "preview"),
      make("figcaption", {}, content.names[this.row]));
    asked.setAttribute("aria-label", `What is this? ${content.names[this.row]}`);
    asked.setAttribute("role", "group");
    $("question").replaceChildren(make("div", { className: "asking" }, asked, make("div", { className: "answer", id: "answer" })),
      make("h3", {}, "Similar images ", make("button", { type: "button", className: "quiet", onclick: selectList })),
      make("div", { id: "alike" }),
      make("h3", {}, "Next"), make("div", { className: "grid later", id: "later" }));
    this.drawFacts();
  },

  drawFacts() {
    const i = this.row;
    if (i < 0 || !$("answer")) return;
    const code = shownPrediction(i);
    const facts = hidden.has(i) && state.predicted[i] >= 0
      ? [make("p", {}, make("b", {}, "Random check."), " Its prediction is hidden until you answer.")]
      : code < 0 ? [make("p", {}, "No class is predicted yet.")]
        : [make("p", { className: "guess" }, "Predicted ", dot(code, "dot ring"), make("b", {}, state.classes[code]),
          `, confidence ${percent(confidence(i))}`)];
    const tool = (key, text, act) => make("button", { type: "button", className: "plain", onclick: act }, shownKey(key), text);
    $("answer").replaceChildren(make("h3", {}, "What is this?"), ...facts,
      make("p", { className: "about" }, `From cluster ${content.cluster[i]}. Press the key of a class, or N and type one.`),
      make("div", { className: "plains" },
        code >= 0 ? tool("y", `Yes, ${state.classes[code]}`, acceptAimed) : null,
        tool("s", "Skip", () => this.skip()), tool("v", "Larger", () => enlarge(i))));
    const alike = this.alike();
    const title = $("alike").previousElementSibling;
    title.hidden = $("alike").hidden = !alike.length;
    title.lastElementChild.replaceChildren(`select all ${number(alike.length)} `, shownKey("a"));
    paged($("alike"), alike, { title: "Similar images", most: MOST_ALIKE });
    const later = this.open().filter((j) => j !== i).slice(0, LATER);
    $("later").replaceChildren(...later.map((j) => {
      const button = make("button", { type: "button", className: "later", title: content.names[j],
        ariaLabel: `Ask about ${content.names[j]}`, onclick: () => this.jump(j) }, picture(j, side()));
      return button;
    }));
    $("later").previousElementSibling.hidden = !later.length;
  },

  jump(i) {
    selection.clear();
    this.row = i;
    this.draw();
    this.focus();
    tray.showTarget();
  },

  skip() {
    if (this.row < 0 || this.waits()) return;
    selection.clear();
    this.skipped.add(this.row);
    this.row = -1;
    this.show();
    this.focus();
    showStatus("Skipped.");
  },

  changed() { this.show(); },
  stepped() { this.show(); },
};
