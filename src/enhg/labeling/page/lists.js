// --- lists of images: one stop of the tab key each, arrows inside --------------------------------

const PER_PAGE = 300;

/** Make `element` a list of images; `ids` are all of them in their order, also those not drawn. */
function listing(element, ids, title) {
  element.listed = { ids, title };
  element.classList.add("listing");
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", title);
  const buttons = element.querySelectorAll("[data-row]");
  if (buttons.length) buttons[0].tabIndex = 0;
  return element;
}

const grid = (...inside) => make("div", { className: "grid" }, ...inside);

/** A list of images in pages. */
function paged(home, ids, { title, part = (i) => thumb(i), most = PER_PAGE, list = grid() }) {
  inPages(home, ids, { most, title, part, list, filled: () => listing(list, ids, title) });
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2, Home: -Infinity, End: Infinity }[event.key];
  const from = event.target.closest?.(".listing [data-row]");
  if (!step || !from) return;
  event.preventDefault();
  const next = neighbor(from.closest(".listing"), from, step);
  if (!next) return;
  if (event.shiftKey) selection.range(from.closest(".listing").listed.ids, Number(from.dataset.row), Number(next.dataset.row));
  focusIn(next);
});

/** Focus a picture, which becomes the stop of the tab key in its list. */
function focusIn(button) {
  for (const other of button.closest(".listing").querySelectorAll('[data-row][tabindex="0"]')) other.tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

/** The picture before or after, also on another page or in another sheet, or the nearest in another row. */
function neighbor(list, from, step) {
  const buttons = [...list.querySelectorAll("[data-row]")];
  if (!Number.isFinite(step)) return buttons.at(step < 0 ? 0 : -1);
  if (Math.abs(step) === 2) return inNextRow(buttons, from, step) ?? beside(list, step);
  const next = buttons[buttons.indexOf(from) + step];
  if (next) return next;
  if (list.turn?.(step)) return [...list.querySelectorAll("[data-row]")].at(step > 0 ? 0 : -1);
  return beside(list, step);
}

/** The first picture of the list after, or the last of the one before. */
function beside(list, step) {
  const lists = [...list.closest("section").querySelectorAll(".listing")].filter((other) => other.querySelector("[data-row]"));
  const other = lists[lists.indexOf(list) + Math.sign(step)];
  return other && [...other.querySelectorAll("[data-row]")].at(step > 0 ? 0 : -1);
}
