"use strict";
// --- the session: what the server knows, and the actions that are sent to it ----------------------

const POLLING = 2000; // milliseconds between looks for actions of other windows
const TIMEOUT = 20000; // milliseconds after which a server does not answer

let content = null; // what stays: names, clusters, places, marks, colors, sizes
let state = { version: -1, classes: [], history: [], undo: "", redo: "" };
let steps = { version: -1, questions: [], hidden: [], contradictions: [], copies: null };
let hidden = new Set(); // rows whose prediction must not be shown

class Unreachable extends Error {}

const ARRAYS = { labels: Int16Array, marks: Int8Array, predicted: Int16Array, confidence: Uint8Array };

/** Numbers from the Base64 of their bytes. */
function unpacked(text, kind) {
  return new kind(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)).buffer);
}

const isSettled = (i) => state.labels[i] >= 0 || state.marks[i] >= 0;
const confidence = (i) => state.confidence[i] / 255;
/** The predicted class of an image that nobody decided on, −1 for none or one that is not shown. */
const shownPrediction = (i) => (isSettled(i) || hidden.has(i) ? -1 : state.predicted[i]);
const emit = (kind, detail = null) => document.dispatchEvent(new CustomEvent(kind, { detail }));

const session = {
  waiting: [], // actions that are not confirmed, the first of them under way
  sending: false,
  confirmed: 0,
  lost: "", // why the server cannot be reached

  async start() {
    content = await this.request("content");
    content.places = unpacked(content.places, Float32Array);
    content.cluster = new Int32Array(content.names.length);
    content.clusters.forEach((rows, cluster) => { for (const i of rows) content.cluster[i] = cluster; });
    this.replaceState(await this.request("state"));
    await this.fetchSteps();
    setInterval(() => this.poll(), POLLING);
  },

  /** What the server answers, from JSON; null where it has nothing new. */
  async request(path, sent = null) {
    const options = { cache: "no-store" };
    if (path !== "export") options.signal = AbortSignal.timeout(TIMEOUT); // copies take as long as they take
    if (sent) {
      Object.assign(options, { method: "POST", body: JSON.stringify(sent),
        headers: { "Content-Type": "application/json" } });
    }
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      this.setConnection("gone");
      throw new Unreachable();
    }
    if (response.status === 403) {
      this.setConnection("moved");
      throw new Unreachable();
    }
    this.setConnection("");
    if (response.status === 204) return null;
    const answer = await response.json().catch(() => ({ error: `The server failed (status ${response.status}).` }));
    if (!response.ok) throw new Error(answer.error);
    return answer;
  },

  setConnection(reason) {
    if (reason === this.lost) return;
    this.lost = reason;
    emit("connection");
  },

  /** Send an action; the promise is true when it is confirmed. */
  act(action) {
    if (this.lost) {
      showError("Not saved: the server does not respond.");
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const text = sentence(action);
      this.waiting.push({ action: { key: crypto.randomUUID(), ...action }, text, resolve });
      this.send();
    });
  },

  /** Send what waits. Where the server is gone it stays, and is sent again with the same key. */
  async send() {
    if (this.sending) return;
    this.sending = true;
    while (this.waiting.length) {
      const { action, text, resolve } = this.waiting[0];
      try {
        const fresh = await this.request("act", action);
        this.confirmed += 1;
        this.waiting.shift();
        const { predictions } = this.replaceState(fresh);
        showStatus(`${text} ${predictions ? `${counted(predictions, "prediction")} changed.` : ""}`);
        resolve(true);
      } catch (error) {
        if (error instanceof Unreachable) break;
        this.waiting.shift();
        showError(error.message);
        resolve(false);
      }
    }
    this.sending = false;
    this.fetchSteps();
  },

  /** Fetch the questions and contradictions that follow from the last action, and those of copies once these are known. */
  async fetchSteps() {
    if ((steps.version === state.version && steps.copies !== null) || this.sending) return;
    try {
      const fresh = await this.request("next");
      if (this.sending || fresh.version !== state.version) return;
      if (fresh.version === steps.version && fresh.copies === null) return;
      const before = hidden;
      steps = fresh;
      hidden = new Set(steps.hidden);
      emit("stepped");
      const rows = [...hidden, ...before].filter((i) => hidden.has(i) !== before.has(i));
      if (rows.length) emit("changed", { rows, classes: false });
    } catch (error) {
      if (!(error instanceof Unreachable)) showError(error.message);
    }
  },

  async poll() {
    if (this.sending) return;
    const { confirmed } = this;
    try {
      const fresh = await this.request(`state?since=${state.version}`);
      if (fresh && confirmed === this.confirmed && !this.sending) {
        this.replaceState(fresh);
        if (!$("status").classList.contains("wrong")) showStatus("Labels were changed in another window.");
      }
      if (this.waiting.length) this.send();
      else await this.fetchSteps();
    } catch (error) {
      if (!(error instanceof Unreachable)) showError(error.message);
    }
  },

  /** Replace the state; returns how many labels and predictions changed. */
  replaceState(fresh) {
    const before = state;
    const arrays = Object.entries(ARRAYS).map(([field, kind]) => [field, unpacked(fresh[field], kind)]);
    state = { ...fresh, ...Object.fromEntries(arrays) };
    const classes = before.classes.join("\n") !== state.classes.join("\n");
    const same = before.labels && before.classes.every((text, code) => state.classes[code] === text);
    const rows = [];
    const counts = { labels: 0, predictions: 0 };
    for (let i = 0; i < content.names.length; i++) {
      const labels = !same || before.labels[i] !== state.labels[i] || before.marks[i] !== state.marks[i];
      const predictions = !same || before.predicted[i] !== state.predicted[i];
      if (labels || predictions) rows.push(i);
      if (labels) counts.labels += 1;
      else if (predictions && !isSettled(i)) counts.predictions += 1;
    }
    emit("changed", { rows, classes });
    return counts;
  },
};
