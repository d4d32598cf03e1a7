"use strict";
// Builds the list of cases. Data reaches the page as text nodes only, never as markup.
(() => {
  const PER_PAGE = 25;
  const LONG_TEXT = 700; // characters; a longer field is cut around its edits
  const CONTEXT = 140; // characters kept beside an edit

  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("rows").textContent);
  const cases = data.rows.map((row, order) => {
    const [id, status, reason, label, predicted, before, adversarial, after, ...rest] = row;
    const [queries, size, words, shape, texts, edits, images] = rest;
    const [distance, largest, ...pictures] = images || [];
    const strings = { status, reason, label, predicted, adversarial };
    for (const name in strings) strings[name] = strings[name] < 0 ? null : data.strings[strings[name]];
    const picture = images ? { distance, largest, pictures } : null;
    return { order, id, before, after, queries, size, words, texts, edits, picture, ...strings, names: data.shapes[shape] };
  });
  if (!cases.length) return;

  // What is searched: originals, new words, labels, reason and id; built at the first search.
  let searchTexts = null;
  const searchText = (entry) => {
    const added = entry.edits.filter((_, i) => i % 4 === 3);
    const labels = [entry.label, entry.predicted, entry.adversarial];
    const parts = [...entry.texts, ...added, ...labels, entry.reason, entry.id];
    return parts.filter(Boolean).join("\n").toLowerCase();
  };

  const isChanged = (entry) => (entry.picture ? entry.picture.largest !== null : entry.edits.length > 0);
  const change = (entry) => (entry.picture ? entry.picture.largest : entry.words);
  const sortKeys = {
    clearest: (entry) => {
      if (entry.status !== "broken") return null;
      // Confidence decides between equal changes: distances have four decimals, words none.
      return entry.picture ? entry.picture.largest - (entry.after || 0) / 1e5 : entry.words - (entry.after || 0);
    },
    run: (entry) => entry.order,
    queries: (entry) => entry.queries,
    words: (entry) => (isChanged(entry) ? change(entry) : null),
    before: (entry) => entry.before,
    after: (entry) => entry.after,
  };
  let isReversed = false;
  let page = 0;
  let shown = cases;

  const select = () => {
    const query = byId("search").value.trim().toLowerCase();
    const boxes = [...document.querySelectorAll("#controls .chips input")];
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    if (query && !searchTexts) searchTexts = cases.map(searchText);
    const key = sortKeys[byId("sort").value];
    const sign = isReversed ? -1 : 1;
    shown = cases.filter(
      (entry) => wanted.has(entry.status) && (!query || searchTexts[entry.order].includes(query)),
    );
    // Cases without the value sorted by come last in either direction.
    const value = new Map(shown.map((entry) => [entry, key(entry)]));
    shown.sort((a, b) => {
      const x = value.get(a);
      const y = value.get(b);
      if (x === null || y === null) return (x === null) - (y === null) || a.order - b.order;
      return sign * (x - y) || a.order - b.order;
    });
    page = 0;
    draw();
  };

  const element = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  };
  const isolated = (text) => element("bdi", "", visible(text));
  const count = (n) => n.toLocaleString("en");
  const percent = (p) => (p === null ? "" : ` ${Math.round(100 * p)}%`);
  const plural = (n, singular, many) => `${count(n)} ${n === 1 ? singular : many}`;

  // Control characters and direction marks would be invisible, or reverse the line.
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const visible = (text) =>
    text.replace(CONTROL, (char) => {
      const code = char.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
    });

  const cut = (text, head, tail) => {
    if (text.length <= head + tail + 24) return [visible(text)];
    // Cut at a space, so that neither a word nor a surrogate pair is split.
    let left = head ? text.lastIndexOf(" ", head) : 0;
    if (head && left < head - 40) left = head;
    let right = tail ? text.indexOf(" ", text.length - tail) : text.length;
    if (right < 0) right = text.length - tail;
    return [visible(text.slice(0, left)), element("span", "cut", " … "), visible(text.slice(right))];
  };

  const diff = (text, edits, isWhole) => {
    const box = element("p", "text");
    box.dir = "auto";
    let position = 0;
    edits.forEach(([start, stop, added], i) => {
      const same = text.slice(position, start);
      box.append(...(isWhole ? [visible(same)] : cut(same, i ? CONTEXT : 0, CONTEXT)));
      const removed = text.slice(start, stop);
      const shortened = (part) => (isWhole ? [visible(part)] : cut(part, CONTEXT, CONTEXT));
      if (removed) box.append(element("del", "", ...shortened(removed)));
      if (added) box.append(element("ins", "", ...shortened(added)));
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
      const edits = [];
      for (let i = 0; i < entry.edits.length; i += 4) {
        if (entry.edits[i] === field) edits.push(entry.edits.slice(i + 1, i + 4));
      }
      if (entry.texts.length > 1) box.append(element("p", "field", isolated(entry.names[field])));
      const length = edits.reduce((sum, edit) => sum + edit[2].length, text.length);
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
    return element("article", `card case is-${entry.status.replaceAll(" ", "-")}`, head, entry.picture ? pictures(entry) : texts(entry, false));
  };

  const draw = () => {
    const pages = Math.ceil(shown.length / PER_PAGE);
    const start = page * PER_PAGE;
    const onPage = shown.slice(start, start + PER_PAGE);
    const list = byId("list");
    list.replaceChildren(...onPage.map(card));
    if (!onPage.length) list.append(element("p", "none", "No case matches. Clear the search, or show more statuses."));
    const total = plural(cases.length, "case", "cases");
    byId("count").textContent = shown.length === cases.length ? total : `${count(shown.length)} of ${total}`;
    byId("pages").hidden = pages < 2;
    byId("page").textContent = onPage.length
      ? `${count(start + 1)}–${count(start + onPage.length)} of ${count(shown.length)}`
      : "";
    byId("back").disabled = page === 0;
    byId("next").disabled = page >= pages - 1;
  };

  const turnPage = (step) => {
    page += step;
    draw();
    byId("cases").scrollIntoView();
  };
  const showLinked = () => {
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return; // not a link made here
    }
    if (!cases.some((entry) => entry.id === id)) return;
    byId("search").value = id;
    select();
    byId("cases").scrollIntoView();
  };

  byId("controls").hidden = false;
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").addEventListener("change", select);
  let timer = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(select, 80);
  });
  byId("reverse").addEventListener("click", () => {
    isReversed = !isReversed;
    byId("reverse").textContent = isReversed ? "↓" : "↑";
    select();
  });
  byId("back").addEventListener("click", () => turnPage(-1));
  byId("next").addEventListener("click", () => turnPage(1));
  window.addEventListener("hashchange", showLinked);
  select();
  showLinked();
})();
