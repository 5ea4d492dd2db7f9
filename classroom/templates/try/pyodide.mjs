// Python for the kernel, and Graphviz for Python: both are there before the first cell.
import { loadPyodide as load } from "./runtime.mjs";
import { Graphviz } from "./graphviz.mjs";

export async function loadPyodide(options) {
  const [pyodide, graphviz] = await Promise.all([load(options), Graphviz.load()]);
  pyodide.registerJsModule("graphviz_in_tab", { svg: (dot) => graphviz.dot(dot) });
  return pyodide;
}
