// The page is drawn from the JSON in #data. A sample is identified by its position in the columns
// of `data.samples`; those before `data.pictured` have a picture and, if fitted, a hyperedge.
const data = JSON.parse(document.getElementById("data").textContent);
const samples = data.samples;
const photos = data.sizes !== null; // photographs, as files beside the page
const shaped = photos || data.shape !== null;
const clustered = data.kind === "cluster";
const predicted = data.run === "predict";
const noun = shaped ? "image" : "sample";
const Nouns = shaped ? "Images" : "Samples";
const groupNoun = clustered ? "cluster" : "class";
const groupNouns = clustered ? "clusters" : "classes";
const [truthNoun, truthNouns] = data.byFolder ? ["sub-folder", "sub-folders"] : ["true class", "true classes"];

const score = (value) => value.toFixed(2);
const signed = (z) => `${z < 0 ? "−" : "+"}${Math.abs(z).toFixed(3)}`;
const lighter = (at) => `color-mix(in oklab, ${color(at)} 72%, white)`; // on a dark background
const color = (at) => data.colors[at % data.colors.length];
const dot = (at) => {
  const element = make("i", { className: "dot" });
  element.style.background = `light-dark(${color(at)}, ${lighter(at)})`;
  return element;
};

const short = (group) => data.groups[group].name || "no label";
const groupName = (group) => `${clustered ? "Cluster" : "Class"} ${short(group)}`;
const capital = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
const inSentence = (text) => text.replace(/^C/, "c");
const trueClass = (i) => (samples.truth[i] < 0 ? "" : data.trueClasses[samples.truth[i]]);
const hasPicture = (i) => i < data.pictured;
const namedGroups = () => data.groups.filter((group) => group.name !== "");

/** Whether the true class differs from that of most of the cluster, or from the class. */
function isWrong(i) {
  if (samples.truth[i] < 0 || data.byFolder) return false;
  const group = data.groups[samples.group[i]];
  return clustered ? samples.truth[i] !== group.truth : trueClass(i) !== group.name;
}

/** What is to be said about a sample, in words. */
function remarks(i) {
  const group = samples.group[i];
  const texts = [];
  if (data.groups[group].name === "") texts.push(predicted ? `similar to no ${noun} of the model` : "no label reaches it");
  if (samples.fragment[i]) texts.push(`one of ${counted(samples.fragment[i], noun)} apart from all others`);
  if (samples.isOutlier[i]) texts.push(`unusual: unlike every other ${noun}`);
  if (samples.lowConfidence[i]) {
    const other = samples.alternative[i];
    texts.push(other < 0 ? "low confidence" : `could also be ${inSentence(groupName(other))}`);
  }
  return texts;
}

function describe(i) {
  return `${samples.name[i]}, ${inSentence(groupName(samples.group[i]))}, confidence ${percent(samples.confidence[i])}`;
}

// --- title and summary -----------------------------------------------------------------------------------

const KINDS = { cluster: "Clustering", classify: "Classification", predict: "Prediction" };

function showResults() {
  const name = data.source.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || data.source;
  const size = photos ? "" : shaped ? ` of ${data.shape.slice(0, 2).join("×")} pixels`
    : ` of ${counted(data.features, "feature")}`;
  $("title").textContent = name;
  $("lead").textContent =
    `${KINDS[data.run]}: ${counted(data.total, noun)}${size} in ${counted(namedGroups().length, groupNoun)}`;
  if (data.pictured < data.total) {
    const listed = samples.name.length;
    $("sampling").hidden = false;
    $("sampling").textContent =
      `${number(data.pictured)} of ${number(data.total)} ${noun}s are on this page: of every ${groupNoun} ` +
      `those of the highest and of the lowest confidence and some at random, the most unusual, and ${noun}s similar to these. ` +
      `Counts are of all ${number(data.total)}` +
      (data.edges ? `; the map shows ${listed < data.total ? number(listed) : "all"} of them.` : ".");
  }
  $("warnings").hidden = !data.warnings.length;
  $("warnings").append(...data.warnings.map((text) => make("li", {}, make("b", {}, "Warning "), text)));
  showRows($("summary"), data.summary);
  $("command").textContent = data.command;
  showStages();
  showRows($("quality"), qualityRows());
  $("footer").textContent = `Written by enhg ${data.version}. ` + (photos
    ? "Keep the folder thumbnails beside this file; nothing else is loaded."
    : "This file is complete; nothing else is loaded.");
}

/** Figures in technical terms. */
function qualityRows() {
  const rows = data.scores.map(([kind, value]) => [kind, value.toFixed(4)]);
  if (data.lowConfidence) rows.push(["Confidence", `at most ${Number(data.confidenceThreshold.toPrecision(2))} ` +
    `in the lowest ${number(data.lowConfidence)} of ${counted(data.total, noun)}`]);
  if (!data.structure) return rows;
  const { certificate, violation, components, largest } = data.structure;
  rows.push(
    ["Certificate", certificate === null ? "not known: numerical overflow"
      : `at most ${certificate.toExponential(1)}${violation === null ? "" : " over the candidates, " +
        `about ${Number(violation.toPrecision(1))} over all`}; 0 is exactly optimal`],
    ["Components", components === 1 ? "1" : `${number(components)}; the largest has ${counted(largest, noun)}`],
  );
  return rows;
}

function showRows(list, rows) {
  list.append(...rows.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))));
}

function showStages() {
  const total = data.stages.reduce((sum, [, seconds]) => sum + seconds, 0);
  const time = (seconds) => (seconds < 60 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`);
  const bar = make("div", { className: "times", ariaHidden: "true" }, ...data.stages.map(([name, seconds]) => {
    const part = make("span", { title: `${name}, ${time(seconds)}` });
    part.style.flexGrow = seconds / (total || 1);
    return part;
  }));
  const texts = [...data.stages, ["total", total]].map(([name, seconds]) =>
    make("li", {}, `${name} `, make("b", {}, time(seconds))));
  $("stages").append(bar, make("ul", { className: "stages" }, ...texts));
}
