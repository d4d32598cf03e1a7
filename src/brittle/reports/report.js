"use strict";
// Builds the list of cases. Data reaches the page as text nodes only, never as markup.
(() => {
  const PER_PAGE = 25;
  const LONG = 700; // characters of a field beyond which it is cut around its edits
  const AROUND = 140;

  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("rows").textContent);
  const word = (index) => (index < 0 ? null : data.strings[index]);
  const cases = data.rows.map((row, order) => ({
    order,
    id: row[0],
    status: word(row[1]),
    reason: word(row[2]),
    label: word(row[3]),
    predicted: word(row[4]),
    before: row[5],
    found: word(row[6]),
    after: row[7],
    queries: row[8],
    size: row[9],
    words: row[10],
    names: data.shapes[row[11]],
    texts: row[12],
    edits: row[13],
  }));
  if (!cases.length) return;

  // What is searched: originals, new words, labels, reason and id, made on the first search.
  let haystacks = null;
  const haystack = (one) => {
    const added = one.edits.filter((_, i) => i % 4 === 3);
    const parts = [...one.texts, ...added, one.label, one.predicted, one.found, one.reason, one.id];
    return parts.filter(Boolean).join("\n").toLowerCase();
  };

  const keys = {
    clearest: (one) => (one.status === "broken" ? one.words - (one.after || 0) : null),
    run: (one) => one.order,
    queries: (one) => one.queries,
    words: (one) => (one.edits.length ? one.words : null),
    before: (one) => one.before,
    after: (one) => one.after,
  };
  let down = false;
  let page = 0;
  let shown = cases;

  const select = () => {
    const query = byId("search").value.trim().toLowerCase();
    const boxes = [...document.querySelectorAll("#controls .chips input")];
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    if (query && !haystacks) haystacks = cases.map(haystack);
    const key = keys[byId("sort").value];
    const sign = down ? -1 : 1;
    shown = cases.filter(
      (one) => wanted.has(one.status) && (!query || haystacks[one.order].includes(query)),
    );
    // Cases without the value sorted by come last in either direction.
    const value = new Map(shown.map((one) => [one, key(one)]));
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
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  };
  const isolated = (text) => element("bdi", "", visible(text));
  const count = (n) => n.toLocaleString("en");
  const percent = (p) => (p === null ? "" : ` ${Math.round(100 * p)}%`);
  const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

  // Control characters and direction marks would be unseen, or turn the line around.
  const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const visible = (text) =>
    text.replace(ODD, (char) => {
      const code = char.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
    });

  const cut = (text, head, tail) => {
    if (text.length <= head + tail + 24) return [visible(text)];
    // At a space, so that neither a word nor a pair of surrogates is torn.
    let left = head ? text.lastIndexOf(" ", head) : 0;
    if (head && left < head - 40) left = head;
    let right = tail ? text.indexOf(" ", text.length - tail) : text.length;
    if (right < 0) right = text.length - tail;
    return [visible(text.slice(0, left)), element("span", "cut", " … "), visible(text.slice(right))];
  };

  const written = (text, edits, whole) => {
    const box = element("p", "text");
    box.dir = "auto";
    let at = 0;
    edits.forEach(([start, stop, added], i) => {
      const same = text.slice(at, start);
      box.append(...(whole ? [visible(same)] : cut(same, i ? AROUND : 0, AROUND)));
      const removed = text.slice(start, stop);
      const shortened = (part) => (whole ? [visible(part)] : cut(part, AROUND, AROUND));
      if (removed) box.append(element("del", "", ...shortened(removed)));
      if (added) box.append(element("ins", "", ...shortened(added)));
      at = stop;
    });
    const rest = text.slice(at);
    box.append(...(whole ? [visible(rest)] : cut(rest, edits.length ? AROUND : 3 * AROUND, 0)));
    return box;
  };

  const texts = (one, whole) => {
    const box = element("div", "");
    let isCut = false;
    one.texts.forEach((text, field) => {
      const edits = [];
      for (let i = 0; i < one.edits.length; i += 4) {
        if (one.edits[i] === field) edits.push(one.edits.slice(i + 1, i + 4));
      }
      if (one.texts.length > 1) box.append(element("p", "field", isolated(one.names[field])));
      const length = edits.reduce((sum, edit) => sum + edit[2].length, text.length);
      isCut ||= !whole && length > LONG;
      box.append(written(text, edits, whole || length <= LONG));
    });
    if (isCut) {
      const more = element("button", "more", "Show the whole text");
      more.type = "button";
      more.addEventListener("click", () => box.replaceWith(texts(one, true)));
      box.append(more);
    }
    return box;
  };

  const verdict = (one) => {
    const told = element("span", "verdict");
    if (one.predicted === null) return told;
    told.append(isolated(one.predicted), percent(one.before));
    if (one.label !== null && one.label !== one.predicted) told.append(", should be ", isolated(one.label));
    if (one.found !== null && one.edits.length) {
      told.append(" → ", element("b", "", isolated(one.found)), percent(one.after));
      if (one.status !== "broken") told.append(" at best");
    }
    return told;
  };

  const card = (one) => {
    const changed = one.edits.length ? `${count(one.words)} of ${plural(one.size, "word", "words")} · ` : "";
    const link = element("a", "id", one.id);
    link.href = `#${encodeURIComponent(one.id)}`;
    link.title = "A link to this case";
    const head = element(
      "header",
      "",
      element("span", "status", one.status),
      verdict(one),
      one.reason ? element("span", "reason", isolated(one.reason)) : null,
      element("span", "costs", changed + plural(one.queries, "query", "queries")),
      link,
    );
    return element("article", `card case is-${one.status.replaceAll(" ", "-")}`, head, texts(one, false));
  };

  const draw = () => {
    const pages = Math.ceil(shown.length / PER_PAGE);
    const start = page * PER_PAGE;
    const some = shown.slice(start, start + PER_PAGE);
    const list = byId("list");
    list.replaceChildren(...some.map(card));
    if (!some.length) list.append(element("p", "none", "No case matches. Clear the search, or show more statuses."));
    const total = plural(cases.length, "case", "cases");
    byId("found").textContent = shown.length === cases.length ? total : `${count(shown.length)} of ${total}`;
    byId("pages").hidden = pages < 2;
    byId("page").textContent = some.length
      ? `${count(start + 1)}–${count(start + some.length)} of ${count(shown.length)}`
      : "";
    byId("back").disabled = page === 0;
    byId("next").disabled = page >= pages - 1;
  };

  const turn = (by) => {
    page += by;
    draw();
    byId("cases").scrollIntoView();
  };
  const linked = () => {
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return; // not a link made here
    }
    if (!cases.some((one) => one.id === id)) return;
    byId("search").value = id;
    select();
    byId("cases").scrollIntoView();
  };

  byId("controls").hidden = false;
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").addEventListener("change", select);
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(select, 80);
  });
  byId("turn").addEventListener("click", () => {
    down = !down;
    byId("turn").textContent = down ? "↓" : "↑";
    select();
  });
  byId("back").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  window.addEventListener("hashchange", linked);
  select();
  linked();
})();
