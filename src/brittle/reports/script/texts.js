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

const image = (entry, n) => {
  const label = n === 0 ? entry.predicted : n === 1 ? entry.adversarial : null;
  const names = [`picture predicted ${entry.predicted}`, `adversary predicted ${entry.adversarial}`, "difference"];
  const drawn = document.createElement("img");
  drawn.src = `data:image/png;base64,${entry.picture.pictures[n]}`;
  drawn.alt = names[n];
  const corner = label === null ? null : element("figcaption", "", isolated(label), percent(n ? entry.after : entry.before));
  return element("figure", "picture", drawn, corner);
};
const pictures = (entry) => element("div", "pictures", ...entry.picture.pictures.map((_, n) => image(entry, n)));

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
    element("span", "status", entry.status),
    verdict(entry),
    entry.reason ? element("span", "reason", isolated(entry.reason)) : null,
    element("span", "costs", changes(entry) + plural(entry.queries, "query", "queries")),
    link,
  );
  const shown = entry.picture ? pictures(entry) : texts(entry, false);
  return element("article", `card case is-${entry.status.replaceAll(" ", "-")}`, head, shown, pathOf(entry));
};
