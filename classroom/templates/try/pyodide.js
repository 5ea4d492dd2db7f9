// Python for the kernel, and Graphviz for Python: both are there before the first cell.
// What is on its way, and what does not come, newer.js says on the page.
const say = (message) => new BroadcastChannel("python").postMessage(message);

// A package that is large, and what a cell says that needs it
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

self.loadPyodide = (options) =>
  withSay("Python", async () => {
    const here = (name) => new URL(name, options.indexURL).href;
    importScripts(here("runtime.js"));
    const packages = options.packages.filter((name) => name !== "ssl");  // not needed
    const [pyodide, { Graphviz }] = await Promise.all([
      self.loadPyodide({ ...options, packages }),
      import(here("graphviz.mjs")),
    ]);
    const graphviz = await Graphviz.load();
    const missing = packages.filter((name) => !pyodide.loadedPackages[name]);
    if (missing.length) throw new Error(missing.join(", "));
    pyodide.registerJsModule("graphviz_in_tab", { svg: (dot) => graphviz.dot(dot) });
    pyodide.runPython(`
      import jedi, logging, os, sys, tqdm, types, one_thread
      sys.setrecursionlimit(1000)  # as elsewhere; jedi has raised it
      # What IPython has for a terminal takes a second to load, and is not used
      sys.modules["IPython.terminal.embed"] = types.SimpleNamespace(embed=None)
      tqdm.tqdm.monitor_interval = 0  # a thread of its own
      logging.getLogger("matplotlib.font_manager").setLevel("ERROR")
      os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    `);
    pyodide.loadPackagesFromImports = async (code) => {
      for (const [name, sign] of Object.entries(WHEN_ASKED))
        if (sign.test(code) && !pyodide.loadedPackages[name])
          await withSay(name, () => pyodide.loadPackage([name]));
    };
    // Before the kernel has its folder, in which each import would look first, slowly;
    // but after the lines above, since the kernel takes their function when it is imported
    pyodide.runPython("import pyodide_kernel, minigrad.drawing");
    return pyodide;
  });
