// --- pictures ----------------------------------------------------------------------------------

const THUMB = photos ? 144 : 56; // longer side of a picture in a list, in pixels
const CELL = photos ? 152 : fitted(THUMB)[0];
const GAP = photos ? 12 : 4;
const SHARP_BELOW = 64; // pixels of a photograph that is enlarged without smoothing
const LONGEST_NAME = 20; // characters of a name below a picture

/** Width and height of a tile in a box: whole multiples for small tiles. */
function fitted(side, size = data.tiles?.size) {
  if (!shaped) return side > 100 ? [Math.min(side, 340), 48] : [116, 22];
  const [height, width] = size;
  const long = Math.max(height, width);
  const scale = long <= 0.6 * side ? Math.round(side / long) : side / long;
  const smallest = Math.min(14, side);
  return [width, height].map((edge) => Math.max(smallest, Math.round(edge * scale)));
}

const THUMBNAIL = 160; // longer side of the file of a photograph that is not smaller itself

/** A photograph at its proportions, in a box of `side`; the file is loaded when it comes in sight. */
function photograph(i, side, sizes = data.sizes, file = fileName(data.rows[i])) {
  const [width, height] = sizes.slice(2 * i, 2 * i + 2);
  const long = Math.max(width, height);
  const whole = long * Math.floor(side / long); // a whole multiple of a small picture
  const most = long < SHARP_BELOW ? side : Math.min(side, long, THUMBNAIL);
  const scale = (long < SHARP_BELOW && whole >= 0.85 * side ? whole : most) / long;
  const [across, down] = [width, height].map((edge) => Math.max(8, Math.round(edge * scale)));
  const image = make("img", { loading: "lazy", decoding: "async", alt: "", width: across, height: down,
    className: long < SHARP_BELOW ? "photo sharp" : "photo" });
  image.src = `thumbnails/${file}`;
  return image;
}

/** The file of the photograph of a row. */
function fileName(row) {
  return `${`${row}`.padStart(6, "0")}.jpg`;
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
  const [tileHeight] = small ? data.tiles.smallSize : data.tiles.size;
  return fromSheet(element, sheet, i, [width, height], { columns, count: data.pictured, tileHeight });
}

/** Show tile `i` of a sheet in an element of the size given. */
function fromSheet(element, sheet, i, [width, height], { columns, count, tileHeight }) {
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
  element.classList.add(sheet);
  element.classList.toggle("sharp", !shaped || height >= 1.5 * tileHeight);
  element.style.backgroundSize = `${columns * width}px ${Math.ceil(count / columns) * height}px`;
  element.style.backgroundPosition =
    `${-(i % columns) * width}px ${-Math.floor(i / columns) * height}px`;
  return element;
}

/** The picture of a sample of the model, where there is one. */
function fittedPicture(at, side) {
  const { name, sizes, tiles } = data.fitted;
  if (sizes) return photograph(at, side, sizes, `fitted-${fileName(at)}`);
  if (!tiles) return null;
  const geometry = { columns: tiles.columns, count: name.length, tileHeight: tiles.size[0] };
  return fromSheet(make("span", { className: "picture" }), "fitted", at, fitted(side, tiles.size), geometry);
}

/** A sample of the model: its picture, if there is one, its name and its group. */
function fittedThumb(at) {
  const side = photos ? 128 : THUMB;
  const name = data.fitted.name[at];
  const image = fittedPicture(at, side);
  const frame = image && make("span", { className: "frame" }, image);
  if (frame) frame.style.height = `${side}px`;
  const group = data.fitted.group[at];
  return make("li", { className: "thumb", title: name }, frame, make("span", { className: "label" }, ending(name)),
    make("span", { className: "label of" }, ...(group < 0 ? [] : [dot(group), label(group)])));
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
