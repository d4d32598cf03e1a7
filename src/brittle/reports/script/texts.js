// A case as a card: its texts with their edits, or its pictures.
const LONG_TEXT = 700; // characters; a longer field is cut around its edits
const CONTEXT = 140; // characters kept beside an edit

const cut = (text, head, tail) => {
  if (text.length <= head + tail + 24) return [visible(text)];
  // Cut at a space, so that neither a word nor a surrogate pair is split.
  let left = head ? text.lastIndexOf(" ", head) : 0;
  if (head && left < head - 40) left = head;
  let right = tail ? text.indexOf(" ", text.length - tail) : text.length;
  if (right < 0) right = text.length - tail;
  return [visible(text.slice(0, left)), element("span", "cut", " … "), visible(text.slice(right))];
};

// What an edit took away and what it put there; `shown` makes nodes of either.
const changed = (removed, added, shown) => [
  removed ? element("del", "", ...shown(removed)) : null,
  added ? element("ins", "", ...shown(added)) : null,
  visible(revealed(added, removed)) === visible(added) ? null : element("code", "codes", ...shown(revealed(added, removed))),
];

const diff = (text, edits, isWhole) => {
  const box = element("p", "text");
  box.dir = "auto";
  let position = 0;
  edits.forEach(([, start, stop, added], i) => {
    const same = text.slice(position, start);
    box.append(...(isWhole ? [visible(same)] : cut(same, i ? CONTEXT : 0, CONTEXT)));
    const shortened = (part) => (isWhole ? [visible(part)] : cut(part, CONTEXT, CONTEXT));
    box.append(...changed(text.slice(start, stop), added, shortened).filter(Boolean));
    position = stop;
  });
  const rest = text.slice(position);
  box.append(...(isWhole ? [visible(rest)] : cut(rest, edits.length ? CONTEXT : 3 * CONTEXT, 0)));
  return box;
};

const texts = (entry, isWhole) => {
  const box = element("div", "");
  let isCut = false;
  entry.texts.forEach((text, field) => {
    const edits = entry.edits.filter((edit) => edit[0] === field);
    if (entry.texts.length > 1) box.append(element("p", "field", isolated(entry.names[field])));
    const length = edits.reduce((sum, edit) => sum + edit[3].length, text.length);
    isCut ||= !isWhole && length > LONG_TEXT;
    box.append(diff(text, edits, isWhole || length <= LONG_TEXT));
  });
  if (isCut) {
    const more = element("button", "more", "Show the whole text");
    more.type = "button";
    more.addEventListener("click", () => box.replaceWith(texts(entry, true)));
    box.append(more);
  }
  return box;
};

const verdict = (entry) => {
  const box = element("span", "verdict");
  if (entry.predicted === null) return box;
  box.append(isolated(entry.predicted), percent(entry.before));
  if (entry.label !== null && entry.label !== entry.predicted) box.append(", should be ", isolated(entry.label));
  if (entry.adversarial !== null && isChanged(entry)) {
    box.append(" → ", element("b", "", isolated(entry.adversarial)), percent(entry.after));
    if (entry.status !== "broken") box.append(" at best");
  }
  return box;
};

const rebuilt = (entry) => entry.kept.find((item) => item.name === "reconstruction") || null;

// What the target predicts of each image of a case, and how sure it is; of a difference nothing.
const answers = (entry) => {
  const item = rebuilt(entry);
  return {
    original: [entry.predicted, entry.before],
    reconstruction: item ? [item.label, item.confidence] : [null, null],
    adversary: [entry.adversarial, entry.after],
    difference: [null, null],
  };
};
const image = (entry, name) => {
  const [label, confidence] = answers(entry)[name];
  const drawn = document.createElement("img");
  drawn.src = `data:image/png;base64,${entry.picture.pictures[name]}`;
  const about = name === "original" ? "picture" : name;
  drawn.alt = drawn.title = label === null ? about : `${about} predicted ${label}`;
  const corner = label === null ? null : element("figcaption", "", isolated(label), percent(confidence));
  return element("figure", "picture", drawn, corner);
};
const pictures = (entry) => {
  const names = Object.keys(entry.picture.pictures);
  return element("div", names.length > 3 ? "pictures four" : "pictures", ...names.map((name) => image(entry, name)));
};

// What the generator makes of a text, and the sentences from there to the adversary.
const wayOf = (entry) => {
  if (entry.picture || !entry.kept.length) return null;
  const last = entry.kept.length - 1;
  const rows = entry.kept.map((item, n) => {
    const isAdversary = n > 0 && n === last;
    const label = isAdversary ? entry.adversarial : item.label;
    const confidence = isAdversary ? entry.after : item.confidence;
    const verdict = label === null ? "" : element(isAdversary ? "b" : "span", "", isolated(label), percent(confidence));
    const text = item.text === "" ? element("span", "soft", "(empty)") : isolated(item.text);
    return element(
      "tr",
      "",
      element("td", "n", item.cost === null ? "" : item.cost.toFixed(3)),
      element("td", "way-text", text),
      element("td", "verdict", verdict),
    );
  });
  const heads = [element("th", "n", data.cost || ""), element("th", "", "decoded"), element("th", "", "predicted")];
  const head = element("thead", "", element("tr", "", ...heads));
  return element("div", "scroll way", element("table", "", head, element("tbody", "", ...rows)));
};

const distanceOf = (entry) =>
  data.cost && entry.cost !== null && entry.status === "broken" ? `${data.cost} ${entry.cost.toFixed(3)} · ` : "";
const changes = (entry) => {
  if (!isChanged(entry)) return "";
  if (entry.picture) return `by at most ${entry.picture.largest.toFixed(3)}, L2 ${entry.picture.distance.toFixed(2)} · `;
  return `${count(entry.words)} of ${plural(entry.size, "word", "words")} changed · `;
};

const card = (entry) => {
  const link = element("a", "id", entry.id);
  link.href = `#${encodeURIComponent(entry.id)}`;
  link.title = "A link to this case";
  const head = element(
    "header",
    "",
    element("span", "status", outcome(entry)),
    brokenAt(entry) === null ? null : element("span", "level", data.levels.titles[entry.level]),
    verdict(entry),
    entry.reason ? element("span", "reason", isolated(entry.reason)) : null,
    element("span", "costs", distanceOf(entry) + changes(entry) + plural(entry.queries, "query", "queries")),
    link,
  );
  const shown = entry.picture ? pictures(entry) : texts(entry, false);
  const parts = [head, shown, wayOf(entry), pathOf(entry)];
  return element("article", `card case is-${(outcome(entry) === "not tested" ? "not tested" : entry.status).replaceAll(" ", "-")}`, ...parts);
};
