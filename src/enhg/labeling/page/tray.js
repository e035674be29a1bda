// --- the classes beside the images: their keys, counts, marks, and what an action concerns --------

const DIGITS = "1234567890";
// Letters with another meaning: all, keep, type, skip, two things, unsure, view, none, yes.
const TAKEN = "aknstuvxy";
const LETTERS = "abcdefghijklmnopqrstuvwxyz".split("").filter((letter) => !TAKEN.includes(letter)).join("");
const MARK_KEYS = ["x", "u", "t"];

const keyOf = (code) => (DIGITS + LETTERS)[code] ?? "";
const shownKey = (key) => make("kbd", {}, key.toUpperCase());
const images = (n) => counted(n, "image");

/** Say the result of an action, on the page and to a screen reader. */
function showStatus(text) {
  $("status").classList.remove("wrong");
  $("status").textContent = text;
}

/** Say why something was not done. */
function showError(text) {
  showStatus(text);
  $("status").classList.add("wrong");
}

/** What an action does, as a sentence. */
function sentence({ kind, rows = [], label, previous }) {
  if (kind === "undo") return `Undone: ${state.undo}.`;
  if (kind === "redo") return `Redone: ${state.redo}.`;
  if (kind === "rename") return `${previous} renamed to ${label}.`;
  if (kind === "clear") return `Label removed from ${images(rows.length)}.`;
  if (kind === "accept") return `${counted(rows.length, "prediction")} accepted.`;
  const replaced = rows.filter((i) => isSettled(i) && (kind === "mark" || state.classes[state.labels[i]] !== label)).length;
  return `${images(rows.length)} ${kind === "mark" ? "marked" : "labeled"} ${label}` +
    `${replaced && rows.length > 1 ? `; ${number(replaced)} of them had another label or mark` : ""}.`;
}

/** The images that a label is given to: those selected, the one in focus, or the one asked about. */
function target() {
  if (selection.rows.size && current === "questions") return questions.together();
  if (selection.rows.size) return { rows: [...selection.rows], origin: selection.origin, text: images(selection.rows.size) };
  const origin = document.activeElement === naming.input ? naming.returning : document.activeElement;
  const focused = origin?.closest?.("main .listing [data-row]");
  if (focused) return { rows: [Number(focused.dataset.row)], origin: "selection", text: "the image in focus" };
  return views[current].target?.() ?? null;
}

/** Give the images that are aimed at a label or mark, or remove it. */
async function apply(kind, label = "") {
  const aim = target();
  if (!aim) {
    showError(views[current].waits?.() ? "The next question is being computed."
      : "Select images first: click them, draw a rectangle around them, or press A for all of a list.");
    return false;
  }
  const rows = kind === "clear" ? aim.rows.filter(isSettled) : aim.rows;
  if (!rows.length) {
    showError("There is no label to remove.");
    return false;
  }
  const sent = session.act({ kind, rows, label, origin: aim.origin });
  if (!session.lost) selection.clear();
  return sent;
}

const labelTarget = (text) => apply("name", text.normalize("NFC").trim());

/** Accept what is predicted for the images that are aimed at. */
function acceptAimed() {
  const rows = (target()?.rows ?? []).filter((i) => shownPrediction(i) >= 0);
  if (!rows.length) return showError("No prediction is shown for these.");
  const code = shownPrediction(rows[0]);
  if (rows.length === 1 && target().origin === "question") return labelTarget(state.classes[code]);
  accept(rows);
  selection.clear();
}

const accept = (rows) => session.act({ kind: "accept", rows, origin: "predictions",
  predicted: rows.map((i) => state.classes[shownPrediction(i)]) });

const tray = {
  start() {
    $("unselect").addEventListener("click", () => selection.clear());
    for (const kind of ["undo", "redo"]) $(kind).addEventListener("click", () => this.turn(kind));
    const mark = (text, at) => make("button", { type: "button", onclick: () => apply("mark", text) },
      shownKey(MARK_KEYS[at]), make("i", { className: "sign" }, MARK_SIGNS[at]), text);
    $("marks").append(...content.marks.map(mark),
      make("button", { type: "button", onclick: () => apply("clear") }, make("kbd", {}, "Del"), "remove label"));
  },

  turn(kind) {
    if (!state[kind]) return showError(`There is nothing to ${kind}.`);
    // Of actions that are still under way the keys are not known here.
    session.act({ kind, previous: session.waiting.length ? "" : state.keys[kind] });
  },

  /** The classes with keys and counts; only counts are written again if the classes stay. */
  show(classes) {
    if (classes) this.list();
    const counts = this.counts();
    [...$("classes").querySelectorAll("[data-class]")].forEach((button) => {
      const { labeled, predicted } = counts[Number(button.dataset.class)];
      button.querySelector(".count").replaceChildren(number(labeled),
        make("small", {}, predicted ? ` +${number(predicted)}` : ""));
      button.setAttribute("aria-label", `${state.classes[button.dataset.class]}, ${number(labeled)} labeled, ` +
        `${number(predicted)} predicted`);
    });
    for (const [kind, word, keys] of [["undo", "Undo", "Ctrl Z"], ["redo", "Redo", "Ctrl Shift Z"]]) {
      $(kind).disabled = !state[kind];
      $(kind).title = `${word}${state[kind] ? ` “${state[kind]}”` : ""}, ${keys}`;
      $(kind).replaceChildren(make("b", {}, word), make("span", {}, state[kind]));
    }
    this.summary();
    this.showTarget();
  },

  counts() {
    const counts = state.classes.map(() => ({ labeled: 0, predicted: 0 }));
    for (let i = 0; i < content.names.length; i++) {
      if (state.labels[i] >= 0) counts[state.labels[i]].labeled += 1;
      else if (state.marks[i] < 0 && state.predicted[i] >= 0) counts[state.predicted[i]].predicted += 1;
    }
    return counts;
  },

  list() {
    const line = (text, code) => {
      const key = keyOf(code);
      const button = make("button", { type: "button", className: "class", title: text, onclick: () => labelTarget(text) },
        key ? shownKey(key) : make("span", { className: "keyless" }), dot(code), make("span", { className: "name" }, text),
        make("span", { className: "count" }));
      if (key) button.setAttribute("aria-keyshortcuts", key);
      button.dataset.class = code;
      return make("li", {}, button, make("button", { type: "button", className: "quiet edit", ariaLabel: `Rename ${text}`,
        title: "Rename, or merge with another class", onclick: () => askName(text) }, "✎"));
    };
    $("counted").hidden = !state.classes.length;
    $("classes").replaceChildren(...(state.classes.length ? state.classes.map(line)
      : [make("li", { className: "none" }, "No classes yet. Type what you see: it becomes a class with a key of its own.")]));
  },

  /** What the next label is given to. */
  showTarget() {
    const aim = target();
    $("target").textContent = aim ? `Label ${aim.text}` : "Classes";
    $("unselect").hidden = !selection.rows.size;
    $("tray").classList.toggle("aiming", aim !== null);
  },

  summary() {
    const total = content.names.length;
    const [settled] = state.history.at(-1);
    const open = state.predicted.reduce((sum, code, i) => sum + (code >= 0 && !isSettled(i)), 0);
    const bar = make("div", { className: "shares", ariaHidden: "true" }, make("i"), make("i", { className: "paler" }));
    bar.firstChild.style.width = `${(100 * settled) / total}%`;
    bar.lastChild.style.width = `${(100 * open) / total}%`;
    $("summary").replaceChildren(bar, make("p", {}, make("b", {}, number(settled)), ` of ${number(total)} labeled or marked, `,
      make("b", {}, number(open)), " predicted"), make("p", {}, estimateText(true)));
  },
};
