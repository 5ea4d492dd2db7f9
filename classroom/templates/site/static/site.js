// What scrolls sideways can be reached by the keyboard, too.
function reach() {
  for (const box of document.querySelectorAll("pre, .film, .cell_output, article div[style], .table-wrapper, div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", () => {
  reach();
  window.MathJax?.startup?.promise?.then(reach);
});
addEventListener("resize", reach);
addEventListener("toggle", reach, true);  // what was folded had no width

// The first drawing moves by itself, once, until somebody takes it in hand.
addEventListener("load", () => {
  const first = document.querySelector("#move-the-slider .film input");
  if (!first || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const clock = setInterval(() => {
    if (first.value === first.max || first.matches(":active, :focus")) return clearInterval(clock);
    first.stepUp();
    first.oninput();
  }, 800);
});

// From a disk a search may not read the pages for excerpts; it finds them all the same.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
