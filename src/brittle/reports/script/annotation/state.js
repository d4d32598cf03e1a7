// What was answered, kept in this browser: answers by item and question, and how far each item was
// opened, since what was answered before more was shown stays as it is.
const data = JSON.parse(byId("rows").textContent);
const store = `brittle ${data.sample} ${data.person}`;
const items = data.items.map(([id, panels]) => ({ id, panels }));
const byKey = new Map(data.questions.map((question) => [question.key, question]));

// A stage is a run of questions that show the same panels.
const stages = [];
for (const question of data.questions) {
  const last = stages.at(-1);
  if (last && String(last[0].shows) === String(question.shows)) last.push(question);
  else stages.push([question]);
}

const state = { answers: {}, opened: {}, at: 0 };
let isKept = true;
try {
  const kept = JSON.parse(localStorage.getItem(store) ?? "null");
  if (kept && typeof kept.answers === "object") Object.assign(state, kept);
} catch {
  isKept = false; // storage is off, or what is there is not ours
}
const keep = () => {
  try {
    localStorage.setItem(store, JSON.stringify(state));
    isKept = true;
  } catch {
    isKept = false;
  }
  byId("unkept").hidden = isKept;
};

const given = (item) => state.answers[item.id] ?? {};
const stageOf = (item) => Math.min(state.opened[item.id] ?? 0, stages.length - 1);
const isAnswered = (item, questions) => questions.every((question) => question.key in given(item));
const isDone = (item) => isAnswered(item, data.questions);
const doneCount = () => items.filter(isDone).length;

const exported = () => {
  const answers = {};
  for (const item of items) {
    const own = {};
    for (const question of data.questions) {
      if (question.key in given(item)) own[question.key] = given(item)[question.key];
    }
    if (Object.keys(own).length) answers[item.id] = own;
  }
  const { format, layout, sample, preset, person } = data;
  return `${JSON.stringify({ format, layout, sample, preset, person, answers }, null, 1)}\n`;
};
