// The cases of the run, from the block of JSON in the page.
const data = JSON.parse(byId("rows").textContent);
const stringAt = (index) => (index < 0 ? null : data.strings[index]);
const inFours = (flat) => {
  const fours = [];
  for (let i = 0; i < flat.length; i += 4) fours.push(flat.slice(i, i + 4));
  return fours;
};
const cases = data.rows.map((row, order) => {
  const [id, status, reason, label, predicted, before, adversarial, after, ...rest] = row;
  const [queries, size, words, shape, texts, edits, path, cost, keptItems, images] = rest;
  const [distance, largest, pictures] = images || [];
  const strings = { status, reason, label, predicted, adversarial };
  for (const name in strings) strings[name] = stringAt(strings[name]);
  return {
    ...{ order, id, before, after, queries, size, words, texts, path, cost, ...strings },
    kept: keptItems.map(([name, text, cost, label, confidence]) => ({
      ...{ name: stringAt(name), text, cost, label: stringAt(label), confidence },
    })),
    edits: inFours(edits),
    picture: images ? { distance, largest, pictures } : null,
    level: data.levels ? data.levels.rows[order] : -1,
    names: data.shapes[shape],
    hasAnswer: data.answered[shape],
  };
});

const isChanged = (entry) => (entry.picture ? entry.picture.largest !== null : entry.edits.length > 0);
// What the target predicts in the end, as the confusion matrix under attack counts it.
const predictedAtLast = (entry) =>
  entry.status === "broken" && entry.adversarial !== null ? entry.adversarial : entry.predicted;

// What is searched: originals, new words, labels, reason and id; built at the first search.
const searchText = (entry) => {
  const added = entry.edits.map((edit) => edit[3]);
  const labels = [entry.label, entry.predicted, entry.adversarial];
  const parts = [...entry.texts, ...added, ...labels, entry.reason, entry.id];
  return parts.filter(Boolean).join("\n").toLowerCase();
};

// How a case ended: its status, or whether a skipped one needed no attack or was not tested.
const outcome = (entry) => {
  if (entry.status !== "skipped") return entry.status;
  return entry.reason && entry.reason.startsWith("already") ? entry.reason : "not tested";
};

// The level of edits that broke a case: its number from gentle to rough, null of any other case.
const brokenAt = (entry) => (entry.status === "broken" && entry.level >= 0 ? entry.level : null);

const change = (entry) => (entry.picture ? entry.picture.largest : entry.words);
const MAX_KEY = 1e7; // larger than any number of words
const sortKeys = {
  gentlest: (entry) => {
    const key = sortKeys.clearest(entry);
    return key === null ? null : MAX_KEY * (brokenAt(entry) ?? data.levels.names.length) + key;
  },
  clearest: (entry) => {
    if (entry.status !== "broken") return null;
    // In a latent space the distance there says how near an adversary is.
    if (entry.kept.length && entry.cost !== null) return entry.cost;
    // Confidence decides between equal changes: distances have four decimals, words none.
    return entry.picture ? entry.picture.largest - (entry.after || 0) / 1e5 : entry.words - (entry.after || 0);
  },
  run: (entry) => entry.order,
  queries: (entry) => entry.queries,
  words: (entry) => (isChanged(entry) ? change(entry) : null),
  before: (entry) => entry.before,
  after: (entry) => entry.after,
};
