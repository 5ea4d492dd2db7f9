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

function say(text, buttons) {
  const bar = document.createElement("div");
  bar.setAttribute("role", "status");
  bar.style = `position: fixed; inset: auto 0 0 0; z-index: 10000; padding: 0.7em 1em;
    background: #fff3cd; color: #222; font: 15px/1.4 sans-serif`;
  bar.textContent = text;
  for (const [words, act] of Object.entries({ ...buttons, "Not now": () => {} })) {
    const button = document.createElement("button");
    button.textContent = words;
    button.style = "font: inherit; margin: 0.1em 0.3em; padding: 0.2em 0.7em";
    button.onclick = () => bar.remove(act());
    bar.append(button);
  }
  document.body.append(bar);
}

function offer(mine, newer, name) {
  async function open_it() {
    const other = open("", "_blank");  // a page of its own: here may be unsaved work
    const model = { ...mine, content: newer, path: name, name: name.split("/").pop() };
    const store = await files("readwrite");
    if (!(await settled(store.get(name)))) await settled(store.put(model, name));
    (other ?? window).location = `?${new URLSearchParams({ path: name })}`;
  }
  say("The site has a newer version of this notebook. Yours stays as it is. ", {
    "Open the newer one beside it": open_it,
  });
}

// Python starts with the page, and not with the kernel, which the page asks for later.
// A kernel that is restarted gets another worker.
const Plain = Worker;
const program = new URL("static/pyodide/python.js", folder);
let begun = path && new Plain(program);
window.Worker = function (url, options) {
  if (!`${url}`.includes("pyodide-kernel")) return new Plain(url, options);
  const worker = begun || new Plain(program);
  begun = null;
  worker.postMessage(`${url}`);
  return worker;
};

const loading = document.createElement("div");
loading.setAttribute("role", "status");
loading.style = `position: fixed; inset: 0 0 auto 0; z-index: 9500; padding: 0.2em 1em;
  background: #0072b2; color: #fff; font: 14px/1.5 sans-serif`;
// Without a graphics card the processor draws what moves, and has less time for Python
const still = document.createElement("style");
still.textContent = ".jp-KernelStatus-spinner { display: none }";
document.head.append(still);

new BroadcastChannel("python").onmessage = ({ data }) => {
  if (data.loading) {
    loading.textContent = `${data.loading} is loading, which takes some seconds.`;
    document.body.append(loading);
  }
  if (data.loaded) loading.remove();
  if (data.missing)
    say(`Some of the files of Python have not arrived here (${data.missing}). What you wrote is kept. `, {
      "Load this page again": () => location.reload(),
    });
};
look();

const back = document.createElement("a");
back.href = new URL("../index.html", folder);
back.textContent = "\u2190 the course";
back.title = "Back to the course's first page; what you wrote here is kept";
back.style = `position: fixed; right: 1em; bottom: 0.6em; z-index: 9000; color: #0072b2;
  background: #fffc; padding: 0.2em 0.6em; border-radius: 0.3em; font: 14px sans-serif`;
document.body.append(back);
