// --- pictures ----------------------------------------------------------------------------------

const THUMB = photos ? 144 : 56; // longer side of a picture in a list, in pixels
const CELL = photos ? 152 : fitted(THUMB)[0];
const GAP = photos ? 12 : 4;
const SHARP_BELOW = 64; // pixels of a photograph that is enlarged without smoothing
const LONGEST_NAME = 20; // characters of a name below a picture

/** Width and height of a tile in a box: whole multiples for small tiles. */
function fitted(side) {
  if (!shaped) return side > 100 ? [Math.min(side, 340), 48] : [116, 22];
  const [height, width] = data.tiles.size;
  const long = Math.max(height, width);
  const scale = long <= 0.6 * side ? Math.round(side / long) : side / long;
  const smallest = Math.min(14, side);
  return [width, height].map((edge) => Math.max(smallest, Math.round(edge * scale)));
}

/** A photograph at its proportions, in a box of `side`; the file is loaded when it comes in sight. */
function photograph(i, side) {
  const [width, height] = data.sizes.slice(2 * i, 2 * i + 2);
  const long = Math.max(width, height);
  const whole = long * Math.floor(side / long); // a whole multiple of a small picture
  const scale = (long < SHARP_BELOW && whole >= 0.85 * side ? whole : side) / long;
  const [across, down] = [width, height].map((edge) => Math.max(8, Math.round(edge * scale)));
  const image = make("img", { loading: "lazy", decoding: "async", alt: "", width: across, height: down,
    className: long < SHARP_BELOW ? "photo sharp" : "photo" });
  image.src = `thumbnails/${`${i}`.padStart(6, "0")}.jpg`;
  return image;
}

/** The picture of a sample: its photograph, or its tile. */
function picture(i, side) {
  return photos ? photograph(i, side) : tile(i, side);
}

/** A tile from one of the sheets: "sample", "reconstruction" or "residual". */
function tile(i, side, sheet = "sample") {
  const [width, height] = fitted(side);
  const element = make("span", { className: "picture" });
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
  if (!hasPicture(i)) {
    element.classList.add("none");
    element.textContent = "no picture";
    return element;
  }
  const small = sheet !== "sample";
  const columns = small ? data.tiles.smallColumns : data.tiles.columns;
  const rows = Math.ceil(data.pictured / columns);
  const [tileHeight] = small ? data.tiles.smallSize : data.tiles.size;
  element.classList.add(sheet);
  element.classList.toggle("sharp", !shaped || height >= 1.5 * tileHeight);
  element.style.backgroundSize = `${columns * width}px ${rows * height}px`;
  element.style.backgroundPosition =
    `${-(i % columns) * width}px ${-Math.floor(i / columns) * height}px`;
  return element;
}

const STRIPES = shaped ? "" : data.features > data.tiles.size[1]
  ? " The stripes of a sample are its coordinates in the main directions, blue below the mean and orange above."
  : " The stripes of a sample are its features, blue below the mean and orange above.";

/** The end of a long name, which says more than its beginning. */
function ending(name) {
  if (name.length <= LONGEST_NAME) return name;
  return `…${Array.from(name.slice(-4 * LONGEST_NAME)).slice(1 - LONGEST_NAME).join("")}`;
}

const label = (group) => (clustered ? groupName(group) : short(group));

/** A button with the picture of a sample; photographs have name and group below. */
function thumb(i, side = THUMB) {
  const button = make("button", { type: "button", className: "thumb", title: samples.name[i] });
  button.dataset.sample = i;
  button.setAttribute("aria-label", describe(i));
  button.classList.toggle("wrong", isWrong(i));
  if (!photos) button.append(picture(i, side));
  else {
    const frame = make("span", { className: "frame" }, picture(i, side));
    frame.style.height = `${side}px`;
    button.append(frame, make("span", { className: "label" }, ending(samples.name[i])),
      make("span", { className: "label of" }, dot(samples.group[i]), label(samples.group[i])));
  }
  if (!shaped) button.append(make("span", { className: "label" }, samples.name[i]));
  return button;
}
