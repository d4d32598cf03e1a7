// The texts or pictures of an item. Every second part of a text is what the other one has not.
const textOf = ([name, parts], isMarked) => {
  const shown = parts.map((part, n) => {
    if (n % 2 === 0 || !isMarked) return visible(part);
    return part ? element("mark", "", visible(part)) : "";
  });
  const text = element("p", "text", ...shown);
  text.dir = "auto";
  return name ? [element("p", "field", isolated(name)), text] : [text];
};
const contentOf = (panel, isMarked) => {
  if (typeof panel !== "string") return panel.flatMap((field) => textOf(field, isMarked));
  const image = document.createElement("img");
  image.src = `data:image/png;base64,${panel}`;
  image.alt = "A picture";
  return [image];
};
const panelOf = (item, number, isMarked, hasCaption) => {
  const card = element("div", "card", hasCaption ? element("h3", "", data.captions[number]) : "");
  card.append(...contentOf(item.panels[number], isMarked));
  return card;
};
const showPanels = (item, stage) => {
  const [{ shows, marks }] = stages[stage];
  const cards = shows.map((number) => panelOf(item, number, marks, shows.length > 1));
  byId("panels").replaceChildren(...cards);
  byId("panels").classList.toggle("pictures", typeof item.panels[0] === "string");
};
