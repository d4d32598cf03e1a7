// The questions of an item, as far as it was opened; those of earlier stages are fixed.
let active = null; // the question that keys answer

const buttonOf = (item, question, [value, caption, shortcut]) => {
  const mark = element("kbd", "", question.isScale ? String(value) : shortcut);
  const button = element("button", "", mark, isolated(caption));
  button.type = "button";
  button.setAttribute("aria-pressed", String(given(item)[question.key] === value));
  button.addEventListener("click", () => answer(item, question, value));
  return button;
};
const fieldsetOf = (item, question) => {
  const buttons = question.answers.map((row) => buttonOf(item, question, row));
  const legend = element("legend", "", question.words);
  const name = question.isScale ? "answers scale" : "answers";
  const box = element("fieldset", question === active ? "is-active" : "", legend, element("div", name, ...buttons));
  return box;
};
const fixedLine = (item, question) => {
  const [, caption] = question.answers.find(([value]) => value === given(item)[question.key]);
  return element("p", "fixed", `${question.words} `, element("b", "", isolated(caption)));
};
const showQuestions = (item, stage) => {
  const open = stages[stage];
  const next = open.find((question) => !(question.key in given(item)));
  if (!open.includes(active) || active.key in given(item)) active = next ?? open.at(-1);
  const fixed = stages.slice(0, stage).flat();
  byId("questions").replaceChildren(
    ...open.map((question) => fieldsetOf(item, question)),
    ...fixed.map((question) => fixedLine(item, question)),
  );
};
