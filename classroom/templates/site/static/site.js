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

// Which lessons were read to their end, this browser keeps: they have a check mark in the
// list and another color on the map, and the first page says how to go on.
addEventListener("load", () => {
  const name = (link) => `${link.href?.baseVal ?? link.href}`.match(/notebooks\/\w+\.html/)?.[0];
  let read = new Set();
  try {
    read = new Set(JSON.parse(localStorage.getItem("minigrad-read") ?? "[]"));
  } catch {}  // of a file on a disk, or of a browser that keeps nothing
  const lessons = [...document.querySelectorAll(".sidebar-tree a.reference")].filter(name);
  function mark() {
    for (const link of [...lessons, ...document.querySelectorAll(".map a")])
      link.classList.toggle("read", read.has(name(link)));
  }
  mark();
  const told = document.querySelector("#go-on"), last = lessons.findLastIndex((link) => read.has(name(link)));
  const next = [...lessons.slice(last + 1), ...lessons].find((link) => !read.has(name(link)));
  if (told && last >= 0) {
    told.textContent = `You have read ${lessons.filter((link) => read.has(name(link))).length} of ${lessons.length} lessons. `;
    if (next) told.append("Continue with ", Object.assign(document.createElement("a"), { href: next.href, textContent: next.textContent }), ".");
    told.hidden = false;
  }
  const end = document.querySelector(".related-pages"), here = name(location);
  if (!end || !here) return;
  new IntersectionObserver(([seen], watch) => {
    if (!seen.isIntersecting) return;
    watch.disconnect();
    read.add(here);
    mark();
    try {
      localStorage.setItem("minigrad-read", JSON.stringify([...read]));
    } catch {}
  }).observe(end);
});

// From a disk a search may not read the pages for excerpts; it finds them all the same.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
