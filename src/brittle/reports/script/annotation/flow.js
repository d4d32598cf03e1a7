// From item to item: answer, open more, go on, go back, save.
const show = (name) => {
  for (const id of ["intro", "task", "end"]) byId(id).hidden = id !== name;
  byId("steps").hidden = name === "intro";
  byId("next").hidden = name === "end";
  byId("finish").hidden = name === "end";
  byId("back").disabled = false;
  document.body.classList.toggle("is-reading", name === "task");
};
const current = () => items[state.at];

const draw = () => {
  const item = current();
  const stage = stageOf(item);
  showPanels(item, stage);
  showQuestions(item, stage);
  byId("bar").max = items.length;
  byId("bar").value = doneCount();
  byId("place").textContent = `${state.at + 1} of ${items.length}`;
  byId("back").disabled = state.at === 0;
  byId("next").disabled = !isAnswered(item, stages[stage]);
};
const answer = (item, question, value) => {
  state.answers[item.id] = { ...given(item), [question.key]: value };
  keep();
  draw();
  byId("questions").querySelector('.is-active [aria-pressed="true"]')?.focus({ preventScroll: true });
};
const go = (number) => {
  state.at = number;
  active = null;
  keep();
  show("task");
  draw();
  scrollTo(0, 0);
};
const finish = () => {
  const [done, all] = [doneCount(), items.length];
  byId("summary").textContent = done === all ? "All answered. Thank you!" : `${count(done)} of ${count(all)} answered`;
  byId("told").textContent = done === all ? "" : "You can continue later. The page opens where you stopped.";
  show("end");
  scrollTo(0, 0);
};
const goOn = () => {
  const item = current();
  const stage = stageOf(item);
  if (!isAnswered(item, stages[stage])) return;
  if (stage + 1 < stages.length) {
    state.opened[item.id] = stage + 1;
    active = null;
    keep();
    draw();
    scrollTo(0, 0);
    return;
  }
  if (state.at + 1 < items.length) return go(state.at + 1);
  const open = items.findIndex((one) => !isDone(one));
  if (open < 0) finish();
  else go(open);
};
const goBack = () => {
  if (!byId("end").hidden) return go(state.at);
  if (state.at > 0) go(state.at - 1);
};

const save = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
  link.download = `answers-${data.sample}-person-${data.person}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  byId("told").textContent = `Saved as ${link.download}.`;
};
const copy = async () => {
  try {
    await navigator.clipboard.writeText(exported());
    byId("told").textContent = "Copied. Paste it into a message or a file.";
  } catch {
    const area = element("textarea", "");
    area.value = exported();
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy"); // no clipboard for pages from disk
    area.remove();
    byId("told").textContent = isCopied ? "Copied. Paste it into a message or a file." : "This browser cannot copy. Save the file.";
  }
};

const press = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("task").hidden) return;
  // Enter on another button presses that one; on what is chosen already it goes on.
  const isOther = event.target instanceof HTMLButtonElement && event.target.ariaPressed !== "true";
  if (event.key === "ArrowRight" || (event.key === "Enter" && !isOther)) {
    event.preventDefault();
    return goOn();
  }
  if (event.key === "ArrowLeft") return goBack();
  const row = active?.answers.find(([, , shortcut]) => shortcut === event.key.toLowerCase());
  if (!row) return;
  event.preventDefault();
  answer(current(), active, row[0]);
};

byId("start").addEventListener("click", () => go(Math.min(state.at, items.length - 1)));
byId("next").addEventListener("click", goOn);
byId("back").addEventListener("click", goBack);
byId("finish").addEventListener("click", finish);
byId("save").addEventListener("click", save);
byId("copy").addEventListener("click", copy);
document.addEventListener("keydown", press);

byId("start").textContent = Object.keys(state.answers).length ? "Continue" : "Start";
keep();
show("intro");
if (doneCount() === items.length) finish();
