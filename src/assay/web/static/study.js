// A ranking: says at once what is missing, and lets number keys rank the explanation that has the focus.
"use strict";
const form = document.getElementById("task");
const hint = document.getElementById("hint");
const groups = [...form.querySelectorAll("fieldset[data-place]")];

function ranks() {
  return groups.map((group) => Number(group.querySelector("input:checked")?.value ?? 0));
}

function state() {
  const given = ranks();
  const open = given.filter((rank) => rank === 0).length;
  if (open) return [`${open} of ${given.length} still need a rank. 1 is the best; equal ranks are allowed.`, false];
  const meant = given.map((own) => 1 + given.filter((other) => other < own).length);
  if (given.every((rank, place) => rank === meant[place])) return ["All ranks are valid.", false];
  return [`${given.join(", ")} is not possible: after equal ranks the next one is skipped. Did you mean ${meant.join(", ")}?`, true];
}

if (groups.length) {
  form.addEventListener("change", () => {
    const [words, wrong] = state();
    hint.textContent = words;
    hint.classList.toggle("wrong", wrong);
  });
  form.addEventListener("keydown", (event) => {
    const group = event.target.closest("fieldset[data-place]");
    const wanted = group?.querySelector(`input[value="${CSS.escape(event.key)}"]`);
    if (!wanted || event.ctrlKey || event.metaKey || event.altKey) return;
    wanted.checked = true;
    wanted.dispatchEvent(new Event("change", { bubbles: true }));
    const next = groups[groups.indexOf(group) + 1];
    (next?.querySelector("input:checked, input") ?? wanted).focus();
    event.preventDefault();
  });
}
