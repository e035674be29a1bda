// --- dialogs: keys, export, renaming of a class, a large picture ----------------------------------

const dialog = {
  element: $("dialog"),

  open(title, ...inside) {
    const close = make("button", { type: "button", className: "close", ariaLabel: "Close", title: "Close, Esc",
      onclick: () => this.element.close() }, "✕");
    this.element.replaceChildren(make("header", {}, make("h2", { id: "dialog-title", tabIndex: -1 }, title), close), ...inside);
    this.element.className = "";
    if (!this.element.open) this.element.showModal();
    return this.element;
  },
};
dialog.element.addEventListener("click", (event) => { if (event.target === dialog.element) dialog.element.close(); });

const KEYS = [
  ["Labels", [
    [["1", "…", "9", "0", "B", "C", "…"], "the class with this key"],
    [["N"], "type a class, new or known"],
    [["X"], "none of these"], [["U"], "unsure"], [["T"], "two things"],
    [["Del"], "remove the label or mark"],
    [["Y"], "accept what is predicted; change a contradicted label"],
    [["K"], "keep a contradicted label"],
    [["S"], "skip a question"],
  ]],
  ["Selecting", [
    [["← → ↑ ↓"], "go from picture to picture, on the map from point to point"],
    [["Space"], "select the picture, or take it out"],
    [["Shift", "← →"], "select a range"],
    [["Shift", "Space"], "on the map: the nearest points"],
    [["A"], "all of the list, again for none"],
    [["Esc"], "select none"],
    [["V"], "a large picture"],
  ]],
  ["Otherwise", [
    [["Ctrl", "Z"], "undo"], [["Ctrl", "Shift", "Z"], "redo"],
    [[","], "previous view"], [["."], "next view"],
    [["?"], "this list"],
  ]],
];

const keysAct = () => localStorage.getItem("enhg keys") !== "off";

function showHelp() {
  const line = ([keys, text]) => make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", {}, key))), make("dd", {}, text));
  const single = make("input", { type: "checkbox", checked: keysAct() });
  single.addEventListener("change", () => localStorage.setItem("enhg keys", single.checked ? "on" : "off"));
  dialog.open("Keys", ...KEYS.map(([title, lines]) => make("section", {}, make("h3", {}, title),
    make("dl", { className: "keys" }, ...lines.map(line)))),
  make("section", {}, make("h3", {}, "With the mouse"), make("p", {}, "Click selects a picture or takes it out, " +
    "Shift and click a range, and a rectangle all pictures that it touches. A double click enlarges. On the map draw around points.")),
  make("label", { className: "check" }, single, " Use single-key shortcuts. Turn them off if they interfere with a screen reader or speech input.")).classList.add("help");
}

const FILES = {
  "labels.csv": "all images",
  "labels.jsonl": "the same as JSON lines",
  "answers.csv": "your labels, for enhg classify --labels",
  "classifier.npz": "for enhg predict",
};

function showExport() {
  const [settled] = state.history.at(-1);
  const choice = (value, text, about) => make("label", {}, make("input", { type: "radio", name: "folders", value, checked: !value }),
    make("span", {}, text, make("small", {}, about)));
  const result = make("div", { role: "status" });
  const button = make("button", { type: "submit", className: "solid" }, "Export");
  const form = make("form", { className: "export" },
    make("p", {}, `${number(settled)} of ${images(content.names.length)} are labeled or marked; for the others the predicted label is written. ` +
      "labels.csv lists for every image its label, who decided (person, accepted, model) and the confidence. " +
      "It is also written by itself, a few seconds after every action."),
    make("fieldset", {}, make("legend", {}, "A folder for each class"), choice("", "None", "only the tables and the classifier"),
      choice("links", "Links", "to the image files, which stay where they are; a new folder at every export"), choice("copies", "Copies", "of the image files")),
    button, result);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    result.replaceChildren("Writing …");
    try {
      const { folder, files, notes } = await session.request("export", { folders: new FormData(form).get("folders") || null });
      result.replaceChildren(make("p", {}, "Written to ", make("code", {}, folder)),
        make("ul", { className: "files" }, ...files.map((file) => make("li", {}, make("code", {}, file), FILES[file] ? ` ${FILES[file]}` : ""))),
        ...notes.map((note) => make("p", {}, `${note[0].toUpperCase()}${note.slice(1)}.`)));
    } catch (error) {
      result.replaceChildren(make("p", { className: "wrong" }, error instanceof Unreachable ? "The server does not respond." : error.message));
    }
    button.disabled = false;
  });
  dialog.open("Export", form);
}

/** Ask for another name of a class. */
function askName(previous) {
  const input = make("input", { value: previous, maxLength: 100, spellcheck: false, ariaLabel: `New name of ${previous}` });
  const note = make("p", { className: "about" }, "\u00a0");
  const fresh = () => input.value.normalize("NFC").trim();
  input.addEventListener("input", () => {
    const known = fresh() !== previous && state.classes.includes(fresh());
    note.textContent = known ? `${fresh()} is a class already: the two are merged.` : "\u00a0";
  });
  const form = make("form", { className: "rename" }, input, make("button", { type: "submit", className: "solid" }, "Rename"), note);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (fresh() && fresh() !== previous) session.act({ kind: "rename", previous, label: fresh() });
    dialog.element.close();
  });
  dialog.open(`Rename ${previous}`, form);
  input.select();
}

/** Show an image large, with what is known about it. */
function enlarge(i) {
  const asked = current === "questions" && i === questions.row;
  const known = asked && hidden.has(i) ? "Prediction hidden" : `Label: ${describe(i)}` +
    (shownPrediction(i) >= 0 ? `, confidence ${percent(confidence(i))}` : "");
  const square = Math.min(innerWidth - 64, Math.round(innerHeight * 0.74), 1024);
  dialog.open(content.names[i], picture(i, square, "preview"),
    make("p", { className: "about" }, `${known}. Cluster ${content.cluster[i]}.`))
    .classList.add("large");
}
