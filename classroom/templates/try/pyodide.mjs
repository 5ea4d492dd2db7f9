// Python for the kernel, and Graphviz for Python: both are there before the first cell.
// If they do not come, cells would wait for ever without a word: newer.js says it.
export async function loadPyodide(options) {
  const say = (why) => new BroadcastChannel("no python").postMessage(why);
  const late = setTimeout(say, 60_000, "after a minute");
  try {
    const [{ loadPyodide: load }, { Graphviz }] = await Promise.all([
      import("./runtime.mjs"),
      import("./graphviz.mjs"),
    ]);
    const [pyodide, graphviz] = await Promise.all([load(options), Graphviz.load()]);
    const missing = options.packages.filter((name) => !pyodide.loadedPackages[name]);
    if (missing.length) throw new Error(missing.join(", "));
    pyodide.registerJsModule("graphviz_in_tab", { svg: (dot) => graphviz.dot(dot) });
    return pyodide;
  } catch (reason) {
    say(reason.message);
    throw reason;
  } finally {
    clearTimeout(late);
  }
}
