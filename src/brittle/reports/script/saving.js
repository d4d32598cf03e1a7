// The shown rows for other programs: copied, or saved as a file that the page makes itself.
const applied = (entry, field) => {
  const text = entry.texts[field];
  let position = 0;
  let result = "";
  for (const [of, start, stop, added] of entry.edits) {
    if (of !== field) continue;
    result += text.slice(position, start) + added;
    position = stop;
  }
  return result + text.slice(position);
};

// The names are those of `brittle export`; several fields are joined by line breaks.
const record = (entry) => {
  const figures = {
    case: entry.id,
    status: entry.status,
    reason: entry.reason || "",
    label: entry.label,
    predicted: entry.predicted,
    confidence: entry.before,
    adversarial_label: entry.adversarial,
    adversarial_confidence: entry.after,
    queries: entry.queries,
  };
  if (data.levels) figures.level = data.levels.names[entry.level] || null;
  if (data.cost) figures.cost = entry.cost;
  if (entry.picture) return { ...figures, l2: entry.picture.distance, linf: entry.picture.largest };
  const own = entry.texts.length - (entry.hasAnswer ? 1 : 0);
  const fields = [...entry.texts.keys()].slice(0, own);
  const isEdited = entry.edits.some((edit) => edit[0] < own);
  const originals = fields.map((field) => entry.texts[field]).join("\n");
  const rest = {
    words: entry.size,
    words_changed: entry.words,
    original: originals,
    adversarial: isEdited ? fields.map((field) => applied(entry, field)).join("\n") : null,
  };
  const answers = entry.hasAnswer ? { answer: entry.texts[own], adversarial_answer: applied(entry, own) } : {};
  return { ...figures, ...rest, ...answers };
};

// A spreadsheet would run a cell that begins like a formula; an apostrophe makes it a text.
const cell = (value, separator) => {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const asTable = (entries, separator) => {
  const records = entries.map(record);
  const names = [...new Set(records.flatMap((one) => Object.keys(one)))];
  const lines = records.map((one) => names.map((name) => cell(one[name], separator)).join(separator));
  return [names.join(separator), ...lines].join("\r\n") + "\r\n";
};
const asJson = (entries) => `${JSON.stringify(entries.map(record), null, 1)}\n`;

const fileName = (ending) => {
  const name = document.querySelector("h1").textContent.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80);
  return `${name || "run"}-cases.${ending}`;
};
const save = (text, type, ending) => {
  const link = document.createElement("a");
  // A byte order mark tells a spreadsheet that a table is UTF-8.
  const parts = ending === "csv" ? ["\ufeff", text] : [text];
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = fileName(ending);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

const copyByHand = (text) => {
  const area = element("textarea", "");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text); // no clipboard for pages from disk, or it was refused
  }
};
const sayBriefly = (button, words) => {
  button.dataset.name ||= button.textContent;
  button.textContent = words;
  setTimeout(() => {
    button.textContent = button.dataset.name;
  }, 1800);
};
