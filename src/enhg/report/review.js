// --- lists to work on: to check, unusual, copies, to label, not read -------------------------------

const FEW_CARDS = innerWidth < 600 ? 6 : 12;
const MOST_UNUSUAL = 120;
const GROUPS_OF_COPIES = 10; // a page
const LINES_OF_SKIPPED = 20; // a page

function showReview() {
  const ids = range(data.pictured);
  const ambiguous = ids.filter((i) => samples.lowConfidence[i]).sort((a, b) => samples.confidence[a] - samples.confidence[b]);
  const outliers = ids.filter((i) => samples.isOutlier[i] || !data.outliers)
    .sort((a, b) => samples.outlier[b] - samples.outlier[a]);
  const title = (count, some, none) => (count ? some : none);
  document.querySelector("#review h2").textContent = `${Nouns} to check`;
  $("low-confidence-title").textContent = title(data.lowConfidence, `The ${number(data.lowConfidence)} of lowest confidence`,
    "All have the same confidence");
  $("low-confidence-about").textContent = title(data.lowConfidence,
    `Wrong ${groupNouns} are more likely among these. The lowest confidence comes first.`, "");
  $("outliers-title").textContent = title(data.outliers, `${number(data.outliers)} unusual`, "None is unusual");
  $("outliers-about").textContent = title(data.outliers, `${Nouns} unlike all others, the most unusual first.`,
    "The least like the others come first.");
  cards($("low-confidence"), ambiguous, "of lowest confidence");
  cards($("outliers"), outliers.slice(0, data.outliers ? MOST_UNUSUAL : 6), "unusual");
}

/** Cards of samples, a few a page. */
function cards(home, ids, title) {
  const card = (i) => {
    const text = [make("b", { title: samples.name[i] }, samples.name[i]),
      make("span", { className: "in" }, dot(samples.group[i]), groupName(samples.group[i])),
      make("span", {}, `Confidence ${percent(samples.confidence[i])}`),
      make("small", {}, remarks(i).join("; "))];
    const button = make("button", { type: "button", className: "card" },
      shaped ? make("span", { className: "frame" }, picture(i, photos ? 128 : THUMB)) : null,
      make("span", { className: "text" }, shaped ? null : picture(i, THUMB), ...text));
    button.dataset.sample = i;
    return button;
  };
  const list = make("div", { className: photos ? "cards photos" : "cards" });
  paged(home, ids, { most: FEW_CARDS, title, part: card, list });
}

function showSuggestions() {
  if (!data.suggestions.length) return void $("suggestions").remove();
  document.querySelector("#suggestions h2").textContent = `${Nouns} to label next`;
  document.querySelector("#suggestions .about").textContent =
    "Labels of these help most, in this order: write their names and labels into a file and run enhg classify with it.";
  paged($("suggested"), data.suggestions, { most: photos ? 24 : 120, title: "to label next" });
}

function showDuplicates() {
  showCopies($("duplicates"), "copies", data.duplicates, `Copies and near-copies`);
  showCopies($("conflicts"), "suspected errors", data.duplicates.filter((group) => group.conflict),
    `Copies and near-copies of different ${samples.given.some(Boolean) ? "given labels" : truthNouns}`);
}

function showCopies(section, title, groups, what) {
  if (!groups.length) return void section.remove();
  const [, line, home] = section.children;
  const total = groups.reduce((sum, { members }) => sum + members.length, 0);
  line.textContent = `${what}: ${counted(total, noun)} in ${counted(groups.length, "group")}, ` +
    "each with its similarity to the first of the group.";
  const copy = ([i, similarity, name]) => {
    const button = thumb(i);
    const texts = [...(name ? [name] : []), `similarity ${score(similarity)}`];
    button.append(...texts.map((text) => make("span", { className: "label" }, text)));
    button.setAttribute("aria-label", [describe(i), ...texts].join(", "));
    return button;
  };
  const part = ({ members }) => listing(make("div", { className: "copies", role: "group",
    ariaLabel: counted(members.length, noun) }, grid(...members.map(copy))),
  members.map(([i]) => i), `${title}, ${counted(members.length, noun)}`);
  paged(home, groups, { most: GROUPS_OF_COPIES, ids: [], title, part, list: make("div") });
}

function showSkipped() {
  if (!data.skipped.length && !data.ignored) return void $("skipped").remove();
  const files = data.ignored === 1 ? "1 file in the folder is no image and was" : `${number(data.ignored)} files in the folder are no images and were`;
  document.querySelector("#skipped .about").textContent = [
    data.skipped.length ? `${counted(data.skipped.length, "image")} could not be read.` : "",
    data.ignored ? `${files} left out.` : ""].join(" ").trim();
  if (!data.skipped.length) return;
  const part = ([name, reason]) => make("div", {}, make("dt", { title: name }, name), make("dd", {}, reason));
  paged($("unread"), data.skipped, { most: LINES_OF_SKIPPED, ids: [], title: `${noun}s that were not read`, part,
    list: make("dl", { className: "rows unread" }) });
}
