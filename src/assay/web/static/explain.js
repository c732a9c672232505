// The explain page works without this; with it, words and patches light up in all heat maps at once and can be clicked there.
"use strict";

const answer = document.getElementById("result");

function inside(place, word) {
  const [segment, span] = place.split(":");
  const [other, range] = word.split(":");
  const [start, end] = span.split("-").map(Number);
  const [from, to] = range.split("-").map(Number);
  return segment === other && start < to && from < end;
}

function light(place) {
  for (const unit of answer.querySelectorAll("[data-place]")) {
    unit.classList.toggle("lit", place !== null && unit.dataset.place === place);
  }
}

if (answer) {
  answer.addEventListener("pointerover", (event) => {
    const unit = event.target.closest("[data-place]");
    light(unit ? unit.dataset.place : null);
  });
  answer.addEventListener("click", (event) => {
    const unit = event.target.closest("[data-place]");
    if (!unit || getSelection().toString()) return;
    const step = unit.closest(".step");
    const heading = step && step.querySelector("h3");
    if (heading && heading.textContent === "before") return; // these places are those of the text before
    const word = [...answer.querySelectorAll("button.word")].find((b) => inside(unit.dataset.place, b.value));
    if (word) word.click();
  });
}

// One stop of the Tab key for all patches; arrow keys go on from there.
const grid = [...document.querySelectorAll(".patches tr")].map((row) => [...row.cells].map((cell) => cell.querySelector("button")));
const patches = grid.flat().filter(Boolean);
patches.slice(1).forEach((patch) => (patch.tabIndex = -1));
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
for (const patch of patches) {
  patch.addEventListener("focus", () => patches.forEach((other) => (other.tabIndex = other === patch ? 0 : -1)));
  patch.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    let row = grid.findIndex((cells) => cells.includes(patch));
    let column = grid[row].indexOf(patch);
    do { // patches that are out have no button
      row += step[0];
      column += step[1];
    } while (grid[row]?.[column] === null);
    grid[row]?.[column]?.focus();
  });
}

const copy = document.getElementById("copy");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById("permanent").href);
    copy.textContent = "Copied";
  });
}

for (const choice of document.querySelectorAll("[data-reload]")) {
  choice.addEventListener("change", () => location.assign(`/explain?model=${encodeURIComponent(choice.value)}`));
}

const ask = document.getElementById("ask");
if (ask) {
  ask.addEventListener("submit", () => ask.classList.add("busy"));
  addEventListener("pageshow", () => ask.classList.remove("busy"));
}
