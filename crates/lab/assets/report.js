"use strict";
// Shows one name alone in all drawings, and everything again.
(() => {
  const bar = document.querySelector("nav");
  const buttons = [...bar.querySelectorAll("button")];
  if (buttons.length < 2) return;
  const style = document.head.appendChild(document.createElement("style"));
  bar.hidden = false;
  bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of buttons) other.setAttribute("aria-pressed", String(on && other === button));
    style.textContent = on ? `.drawing [class*=" c"]:not(.${button.dataset.ink}) { opacity: .1; }` : "";
  });
})();
