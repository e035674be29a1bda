// --- labels that those of similar images contradict -----------------------------------------------

const PER_LIST = 12; // contradictions on a page

const contradictions = {
  title: "Contradictions",
  page: 0,
  row: -1, // of the card that had the focus last

  start() {
    document.querySelector("#contradictions .about").textContent =
      "Labels that differ from those of copies and near-copies, or of most similar labeled images. Keep or change each of them; " +
      "a label that you keep is not listed again.";
  },

  /** Those of copies, then those of the same two classes together, the most contradicted image first. */
  open() {
    const kinds = new Map();
    for (const [i, code] of steps.contradictions) {
      if (state.labels[i] < 0) continue;
      const kind = this.isCopy(i) ? "copies" : `${state.labels[i]} ${code}`;
      kinds.set(kind, [...(kinds.get(kind) ?? []), [i, code]]);
    }
    return [...kinds.values()].flat();
  },

  place: (i) => steps.contradictions.findIndex(([row]) => row === i),
  isCopy(i) { return this.place(i) < steps.copies; },

  /** The images whose label an answer keeps, and those that it changes: copies all together. */
  rows(i) {
    const sides = steps.linked[this.place(i)];
    return this.isCopy(i) ? [sides[0], sides.flat()] : [[i], [i]];
  },

  /** The card that keys and classes are for: the last one that had the focus, or the first. */
  card() {
    const focused = document.activeElement?.closest?.(".contradiction");
    if (focused) this.row = Number(focused.dataset.contradicted);
    const cards = [...document.querySelectorAll("#contradicted .contradiction")];
    return cards.find((card) => Number(card.dataset.contradicted) === this.row) ?? cards[0];
  },

  target() {
    const card = this.card();
    for (const other of document.querySelectorAll(".contradiction.aimed-at")) other.classList.remove("aimed-at");
    if (!card || steps.version !== state.version) return null;
    card.classList.add("aimed-at");
    const i = Number(card.dataset.contradicted);
    const [, rows] = this.rows(i);
    return { rows, origin: "contradiction", text: rows.length > 1 ? images(rows.length) : ending(content.names[i]) };
  },

  waits: () => steps.version !== state.version,

  show() {
    const open = this.open();
    const kept = $("contradicted").contains(document.activeElement);
    const place = [...document.querySelectorAll("#contradicted .contradiction")].indexOf(this.card());
    const last = Math.max(0, Math.ceil(open.length / PER_LIST) - 1);
    this.page = Math.min(this.page, last);
    const shown = open.slice(this.page * PER_LIST, (this.page + 1) * PER_LIST);
    const turner = (text, by, disabled) => make("button", { type: "button", className: "quiet", disabled,
      onclick: () => { this.page += by; this.show(); } }, text);
    $("contradicted").replaceChildren(...(open.length ? this.parts(shown)
      : [make("p", { className: "notice" }, state.history.at(-1)[0] ? "No label is contradicted by those of similar images."
        : "No labels yet.", steps.copies === null ? " Photographs are still being compared." : "")]));
    if (last) {
      $("contradicted").append(make("div", { className: "pages", role: "group", ariaLabel: "Pages of contradictions" },
        turner("← Previous", -1, this.page === 0), make("span", {}, `${this.page + 1} of ${last + 1}`),
        turner("Next →", 1, this.page === last)));
    }
    const cards = document.querySelectorAll("#contradicted .contradiction");
    if (kept && cards.length) cards[Math.min(Math.max(place, 0), cards.length - 1)].querySelector("button").focus();
    tray.showTarget();
  },

  /** Cards, with a line before those of the same two classes that answers for all of them. */
  parts(shown) {
    const copies = shown.filter(([i]) => this.isCopy(i));
    if (copies.length) {
      const others = this.parts(shown.slice(copies.length));
      return [make("h3", {}, "Near-equal photographs with different labels"), ...copies.map((pair) => this.part(...pair)),
        ...(others.length ? [make("h3", {}, "Labels that differ from those of similar images"), ...others] : [])];
    }
    const same = ([i, code], [j, other]) => state.labels[i] === state.labels[j] && code === other;
    return shown.flatMap((pair, at) => {
      const group = shown.filter((other) => same(pair, other));
      const first = at === 0 || !same(pair, shown[at - 1]);
      return [...(first && group.length > 1 ? [this.group(group)] : []), this.part(...pair)];
    });
  },

  group(pairs) {
    const [[i, other]] = pairs;
    const own = state.labels[i];
    const rows = pairs.map(([row]) => row);
    const answer = (word, code) => make("button", { type: "button", className: "plain",
      onclick: () => session.act({ kind: "name", rows, label: state.classes[code], origin: "contradiction" }) },
    `${word} `, dot(code), state.classes[code]);
    return make("div", { className: "contradictions-alike", role: "group",
      ariaLabel: `${images(rows.length)} labeled ${state.classes[own]}, similar images ${state.classes[other]}` },
    make("h3", {}, images(rows.length), " labeled ", dot(own), state.classes[own], ", similar images ", dot(other), state.classes[other]),
    make("div", { className: "plains" }, answer(`Keep all ${number(rows.length)} as`, own),
      answer(`Change all ${number(rows.length)} to`, other)));
  },

  part(i, other) {
    const own = state.labels[i];
    const [same, different] = steps.linked[this.place(i)];
    const [kept, changed] = this.rows(i);
    const [copy, near] = this.isCopy(i) ? [true, "Labeled "] : [false, "Similar images "];
    const answer = (key, rows, code, text, ...name) => make("button", { type: "button", className: "plain",
      onclick: () => this.answerFor(rows, code) }, key && shownKey(key), text, ...name);
    const named = (code) => [dot(code), state.classes[code]];
    const answers = copy ? [answer("k", kept, own, "Keep different labels"), answer("y", changed, other, "Label all ", ...named(other)),
      answer(null, changed, own, "Label all ", ...named(own))]
      : [answer("k", kept, own, "Keep ", ...named(own)), answer("y", changed, other, "Change to ", ...named(other))];
    const beside = (word, code, rows) => make("div", { className: "alike" }, make("p", {}, word, dot(code), make("b", {}, state.classes[code])),
      make("div", { className: "grid" }, ...rows.map((j) => make("span", { className: "later", title: content.names[j] },
        picture(j, Math.min(side(), 80))))));
    const card = make("article", { className: "contradiction", ariaLabel: `${content.names[i]}, labeled ${state.classes[own]}, ` +
      `${near.toLowerCase()}${state.classes[other]}` },
      make("figure", {}, picture(i, 144, "preview"), make("figcaption", { title: content.names[i] }, ending(content.names[i]))),
      make("div", {}, make("div", { className: "sides" }, beside("Labeled ", own, same), beside(near, other, different)),
        make("div", { className: "plains" }, ...answers,
          make("button", { type: "button", className: "plain", onclick: () => enlarge(i) }, shownKey("v"), "Larger"))));
    card.dataset.contradicted = i;
    card.dataset.other = other;
    return card;
  },

  answerFor: (rows, code) => session.act({ kind: "name", rows, label: state.classes[code], origin: "contradiction" }),

  /** Keep the label of the card that keys are for, or take the other one. */
  answer(keeps) {
    const card = this.card();
    if (!card || this.waits()) return;
    const i = Number(card.dataset.contradicted);
    const [kept, changed] = this.rows(i);
    if (keeps) this.answerFor(kept, state.labels[i]);
    else this.answerFor(changed, Number(card.dataset.other));
  },

  changed() { },
  stepped() { this.show(); },
};
