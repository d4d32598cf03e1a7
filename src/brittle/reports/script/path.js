// The path of a case: every text that was the best so far, with what changed since the one before.
const LONG_EDIT = 60; // characters of an edit that are shown at either end
const LONG_ANSWER = 200;

const stepEdits = (entry, edits, came, went) => {
  const shown = (part) => cut(part, LONG_EDIT, LONG_EDIT);
  const nodes = [];
  const spans = new Set(came.map((n) => edits[n].slice(0, 2).join()));
  for (const n of came) {
    const [field, start, stop, added] = edits[n];
    nodes.push(element("span", "edit", ...changed(entry.texts[field].slice(start, stop), added, shown)));
  }
  for (const n of went) {
    const [field, start, stop, added] = edits[n];
    if (spans.has([field, start].join())) continue; // another edit has taken its place
    const old = entry.texts[field].slice(start, stop);
    nodes.push(element("span", "edit", "undone: ", ...changed(added, old, shown)));
  }
  return nodes;
};

const stepRow = (entry, edits, step, n, hasLabels) => {
  const [query, label, confidence, came, went, cost = null, answer = -1] = step;
  const predicted = stringAt(label);
  const isWrong = predicted !== null && predicted !== entry.predicted;
  const name = predicted === null ? "" : element(isWrong ? "b" : "span", "", isolated(predicted));
  const nodes = entry.picture ? [] : stepEdits(entry, edits, came, went);
  if (n === 0) nodes.unshift(element("span", "soft", "the original"));
  if (cost !== null) nodes.push(element("span", "soft", `${data.cost || "cost"} ${cost}`));
  const text = stringAt(answer);
  if (text !== null) nodes.push(element("p", "answered", element("bdi", "", ...cut(text, LONG_ANSWER, 0))));
  return element(
    "tr",
    "",
    element("td", "n", count(query)),
    hasLabels ? element("td", "verdict", name, percent(confidence)) : null,
    element("td", "", ...nodes.flatMap((node) => [node, " "])),
  );
};

const pathTable = (entry) => {
  const [flat, total, ...steps] = entry.path;
  const edits = inFours(flat);
  const hasLabels = steps.some((step) => step[1] >= 0);
  const heads = ["query", ...(hasLabels ? ["predicted"] : []), entry.picture ? "" : "changed since the step before"];
  const head = element("tr", "", ...heads.map((name, n) => element("th", n ? "" : "n", name)));
  const table = element("table", "", element("thead", "", head), element("tbody", ""));
  table.tBodies[0].append(...steps.map((step, n) => stepRow(entry, edits, step, n, hasLabels)));
  const left = total - steps.length;
  const note = left > 0 ? element("p", "small", `${plural(left, "step", "steps")} in between left out.`) : null;
  return element("div", "scroll", table, note);
};

// The steps are made into nodes when they are first looked at.
const pathOf = (entry) => {
  if (!entry.path.length || (entry.picture && entry.path.length < 4)) return null;
  const box = element("details", "path", element("summary", "", `Path in ${plural(entry.path[1] - 1, "step", "steps")}`));
  box.addEventListener("toggle", () => box.childElementCount === 1 && box.append(pathTable(entry)));
  return box;
};
