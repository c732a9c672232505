// Progress of a task, as the server reports it; the page itself knows where to go when it has ended.
"use strict";

const box = document.getElementById("task");
const state = document.getElementById("state");
const bar = document.getElementById("bar");
const details = document.getElementById("details");
const model = details.textContent;
const events = new EventSource(box.dataset.events);

events.onmessage = (event) => {
  const now = JSON.parse(event.data);
  const before = now.waiting > 1 ? `${now.waiting - 1} waiting before this` : now.waiting ? "Waiting for the model" : "";
  state.textContent = now.cancelled ? "Cancelling" : before || (now.method ? `${now.method}: ${box.dataset.unit} ${now.done + 1} of ${now.total}` : "Starting");
  bar.max = now.total;
  bar.value = now.done;
  details.textContent = now.passes ? `${model}: ${now.passes.toLocaleString("en")} passes so far` : model;
};
events.addEventListener("ended", () => {
  events.close();
  location.reload();
});
