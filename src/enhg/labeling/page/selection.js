// --- selected images ------------------------------------------------------------------------------

const DRAGGED = 6; // pixels after which a press is the corner of a rectangle

const selection = {
  rows: new Set(),
  origin: "selection", // or "cluster", where all of one were selected at first
  anchor: -1,

  set(rows, origin = "selection") {
    const before = this.rows;
    [this.rows, this.origin] = [new Set(rows), origin];
    this.show([...before, ...this.rows].filter((i) => before.has(i) !== this.rows.has(i)));
  },

  clear() {
    this.anchor = -1;
    this.set([]);
  },

  toggle(row) {
    if (!this.rows.delete(row)) {
      this.rows.add(row);
      if (this.rows.size === 1) this.origin = "selection";
    }
    this.anchor = row;
    this.show([row]);
  },

  /** Select some, or take them out if all of them are selected. */
  toggleAll(rows, origin = "selection") {
    const some = new Set(rows);
    const out = rows.every((i) => this.rows.has(i));
    const all = out ? [...this.rows].filter((i) => !some.has(i)) : [...this.rows, ...rows];
    this.set(all, this.rows.size ? this.origin : origin);
  },

  range(ids, from, to) {
    const ends = [ids.indexOf(from), ids.indexOf(to)];
    if (ends.includes(-1)) return;
    const rows = ids.slice(Math.min(...ends), Math.max(...ends) + 1);
    this.anchor = to;
    this.set([...this.rows, ...rows], this.rows.size ? this.origin : "selection");
  },

  show(changed) {
    const rows = new Set(changed);
    for (const button of document.getElementsByClassName("thumb")) {
      const i = Number(button.dataset.row);
      if (rows.has(i)) button.setAttribute("aria-pressed", this.rows.has(i));
    }
    emit("selected", changed);
  },
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("main .listing [data-row]");
  if (!button || (drag.done && event.detail)) return;
  const row = Number(button.dataset.row);
  const { ids } = button.closest(".listing").listed;
  focusIn(button);
  if (event.shiftKey && ids.includes(selection.anchor)) selection.range(ids, selection.anchor, row);
  else selection.toggle(row);
});

document.addEventListener("dblclick", (event) => {
  const button = event.target.closest("main .listing [data-row]");
  if (button) enlarge(Number(button.dataset.row));
});

/** A rectangle over pictures, drawn with the mouse or a pen; a finger scrolls. */
const drag = {
  from: null,
  box: null,
  done: false, // whether the click that follows ends a rectangle

  start(event) {
    this.done = false;
    if (event.button !== 0 || event.pointerType === "touch") return;
    if (!event.target.closest("main .listing, main .sheet, #sheets")) return;
    this.from = [event.clientX + scrollX, event.clientY + scrollY];
  },

  move(event) {
    if (!this.from) return;
    const to = [event.clientX + scrollX, event.clientY + scrollY];
    if (!this.box) {
      if (Math.hypot(to[0] - this.from[0], to[1] - this.from[1]) < DRAGGED) return;
      this.box = make("div", { className: "marquee", ariaHidden: "true" });
      document.body.append(this.box);
      root.classList.add("dragging");
    }
    const [left, top] = [0, 1].map((axis) => Math.min(this.from[axis], to[axis]));
    Object.assign(this.box.style, { left: `${left}px`, top: `${top}px`,
      width: `${Math.abs(to[0] - this.from[0])}px`, height: `${Math.abs(to[1] - this.from[1])}px` });
    for (const button of this.within()) button.classList.add("touched");
  },

  /** The pictures under the rectangle; others are no longer marked as such. */
  within() {
    const box = this.box.getBoundingClientRect();
    return [...document.querySelectorAll("main .listing [data-row]")].filter((button) => {
      const at = button.getBoundingClientRect();
      const touched = at.left < box.right && at.right > box.left && at.top < box.bottom && at.bottom > box.top;
      if (!touched) button.classList.remove("touched");
      return touched && at.width > 0;
    });
  },

  end(taken) {
    const rows = this.box && taken ? this.within().map((button) => Number(button.dataset.row)) : [];
    this.done = this.box !== null;
    for (const button of document.querySelectorAll(".touched")) button.classList.remove("touched");
    this.box?.remove();
    [this.from, this.box] = [null, null];
    root.classList.remove("dragging");
    if (rows.length) selection.toggleAll(rows);
  },
};

document.addEventListener("pointerdown", (event) => drag.start(event));
document.addEventListener("pointermove", (event) => drag.move(event));
document.addEventListener("pointerup", () => drag.end(true));
document.addEventListener("pointercancel", () => drag.end(false));
