// A worker with Python for the kernel, and Graphviz for Python: both are there before the
// first cell. newer.js starts it with the page, and later sends it the kernel's program.
// What is on its way, and what does not come, newer.js says on the page.
const say = (message) => new BroadcastChannel("python").postMessage(message);

// An archive that is large, and what a cell says that needs it
const WHEN_ASKED = {
  matplotlib: /plot|matplotlib|axes\(/,
  "scikit-learn": /sklearn|digits/,
};

async function withSay(what, work) {
  say({ loading: what });
  const late = setTimeout(() => say({ missing: `${what} after a minute` }), 60_000);
  try {
    return await work();
  } catch (reason) {
    say({ missing: reason.message });
    throw reason;
  } finally {
    clearTimeout(late);
    say({ loaded: what });
  }
}

// Return the bytes of an archive, which is a tar file in gzip.
async function download(name) {
  try {
    const answer = await fetch(`${name}.packed`);
    if (!answer.ok) throw new Error(answer.status);
    const plain = answer.body.pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  } catch (reason) {
    throw new Error(`${name}: ${reason.message}`);
  }
}

// Write the files of an archive without copying them; return their paths.
function write(FS, archive) {
  const decoder = new TextDecoder();
  const text = (begin, length) =>
    decoder.decode(archive.subarray(begin, begin + length)).replace(/\0.*/s, "");
  const paths = [];
  for (let at = 0; archive[at]; ) {
    const path = `/${text(at + 345, 155)}/${text(at, 100)}`;
    const begin = at + 512;
    const end = begin + parseInt(text(at + 124, 12), 8);
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, archive.subarray(begin, end), { canOwn: true });
    paths.push(path);
    at = 512 * Math.ceil(end / 512);
  }
  return paths;
}

importScripts("runtime.js");
const load = self.loadPyodide;
const python = withSay("Python", async () => {
  const archive = download("python");
  const [pyodide, { Graphviz }] = await Promise.all([
    load({
      indexURL: new URL(".", location).href,
      stdLibURL: "data:,",  // the archive has these files
      fsInit: async (FS) => write(FS, await archive),
    }),
    import("./graphviz.mjs"),
    archive,
  ]);
  const graphviz = await Graphviz.load();
  pyodide.registerJsModule("graphviz_in_tab", { svg: (dot) => graphviz.dot(dot) });
  const come = new Set();
  pyodide.loadPackagesFromImports = async (code) => {
    for (const [name, sign] of Object.entries(WHEN_ASKED))
      if (sign.test(code) && !come.has(name))
        await withSay(name, async () => {
          const paths = write(pyodide.FS, await download(name));
          for (const path of paths.filter((each) => each.includes("/usr/lib/")))
            await pyodide._api.loadDynlib(path);
          pyodide.runPython("import importlib; importlib.invalidate_caches()");
          come.add(name);
        });
  };
  pyodide.runPython("import in_tab");
  return pyodide;
});
self.loadPyodide = () => python;
addEventListener("message", ({ data }) => importScripts(data), { once: true });
