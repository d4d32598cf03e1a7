"use strict";
// Tells the values of one cell of the map. They are read from the tables below it, as text only.
(() => {
  const byId = (id) => document.getElementById(id);
  const box = byId("cell");
  const rowsOf = (id) => [...byId(id).tBodies[0].rows];
  const all = rowsOf("all-values");
  const right = rowsOf("right-values");
  const names = [...byId("all-values").tHead.rows[0].cells].slice(2).map((cell) => cell.textContent);
  const maps = [...document.querySelectorAll("table.map")].map((table) => ({
    table,
    cells: [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]),
    heads: [...table.tHead.rows[1].cells].slice(1),
    rows: table.dataset.rows.split(" ").map(Number),
    columns: table.dataset.columns.split(" ").map(Number),
  }));
  let marked = [];

  const line = (name, ...children) => {
    const node = document.createElement("p");
    node.className = name;
    node.append(...children);
    return node;
  };
  const bold = (text, name) => {
    const node = document.createElement("b");
    if (name) node.className = name;
    node.append(text);
    return node;
  };

  const describe = (source, target) => {
    const row = all[source];
    const rate = row.cells[target + 2].textContent;
    const cell = right[source].cells[target + 2];
    const who = line("", bold(row.cells[0].textContent), " → ", bold(names[target]));
    if (rate === "–") return [who, line("soft", "Empty: nothing to measure.")];
    const base = cell.className === "base" ? [line("soft", "Base rate: the target is trained with another seed.")] : [];
    const ofRight = cell.textContent === "–" ? "It had none of them right." : `${cell.textContent}% of the ${cell.dataset.n} it had right`;
    return [who, line("", bold(`${rate}%`, "big"), ` of ${row.cells[1].textContent} texts`), line("soft", ofRight), ...base];
  };

  const place = (cell) => {
    const at = cell.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const fitsRight = at.right + 12 + size.width < innerWidth;
    const fitsBelow = at.bottom + 12 + size.height < innerHeight;
    box.style.left = `${Math.max(8, fitsRight ? at.right + 12 : at.left - size.width - 12)}px`;
    box.style.top = `${Math.max(8, fitsBelow ? at.bottom + 12 : at.top - size.height - 12)}px`;
  };

  const clear = () => {
    for (const node of marked) node.classList.remove("on");
    marked = [];
    box.hidden = true;
  };
  const show = (map, row, column) => {
    clear();
    const cell = map.cells[row][column];
    marked = [cell, map.heads[column], cell.parentElement.querySelector("th:not(.group)")];
    for (const node of marked) node.classList.add("on");
    box.replaceChildren(...describe(map.rows[row], map.columns[column]));
    box.hidden = false;
    place(cell);
  };

  for (const map of maps) {
    let at = [0, 0];
    const point = (event) => {
      const cell = event.target.closest("td");
      const row = map.cells.findIndex((cells) => cells.includes(cell));
      if (row < 0) return clear();
      at = [row, map.cells[row].indexOf(cell)];
      show(map, ...at);
    };
    map.table.addEventListener("pointerover", point);
    map.table.addEventListener("click", point);
    map.table.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && clear());
    map.table.addEventListener("focus", () => map.table.matches(":focus-visible") && show(map, ...at));
    map.table.addEventListener("blur", clear);
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    map.table.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      const sizes = [map.cells.length, map.columns.length];
      at = at.map((n, axis) => Math.min(sizes[axis] - 1, Math.max(0, n + step[axis])));
      map.cells[at[0]][at[1]].scrollIntoView({ block: "nearest", inline: "nearest" });
      show(map, ...at);
    });
  }
})();
