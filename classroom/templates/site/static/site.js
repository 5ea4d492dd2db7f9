// What scrolls sideways can be reached by the keyboard, too.
function reach() {
  for (const box of document.querySelectorAll("pre, .film, .cell_output, .table-wrapper, div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", () => {
  reach();
  window.MathJax?.startup?.promise?.then(reach);
});
addEventListener("resize", reach);
