"use strict";
const form = document.getElementById("ask");
const waiting = document.getElementById("waiting");

if (form) {
  const text = document.getElementById("text");
  const file = document.getElementById("file");
  const short = document.getElementById("short");
  const look = () => {
    const words = text.value.trim().split(/\s+/).filter(Boolean).length;
    short.hidden = file.files.length > 0 || words === 0 || words >= Number(text.dataset.least);
  };
  text.addEventListener("input", look);
  file.addEventListener("change", look);
  look();
  form.addEventListener("submit", () => {
    form.querySelector("button").disabled = true;
    document.getElementById("busy").hidden = false;
  });
  window.addEventListener("pageshow", () => {
    form.querySelector("button").disabled = false;
    document.getElementById("busy").hidden = true;
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    form.classList.remove("over");
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    file.files = event.dataTransfer.files;
    look();
    form.requestSubmit();
  });
}

if (waiting) {
  const ask = async () => {
    try {
      const answer = await fetch("/v1/checks/" + encodeURIComponent(waiting.dataset.check));
      const state = answer.ok ? (await answer.json()).status : "";
      if (state !== "waiting") {
        location.reload();
        return;
      }
    } catch {
      // The service may be restarted: it is asked again.
    }
    setTimeout(ask, 1000);
  };
  setTimeout(ask, 500);
}
