// --- the field for a class, with the known classes below it -----------------------------------------

const MOST_OPTIONS = 8;

const naming = {
  input: $("name"),
  list: $("known"),
  active: -1, // the option that the arrow keys are at
  returning: null, // what had the focus before

  start() {
    $("naming").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) this.submit(option.title);
    });
  },

  open() {
    if (document.activeElement !== this.input) this.returning = document.activeElement;
    this.input.focus();
    this.input.select();
    this.show();
  },

  /** Known classes that contain what was typed, those that begin with it first. */
  matching() {
    const fold = (text) => text.normalize("NFC").toLowerCase();
    const typed = fold(this.input.value.trim());
    const names = state.classes.filter((text) => fold(text).includes(typed));
    return names.sort((a, b) => fold(b).startsWith(typed) - fold(a).startsWith(typed)).slice(0, MOST_OPTIONS);
  },

  show() {
    const names = this.matching();
    this.active = -1;
    this.list.replaceChildren(...names.map((text, at) => {
      const code = state.classes.indexOf(text);
      const option = make("li", { id: `option-${at}`, title: text, ariaSelected: "false" }, dot(code), text);
      option.setAttribute("role", "option");
      return option;
    }));
    this.list.hidden = !names.length;
    this.input.setAttribute("aria-expanded", names.length > 0);
    this.input.removeAttribute("aria-activedescendant");
  },

  close() {
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  },

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (this.list.hidden) this.show();
      this.move(step);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (this.input.value) this.input.value = "";
      this.leave();
    }
  },

  move(step) {
    const options = [...this.list.children];
    if (!options.length) return;
    this.active = (this.active + step + options.length + (this.active < 0 && step < 0 ? 1 : 0)) % options.length;
    options.forEach((option, at) => option.setAttribute("aria-selected", at === this.active));
    options[this.active].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `option-${this.active}`);
  },

  async submit(text = this.list.children[this.active]?.title ?? this.input.value) {
    if (!text.trim()) return showError("Type a class first.");
    if (document.activeElement === this.input || document.activeElement === document.body) this.leave();
    if (await labelTarget(text)) this.input.value = "";
  },

  /** Give the focus back to where it was. */
  leave() {
    this.close();
    const back = this.returning?.isConnected && this.returning !== document.body ? this.returning : $("main");
    this.returning = null;
    back.focus({ preventScroll: true });
  },
};
