// The list of cases: search, filters, order, pages, and the link to one case.
const PER_PAGE = data.levels ? 10 : 25; // with a ladder there is more to read below the list
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

// The boxes of a group: of statuses, or of levels.
const boxes = (group) => [...document.querySelectorAll(`#${group} input`)];
const checked = (group) => boxes(group).filter((box) => box.checked).map((box) => box.value);

const select = () => {
  const query = byId("search").value.trim().toLowerCase();
  const statuses = new Set(checked("statuses"));
  const levels = new Set(checked("levels").map((name) => data.levels.names.indexOf(name)));
  if (query && !searchTexts) searchTexts = cases.map(searchText);
  const key = sortKeys[byId("sort").value];
  const sign = isReversed ? -1 : 1;
  selected = cases.filter(
    (entry) =>
      statuses.has(outcome(entry)) &&
      (brokenAt(entry) === null || levels.has(entry.level)) &&
      passesMenus(entry) &&
      (!query || searchTexts[entry.order].includes(query)),
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
  linked = null;
  draw();
};
const selectByHand = () => {
  // Whoever filters wants the list, and no longer what a link asked for.
  if (linked || linkedFilter()) history.replaceState(null, "", "#cases");
  select();
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
// A link such as #level=rewrite or #status=held,proved shows these cases alone.
const linkedFilter = () => {
  const [, group, names] = location.hash.match(/^#(level|status)=(.+)$/) || [];
  try {
    return group ? { group, names: decodeURIComponent(names).split(",") } : null;
  } catch {
    return null; // not a link made here
  }
};
const followFilter = ({ group, names }) => {
  const statuses = group === "level" ? ["broken"] : names;
  byId("search").value = "";
  for (const { select } of menus) select.value = "";
  for (const box of boxes("statuses")) box.checked = statuses.includes(box.value);
  for (const box of boxes("levels")) box.checked = group === "status" || names.includes(box.value);
  select();
  byId("cases").scrollIntoView();
};
const followLink = () => {
  const filter = linkedFilter();
  if (filter) return followFilter(filter);
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
byId("count").hidden = false;
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("controls").addEventListener("change", selectByHand);
let timer = 0;
byId("search").addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(selectByHand, 80);
});
byId("reverse").addEventListener("click", () => {
  isReversed = !isReversed;
  byId("reverse").textContent = isReversed ? "↓" : "↑";
  selectByHand();
});
byId("back").addEventListener("click", () => turnPage(-1));
byId("next").addEventListener("click", () => turnPage(1));
byId("list").addEventListener("click", (event) => {
  if (!linked && event.target.closest("a.id")) left = { hash: location.hash, y: scrollY };
});
for (const link of document.querySelectorAll('.ladder a[href^="#"]')) {
  link.addEventListener("click", () => link.hash === location.hash && followLink());
}
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
