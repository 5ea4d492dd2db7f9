// A notebook that was saved stays in this browser, and hides what the site has since.
// So compare the two: if the site's is newer, say so, and offer it beside the learner's.
const folder = new URL(".", import.meta.url);
const path = new URLSearchParams(location.search).get("path") ?? "";
const origin = path.replace(/ \([0-9a-f]+\)\.ipynb$/, ".ipynb");
const version = (notebook) => notebook?.metadata?.minigrad?.version;
const settled = (request) =>
  new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

async function files(mode) {
  const name = `JupyterLite Storage - ${folder.pathname}`;
  const known = await indexedDB.databases();
  if (!known.some((database) => database.name === name)) return null;
  const database = await settled(indexedDB.open(name));
  if (!database.objectStoreNames.contains("files")) return null;
  return database.transaction("files", mode).objectStore("files");
}

async function look() {
  const saved = (await files("readonly"))?.get(path);
  const mine = saved && (await settled(saved));
  if (!mine) return;
  const answer = await fetch(new URL(`files/${origin}`, folder), { cache: "no-store" });
  const newer = answer.ok && (await answer.json());
  if (!version(newer) || version(newer) === version(mine.content)) return;
  const name = `${origin.slice(0, -".ipynb".length)} (${version(newer)}).ipynb`;
  if (name !== path) offer(mine, newer, name);
}

function offer(mine, newer, name) {
  const bar = document.createElement("div");
  bar.setAttribute("role", "status");
  bar.style = `position: fixed; inset: auto 0 0 0; z-index: 10000; padding: 0.7em 1em;
    background: #fff3cd; color: #222; font: 15px/1.4 sans-serif`;
  bar.textContent = "The site has a newer version of this notebook. Yours stays as it is. ";
  const [open, later] = ["Open the newer one beside it", "Not now"].map((text) => {
    const button = document.createElement("button");
    button.textContent = text;
    button.style = "font: inherit; margin: 0.1em 0.3em; padding: 0.2em 0.7em";
    bar.append(button);
    return button;
  });
  later.onclick = () => bar.remove();
  open.onclick = async () => {
    const model = { ...mine, content: newer, path: name, name: name.split("/").pop() };
    const store = await files("readwrite");
    if (!(await settled(store.get(name)))) await settled(store.put(model, name));
    location.search = new URLSearchParams({ path: name });
  };
  document.body.append(bar);
}

look();
