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

/** Fill `home` with a list in pages, and buttons that turn the pages. */
function paged(home, ids, { title, part = (i) => thumb(i), most = PER_PAGE, list = grid() }) {
  const last = Math.max(0, Math.ceil(ids.length / most) - 1);
  let page = 0;
  const place = make("span", { ariaLive: "polite" });
  const turner = (text, by) => make("button", { type: "button", className: "quiet", onclick: () => turn(by) }, text);
  const [back, on] = [turner("← Previous", -1), turner("Next →", 1)];
  const fill = () => {
    const first = page * most;
    const shown = ids.slice(first, first + most);
    list.replaceChildren(...shown.map(part));
    listing(list, ids, title);
    place.textContent = `${number(first + 1)}–${number(first + shown.length)} of ${number(ids.length)}`;
    [back.disabled, on.disabled] = [page === 0, page === last];
  };
  const turn = (by) => {
    if (page + by < 0 || page + by > last) return false;
    page += by;
    fill();
    if (list.getBoundingClientRect().top < 0) list.scrollIntoView({ block: "start" });
    return true;
  };
  list.turn = turn;
  fill();
  home.replaceChildren(list);
  if (last) home.append(make("div", { className: "pages", role: "group", ariaLabel: `Pages of ${title}` }, back, place, on));
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
  if (Math.abs(step) === 2) {
    const here = from.getBoundingClientRect();
    const boxes = buttons.map((button) => [button, button.getBoundingClientRect()]);
    const beyond = boxes.filter(([, box]) => (step > 0 ? box.top > here.top + 4 : box.top < here.top - 4));
    const far = (box) => Math.abs(box.top - here.top) * 1000 + Math.abs(box.left - here.left);
    const [next] = beyond.sort((a, b) => far(a[1]) - far(b[1]))[0] ?? [];
    return next ?? beside(list, step);
  }
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
