"use strict";
// Links and pictures are files beside the page, which the Snakemake report (data: in a frame) has not.
const isAlone = !/^(file|https?):$/.test(location.protocol);
if (isAlone) {
  document.querySelectorAll(".thumb").forEach(picture => picture.remove());
  document.querySelectorAll("a.file").forEach(a => a.replaceWith(...a.childNodes));
}

const cellKey = (row, place) => {
  const cell = row.cells[place], value = cell.textContent;
  return !cell.classList.contains("n") ? value : value === "" ? NaN : Number(value);
};
const compareKeys = (a, b) => {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b));
  return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : a - b;
};
document.querySelectorAll(".sortable th button").forEach(button => button.addEventListener("click", () => {
  const heading = button.parentElement, body = heading.closest("table").tBodies[0];
  const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  heading.parentElement.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const place = heading.cellIndex, rows = [...body.rows];
  rows.sort((a, b) => sign * compareKeys(cellKey(a, place), cellKey(b, place)));
  body.append(...rows);
}));
