// Elements and words of the page. Data reaches it as text nodes only, never as markup.
const byId = (id) => document.getElementById(id);
const element = (tag, name, ...children) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
};
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
// What a reader does not see as such in an edit, by number: invisible characters, and letters of
// another script in what was a Latin word.
const HIDDEN = /\p{Default_Ignorable_Code_Point}/gu;
const FOREIGN = /(?!\p{Script=Latin})\p{L}/gu;
const byNumber = (char) => `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
const revealed = (added, removed) => {
  const isLatin = /\p{Script=Latin}/u.test(removed) && removed.search(FOREIGN) < 0;
  const shown = added.replace(HIDDEN, byNumber);
  return isLatin ? shown.replace(FOREIGN, byNumber) : shown;
};
const isolated = (text) => element("bdi", "", visible(text));
