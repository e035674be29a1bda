// --- lists of samples: one stop of the tab key each, arrows inside ----------------------------

/** Make `element` a list of samples: its buttons open the panel, with `ids` as neighbors. */
function listing(element, ids, title) {
  element.listed = { ids, title };
  element.classList.add("listing");
  element.querySelectorAll("[data-sample]").forEach((button, at) => { button.tabIndex = at ? -1 : 0; });
  return element;
}

const grid = (...inside) => make("div", { className: photos ? "grid photos" : "grid" }, ...inside);

/**
 * Fill `home` with a list in pages of at most `most` entries, and buttons that turn the pages.
 * `part` makes the element of an entry; `ids` are the samples that the panel goes through.
 */
function paged(home, entries, { most, ids = entries, title, part = (i) => thumb(i), list = grid() }) {
  const last = Math.max(0, Math.ceil(entries.length / most) - 1);
  let page = 0;
  const place = make("span", { ariaLive: "polite" });
  const turner = (text, by) => make("button", { type: "button", className: "quiet", onclick: () => turn(by) }, text);
  const [back, on] = [turner("← Previous", -1), turner("Next →", 1)];
  const fill = () => {
    const first = page * most;
    const shown = entries.slice(first, first + most);
    list.replaceChildren(...shown.map(part));
    if (ids.length) listing(list, ids, title);
    place.textContent = `${number(first + 1)}–${number(first + shown.length)} of ${number(entries.length)}`;
    [back.disabled, on.disabled] = [page === 0, page === last];
    if (panel.chosen >= 0) panel.mark();
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
    const here = from.getBoundingClientRect();
    const boxes = buttons.map((button) => [button, button.getBoundingClientRect()]);
    const beyond = boxes.filter(([, box]) => (step > 0 ? box.top > here.top + 4 : box.top < here.top - 4));
    const far = (box) => Math.abs(box.top - here.top) * 1000 + Math.abs(box.left - here.left);
    next = beyond.sort((a, b) => far(a[1]) - far(b[1]))[0]?.[0];
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
