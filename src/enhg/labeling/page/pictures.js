// --- pictures of images, with their labels below -------------------------------------------------

const SMALL = 64; // pixels of an image that is enlarged without smoothing in a list
const LARGEST_SCALE = 24; // of a small image
const LONGEST_NAME = 24; // characters of the name of a file that is missing
const MARK_SIGNS = ["∅", "?", "½"];

const sizes = (i) => content.sizes[i];
const isPhoto = () => Math.max(...sizes(0)) > SMALL;
const side = () => (isPhoto() ? 112 : 56);
// After the colors of the list, hues by the golden angle: neighbors differ, and none comes twice.
const color = (code) => content.colors[code] ?? `oklch(0.6 0.14 ${(code * 137.508) % 360})`;
const lighter = (code) => `color-mix(in oklab, ${color(code)} 72%, white)`; // on a dark background
const shade = (code) => `light-dark(${color(code)}, ${lighter(code)})`;
const dot = (code, className = "dot") => {
  const element = make("i", { className });
  element.style.setProperty("--class", shade(code));
  return element;
};

/** The end of a long name, which says more than its beginning. */
function ending(text, most = LONGEST_NAME) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `…${letters.slice(1 - most).join("")}`;
}

/** Width and height of an image in a square: whole multiples of small ones. */
function fitted(i, square) {
  const [width, height] = sizes(i);
  const long = Math.max(width, height);
  square = Math.min(square, LARGEST_SCALE * long);
  const whole = long * Math.floor(square / long);
  const scale = (long < SMALL && whole >= 0.8 * square ? whole : square) / long;
  return [width, height].map((edge) => Math.max(8, Math.round(edge * scale)));
}

/** The beginning of a long name of a class. */
function beginning(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/** The image of a row; where its file is gone, a placeholder with its name. */
function picture(i, square, kind = "picture") {
  const [width, height] = fitted(i, square);
  const image = make("img", { alt: "", width, height, draggable: false, decoding: "async",
    loading: kind === "picture" ? "lazy" : "eager", className: kind === "picture" && Math.max(...sizes(i)) < SMALL ? "photo sharp" : "photo" });
  const frame = make("span", { className: "frame" }, image);
  frame.style.minHeight = `${kind === "picture" ? square : height}px`;
  image.addEventListener("error", () => {
    if (frame.classList.contains("missing")) return;
    frame.classList.add("missing");
    image.hidden = true;
    const text = make("span", { className: "gone", title: content.names[i] }, ending(content.names[i]),
      kind === "picture" ? null : make("small", {}, session.lost ? "The server does not respond."
        : "The file of this image is gone, or cannot be read any more. Its labels stay."));
    frame.append(text);
    frame.again = () => {
      frame.classList.remove("missing");
      text.remove();
      image.hidden = false;
      image.src = `${kind}/${i}?again=${Date.now()}`;
    };
  });
  image.src = `${kind}/${i}`;
  return frame;
}

/** Load the pictures again that failed while the server was gone. */
function loadAgain() {
  for (const frame of document.querySelectorAll(".frame.missing")) frame.again();
}

/** What is known about an image, in words. */
function describe(i) {
  if (state.marks[i] >= 0) return content.marks[state.marks[i]];
  if (state.labels[i] >= 0) return state.classes[state.labels[i]];
  const code = shownPrediction(i);
  if (code >= 0) return `predicted ${state.classes[code]}`;
  return "not labeled";
}

/** The label below a picture: of the person, or paler of the model. */
function caption(i, withConfidence = false) {
  const [mark, code] = [state.marks[i], state.labels[i] >= 0 ? state.labels[i] : shownPrediction(i)];
  if (mark >= 0) return [make("i", { className: "sign" }, MARK_SIGNS[mark]), content.marks[mark]];
  if (code < 0) return ["\u00a0"];
  return [dot(code, isSettled(i) ? "dot" : "dot ring"), state.classes[code],
    withConfidence && !isSettled(i) ? make("small", {}, ` ${percent(confidence(i))}`) : null].filter((part) => part !== null);
}

/** A button with the picture of an image, which selects it. */
function thumb(i, { withConfidence = false, square = side() } = {}) {
  const button = make("button", { type: "button", className: "thumb", title: content.names[i], tabIndex: -1 },
    picture(i, square), make("span", { className: "label" }));
  button.style.width = `${square}px`;
  button.dataset.row = i;
  button.withConfidence = withConfidence;
  updateThumb(button);
  return button;
}

/** Show what is known about an image on its button. */
function updateThumb(button) {
  const i = Number(button.dataset.row);
  const code = state.labels[i] >= 0 ? state.labels[i] : shownPrediction(i);
  button.classList.toggle("settled", isSettled(i));
  button.classList.toggle("ghost", !isSettled(i) && code >= 0);
  button.style.setProperty("--class", code < 0 ? "var(--muted)" : shade(code));
  button.lastElementChild.replaceChildren(...caption(i, button.withConfidence));
  button.setAttribute("aria-label", `${content.names[i]}, ${describe(i)}` +
    (button.withConfidence && shownPrediction(i) >= 0 ? `, confidence ${percent(confidence(i))}` : ""));
  button.setAttribute("aria-pressed", selection.rows.has(i));
}

/** Show again what is known about some images, wherever they are; labels that are predicted anew are tinted. */
function updateThumbs(rows) {
  const wanted = new Set(rows);
  for (const button of document.getElementsByClassName("thumb")) {
    const changed = wanted.has(Number(button.dataset.row));
    const before = button.lastElementChild.textContent;
    if (changed) updateThumb(button);
    button.classList.toggle("fresh", changed && button.classList.contains("ghost") && before !== button.lastElementChild.textContent);
  }
}
