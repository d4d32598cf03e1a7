// Shows the value of a mark at once, beside the pointer; a finger shows it by a tap. Without this
// script the browser shows the same words by itself, after a while.
const tip = element("div", "tip");
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);

for (const title of document.querySelectorAll("svg title")) {
  title.parentNode.dataset.value = title.textContent;
  title.remove();
}
for (const cell of document.querySelectorAll(".confusion td[title]")) {
  cell.dataset.value = cell.title;
  cell.setAttribute("aria-description", cell.title);
  cell.removeAttribute("title");
}

const hideTip = () => {
  tip.hidden = true;
};
const showTip = (event) => {
  const mark = event.target instanceof Element ? event.target.closest("[data-value]") : null;
  if (!mark) return hideTip();
  tip.textContent = mark.dataset.value;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const isBelow = event.clientY + 18 + box.height < innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${isBelow ? event.clientY + 18 : event.clientY - box.height - 10}px`;
};
document.addEventListener("pointermove", showTip);
document.addEventListener("pointerdown", showTip);
document.documentElement.addEventListener("pointerleave", (event) => {
  if (event.pointerType === "mouse") hideTip();
});
document.addEventListener("scroll", hideTip, { passive: true });
