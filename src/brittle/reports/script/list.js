// The list of cases: search, filters, order, pages, and the link to one case.
const PER_PAGE = 25;
const MAX_OPTION = 40; // characters of a label in a menu

if (!cases.length) return;

let searchTexts = null;
let isReversed = false;
let page = 0;
let selected = cases;
let linked = null; // the case of a link: it is shown alone, and the list stays as it was
let left = null; // where the reader left the list for a link

const shownCases = () => (linked ? [linked] : selected);

const menus = [
  { id: "class", valueOf: (entry) => entry.label, any: "Any class", name: "Class" },
  { id: "prediction", valueOf: predictedAtLast, any: "Any prediction", name: "Predicted" },
];
for (const menu of menus) {
  const counts = new Map();
  for (const entry of cases) counts.set(menu.valueOf(entry), (counts.get(menu.valueOf(entry)) || 0) + 1);
  counts.delete(null);
  menu.labels = [...counts.keys()].sort();
  menu.select = byId(menu.id);
  menu.select.hidden = menu.labels.length < 2;
  menu.select.append(new Option(menu.any, ""));
  menu.labels.forEach((label, n) => {
    const short = label.length > MAX_OPTION ? `${label.slice(0, MAX_OPTION)}…` : label;
    menu.select.append(new Option(`${menu.name}: ${visible(short)} (${count(counts.get(label))})`, n));
  });
}
const passesMenus = (entry) =>
  menus.every(({ select, labels, valueOf }) => select.value === "" || valueOf(entry) === labels[select.value]);

const select = () => {
  const query = byId("search").value.trim().toLowerCase();
  const boxes = [...document.querySelectorAll("#controls .chips input")];
  const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  if (query && !searchTexts) searchTexts = cases.map(searchText);
  const key = sortKeys[byId("sort").value];
  const sign = isReversed ? -1 : 1;
  selected = cases.filter(
    (entry) =>
      wanted.has(entry.status) && passesMenus(entry) && (!query || searchTexts[entry.order].includes(query)),
  );
  // Cases without the value sorted by come last in either direction.
  const value = new Map(selected.map((entry) => [entry, key(entry)]));
  selected.sort((a, b) => {
    const x = value.get(a);
    const y = value.get(b);
    if (x === null || y === null) return (x === null) - (y === null) || a.order - b.order;
    return sign * (x - y) || a.order - b.order;
  });
  page = 0;
  if (linked) history.replaceState(null, "", "#cases"); // whoever filters wants the list
  linked = null;
  draw();
};

const describeShown = () => {
  const total = plural(cases.length, "case", "cases");
  const all = element("a", "", "Back to the list");
  all.href = "#cases";
  if (linked) return ["1 case, by its link. ", all];
  return [selected.length === cases.length ? total : `${count(selected.length)} of ${total}`];
};

const draw = () => {
  const shown = shownCases();
  const pages = Math.ceil(shown.length / PER_PAGE);
  const start = linked ? 0 : page * PER_PAGE;
  const onPage = shown.slice(start, start + PER_PAGE);
  const list = byId("list");
  list.replaceChildren(...onPage.map(card));
  if (!onPage.length) list.append(element("p", "none", "No case matches. Clear the search, or show more."));
  byId("count").replaceChildren(...describeShown());
  byId("pages").hidden = pages < 2;
  byId("page").textContent = onPage.length
    ? `${count(start + 1)}–${count(start + onPage.length)} of ${count(shown.length)}`
    : "";
  byId("back").disabled = page === 0;
  byId("next").disabled = page >= pages - 1;
  for (const button of byId("saving").children) button.disabled = !shown.length;
};

const turnPage = (step) => {
  page += step;
  draw();
  byId("cases").scrollIntoView();
};

const linkedCase = () => {
  try {
    const id = decodeURIComponent(location.hash.slice(1));
    return cases.find((entry) => entry.id === id) || null;
  } catch {
    return null; // not a link made here
  }
};
const followLink = () => {
  const entry = linkedCase();
  const wasLinked = linked !== null;
  linked = entry;
  if (!entry && !wasLinked) return;
  draw();
  if (entry) {
    byId("cases").scrollIntoView();
  } else if (left && left.hash === location.hash) {
    scrollTo(0, left.y); // the way back: the list is as long as it was again
  } else {
    (byId(location.hash.slice(1)) || byId("cases")).scrollIntoView();
  }
};

byId("controls").hidden = false;
byId("shown").hidden = false;
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
byId("list").addEventListener("click", (event) => {
  if (!linked && event.target.closest("a.id")) left = { hash: location.hash, y: scrollY };
});
for (const nav of document.querySelectorAll("nav.contents, #count")) {
  nav.addEventListener("click", (event) => {
    if (event.target.closest("a")) left = null; // a link to a section leads to its beginning
  });
}
byId("copy").addEventListener("click", async () => {
  const entries = shownCases();
  const isCopied = await copy(asTable(entries, "\t"));
  sayBriefly(byId("copy"), isCopied ? `Copied ${plural(entries.length, "row", "rows")}` : "Not copied");
});
byId("csv").addEventListener("click", () => save(asTable(shownCases(), ","), "text/csv", "csv"));
byId("json").addEventListener("click", () => save(asJson(shownCases()), "application/json", "json"));
window.addEventListener("hashchange", followLink);
select();
followLink();
