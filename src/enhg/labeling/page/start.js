// --- views, keys and the start --------------------------------------------------------------------

const views = { clusters, questions, predictions, contradictions, map: plane, progress };
let current = "clusters";

/** Show the view that the address names. */
function turnTo(id, focuses = true) {
  if (id !== current) {
    selection.clear();
    showStatus("");
  }
  current = id;
  for (const [other, link] of viewLinks) {
    $(other).hidden = other !== id;
    if (other === id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  viewLinks.get(id).scrollIntoView({ block: "nearest", inline: "center" });
  scrollTo({ top: 0, behavior: "instant" });
  if (focuses) $("main").focus({ preventScroll: true });
  views[id].show();
  tray.showTarget();
}

const viewLinks = new Map();

function showViews() {
  for (const [id, view] of Object.entries(views)) {
    const link = make("a", { href: `#${id}` }, view.title);
    viewLinks.set(id, link);
    $("views").append(make("li", {}, link));
  }
}

/** The number of contradictions beside the name of their view. */
function showCount() {
  const count = contradictions.open().length;
  viewLinks.get("contradictions").replaceChildren("Contradictions", count ? make("small", {}, number(count)) : "");
}

const addressed = () => (Object.hasOwn(views, location.hash.slice(1)) ? location.hash.slice(1) : "clusters");

function stepView(by) {
  const ids = Object.keys(views);
  location.hash = ids[(ids.indexOf(current) + by + ids.length) % ids.length];
}

/** Select all of the list in focus, or of the first one on the screen; none if all are. */
function selectList() {
  const lists = [...document.querySelectorAll(`#${current} .listing`)];
  const list = document.activeElement?.closest?.(".listing") ??
    document.activeElement?.closest?.(".sheet")?.querySelector(".listing") ??
    lists.find((other) => other.getBoundingClientRect().bottom > 60);
  if (!list) return;
  const open = list.listed.ids.filter((i) => !isSettled(i));
  const ids = current === "clusters" && open.length ? open : list.listed.ids;
  if (ids.every((i) => selection.rows.has(i))) selection.clear();
  else selection.set(ids, current === "clusters" ? "cluster" : "selection");
  showStatus(`${images(selection.rows.size)} selected.`);
}

function enlargeAimed() {
  const aim = target();
  const focused = document.activeElement?.dataset?.row;
  const i = focused === undefined ? aim?.rows[0] : Number(focused);
  if (i !== undefined) enlarge(i);
}

const COMMANDS = {
  "?": showHelp,
  n: () => naming.open(),
  a: selectList,
  v: enlargeAimed,
  s: () => { if (current === "questions") questions.skip(); },
  y: () => (current === "contradictions" && !selection.rows.size ? contradictions.answer(false) : acceptAimed()),
  k: () => { if (current === "contradictions") contradictions.answer(true); },
  ",": () => stepView(-1),
  ".": () => stepView(1),
  Delete: () => apply("clear"),
  Backspace: () => apply("clear"),
  Escape: () => { if (drag.box) drag.end(false); else selection.clear(); },
};

function command(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (Object.hasOwn(COMMANDS, key)) return COMMANDS[key];
  const mark = MARK_KEYS.indexOf(key);
  if (mark >= 0) return () => apply("mark", content.marks[mark]);
  const code = key.length === 1 ? (DIGITS + LETTERS).indexOf(key) : -1;
  if (code >= 0 && code < state.classes.length) return () => labelTarget(state.classes[code]);
  return null;
}

document.addEventListener("keydown", (event) => {
  if (!content || dialog.element.open || event.defaultPrevented) return;
  const writes = event.target.closest?.("input:not([type=range]), select, textarea");
  const controlled = event.ctrlKey || event.metaKey;
  const letter = event.key.toLowerCase();
  if (controlled && !event.altKey && !writes && (letter === "z" || letter === "y" || letter === "a")) {
    event.preventDefault();
    if (letter === "a") selectList();
    else tray.turn(letter === "y" || event.shiftKey ? "redo" : "undo");
    return;
  }
  if (controlled || event.altKey || writes || event.isComposing) return;
  if (event.repeat && event.key !== "Escape") return;
  if (!keysAct() && event.key.length === 1 && event.key !== "?") return;
  const act = command(event);
  if (!act) return;
  event.preventDefault();
  act();
});

const theme = makeTheme(() => plane.paint());

/** Say that the server is gone, or that it is back. */
function showConnection() {
  const { lost, waiting } = session;
  const waits = waiting.length ? ` Not yet saved: ${counted(waiting.length, "action")}.` : "";
  const texts = {
    gone: ["The server does not respond.", " If it was stopped, enter the same command again and open the address that it prints. " +
      `No confirmed action is lost.${waits}`],
    moved: ["This address is no longer valid.", " The command was started again: open the address that it printed. " +
      `No confirmed action is lost.${waits}`],
  };
  const was = !$("trouble").hidden;
  $("trouble").hidden = !lost;
  if (lost) $("trouble").replaceChildren(make("div", { className: "inner" }, make("b", {}, texts[lost][0]), texts[lost][1]));
  else if (was) {
    $("trouble").replaceChildren();
    loadAgain();
    showStatus("The server is back.");
  }
}

document.addEventListener("connection", showConnection);

/** Show what follows from events of the session. */
function follow() {
  document.addEventListener("changed", ({ detail }) => {
    updateThumbs(detail.rows);
    tray.show(detail.classes);
    views[current].changed(detail.rows);
  });
  document.addEventListener("selected", ({ detail }) => {
    views[current].selected?.(detail);
    if (detail.length && $("status").classList.contains("wrong")) showStatus("");
    tray.showTarget();
  });
  document.addEventListener("stepped", () => {
    showCount();
    views[current].stepped();
  });
  document.addEventListener("focusin", () => tray.showTarget());
  new ResizeObserver(() => root.style.setProperty("--below", `${$("tray").offsetHeight}px`)).observe($("tray"));
  addEventListener("hashchange", () => { if (Object.hasOwn(views, location.hash.slice(1))) turnTo(addressed()); });
  addEventListener("resize", () => { if (current === "progress") progress.curve(); });
}

async function start() {
  try {
    await session.start();
  } catch (error) {
    $("loading").textContent = error instanceof Unreachable ? "The images could not be loaded. Trying again …" : error.message;
    setTimeout(() => location.reload(), 3 * POLLING);
    return;
  }
  $("loading").remove();
  document.title = `${content.source}: labels`;
  $("title").textContent = content.source;
  $("lead").textContent = `${images(content.names.length)} in ${counted(content.clusters.length, "cluster")}`;
  $("open-export").disabled = false;
  $("open-export").addEventListener("click", showExport);
  tray.start();
  naming.start();
  for (const view of Object.values(views)) view.start();
  follow();
  tray.show(true);
  showCount();
  turnTo(addressed(), false);
}

$("open-help").addEventListener("click", showHelp);
showViews();
theme.start();
start();
