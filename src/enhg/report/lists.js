// --- lists of samples: one stop of the tab key each, arrows inside ----------------------------

/** Make `element` a list of samples: its buttons open the panel, with `ids` as neighbors. */
function listing(element, ids, title) {
  element.listed = { ids, title };
  element.classList.add("listing");
  element.querySelectorAll("[data-sample]").forEach((button, at) => { button.tabIndex = at ? -1 : 0; });
  return element;
}

const grid = (...inside) => make("div", { className: photos ? "grid photos" : "grid" }, ...inside);

/** A list in pages, as by `inPages`; `ids` are the samples that the panel goes through. */
function paged(home, entries, { most, ids = entries, title, part = (i) => thumb(i), list = grid() }) {
  const filled = () => {
    if (ids.length) listing(list, ids, title);
    if (panel.chosen >= 0) panel.mark();
  };
  inPages(home, entries, { most, title, part, list, filled });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-sample]");
  if (button) panel.open(Number(button.dataset.sample), button.closest(".listing")?.listed, button);
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") return void panel.close();
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 }[event.key];
  const list = event.target.closest?.("aside") ? null : event.target.closest?.(".listing");
  if (!step || event.target.id === "plane") return;
  if (list && event.target.dataset.sample) {
    event.preventDefault();
    moveFocus(list, event.target, step);
  } else if (Math.abs(step) === 1 && event.target.closest?.("aside")) {
    event.preventDefault();
    panel.step(step);
  }
});

/** Focus the button before or after, also on another page, or the nearest in another row. */
function moveFocus(list, from, step) {
  const buttons = [...list.querySelectorAll("[data-sample]")];
  let next = buttons[buttons.indexOf(from) + step];
  if (Math.abs(step) === 2) {
    next = inNextRow(buttons, from, step);
  } else if (!next && list.turn?.(step)) {
    const turned = list.querySelectorAll("[data-sample]");
    next = turned[step > 0 ? 0 : turned.length - 1];
    turned[0].tabIndex = -1;
  }
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
