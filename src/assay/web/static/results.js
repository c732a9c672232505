// States of running plans, as the server reports them; a page of one run reloads when it has ended.
"use strict";

for (const place of document.querySelectorAll("[data-events]")) {
  const events = new EventSource(place.dataset.events);
  events.onmessage = (event) => {
    const now = JSON.parse(event.data);
    const state = place.querySelector(".state");
    state.textContent = now.word;
    state.className = `state ${now.word}`;
    place.querySelector(".jobs").textContent = `${now.done} of ${now.total}`;
    const bar = place.querySelector("progress");
    if (bar) bar.value = now.done;
  };
  events.addEventListener("ended", () => {
    events.close();
    if (place.tagName !== "TR") location.reload();
  });
}
