// A claim's first figure stands beside its numbers.
document.querySelectorAll("article").forEach(claim => {
  const link = claim.querySelector("a[data-figure]");
  const picture = link && document.getElementById(link.dataset.figure).querySelector(".thumb");
  if (!picture) return;
  const copy = picture.cloneNode(true);
  copy.classList.add("beside");
  claim.querySelector("summary").after(copy);
});

const dialog = document.querySelector("dialog");
if (!isAlone) document.querySelectorAll("[data-figure]").forEach(link => link.addEventListener("click", event => {
  const figure = document.getElementById(link.dataset.figure), image = figure.querySelector("img");
  const large = dialog.querySelector("img");
  event.preventDefault();
  large.src = image.src;
  large.alt = image.alt;
  const words = figure.querySelector("figcaption").cloneNode(true);
  words.querySelector(".dim").remove();
  dialog.querySelector("p").textContent = words.textContent;
  dialog.showModal();
}));
dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });

const boxes = [...document.querySelectorAll("input[name=verdict]")];
boxes.forEach(box => box.addEventListener("change", () => {
  const wanted = new Set(boxes.filter(other => other.checked).map(other => other.value));
  document.querySelectorAll("[data-verdict]").forEach(part =>
    part.classList.toggle("hidden", !wanted.has(part.dataset.verdict)));
}));

// A link to a claim opens it.
const unfold = () => {
  const claim = document.getElementById(location.hash.slice(1));
  claim?.querySelector("details.evidence")?.setAttribute("open", "");
};
addEventListener("hashchange", unfold);
unfold();
