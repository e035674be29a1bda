// --- search by name and by group -------------------------------------------------------------------

const search = {
  folded: null,

  start() {
    $("query").placeholder = `Find ${noun}s by name`;
    $("query").setAttribute("aria-label", $("query").placeholder);
    $("within").setAttribute("aria-label", clustered ? "Cluster" : "Class");
    $("within").append(make("option", { value: "" }, `All ${groupNouns}`),
      ...data.groups.map((_, group) => make("option", { value: `${group}` }, groupName(group))));
    $("query").addEventListener("input", () => this.show());
    $("within").addEventListener("change", () => this.show());
    $("query").form.addEventListener("submit", (event) => event.preventDefault());
  },

  /** Names without differences of case and of the composition of letters. */
  fold: (text) => text.normalize("NFC").toLowerCase(),

  /** Samples whose name contains all words of a text, within a group unless that is negative. */
  matching(text, group) {
    this.folded ??= samples.name.map(this.fold);
    const words = this.fold(text).split(/\s+/).filter(Boolean);
    return range(samples.name.length).filter((i) =>
      (group < 0 || samples.group[i] === group) && words.every((word) => this.folded[i].includes(word)));
  },

  show() {
    const [text, within] = [$("query").value.trim(), $("within").value];
    $("matches").replaceChildren();
    $("matched").textContent = "";
    if (!text && !within) return;
    const ids = this.matching(text, within === "" ? -1 : Number(within));
    const where = within === "" ? "" : ` in ${inSentence(groupName(Number(within)))}`;
    const sought = text ? ` with “${text}” in the name` : "";
    $("matched").textContent = ids.length ? `${counted(ids.length, noun)}${sought}${where}` : `No ${noun}${sought}${where}`;
    if (ids.length) paged($("matches"), ids, { most: photos ? 48 : 300, title: "the search" });
  },
};
