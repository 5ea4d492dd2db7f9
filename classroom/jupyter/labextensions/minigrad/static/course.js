// What JupyterLab lacks for the course; it is loaded as it stands here, nothing is built.
// A lesson and its exercises have the same file name: custom.css tells their tabs apart.
// (A tab's label must stay: JupyterLab gives the file the name that a label is set to.)
// A click on a folded check runs it; JupyterLab would unfold it, and what it says would be
// far below. The three dots still unfold it.
// A link to a cell of a notebook that is not open yet: JupyterLab scrolls before there is
// anything to scroll, and so it is asked once more.
// A check judges what stands above it now: what was edited there since it ran, runs first.
// Run All ends at the last cell, also where an earlier one has stopped: that one is shown.
// A page that is open would show yesterday's progress: home is read again when one
// comes back to it.
const KINDS = { notebooks: "minigrad-lesson", exercises: "minigrad-exercises" };
const HOME = "home.md";
const TITLE = "Click to run the check. The dots unfold it.";
const CHECK = "# Check of ";
let shared = {};  // JupyterLab's own modules

function tell(widget) {
  const kind = KINDS[widget.context?.path.split("/")[0]];
  if (kind && !widget.title.className.includes(kind)) widget.title.className += ` ${kind}`;
}

function foldedCheck(event) {
  const line = event.target.closest?.(".jp-InputPlaceholder");
  return line?.innerText.trim().startsWith(CHECK) ? line : null;
}

function goTo(shell, path, fragment, tries = 120) {
  const isThere = (widget) => widget.context?.path === path && widget.context.isReady;
  const widget = [...shell.widgets("main")].find(isThere);
  if (widget?.isVisible) setTimeout(() => widget.content.setFragment?.(fragment), 1000);
  else if (tries) setTimeout(goTo, 250, shell, path, fragment, tries - 1);
}

function runEdited(shell, { notebook, cell }) {
  const isCheck = ({ model }) => model.sharedModel.getSource().startsWith(CHECK);
  if (!isCheck(cell)) return;
  const { sessionContext } = [...shell.widgets("main")].find((w) => w.content === notebook);
  const above = notebook.widgets.slice(0, notebook.widgets.indexOf(cell));
  const edited = above.slice(above.findLastIndex(isCheck) + 1).filter((c) => c.model.isDirty);
  const goOn = { tags: ["raises-exception"] };  // the check says what it thinks of an error
  for (const each of edited)
    each.constructor.execute(each, sessionContext, goOn).catch(() => {});
}

function showStopped({ content }) {
  const isError = (output) => output.output_type === "error";
  const stopped = content.widgets.findIndex((c) => c.model.outputs?.toJSON().some(isError));
  if (stopped >= 0) content.scrollToItem((content.activeCellIndex = stopped), "center");
}

async function activate({ shell, commands, restored }) {
  const [, opened] = decodeURI(location.pathname).split("/lab/tree/");
  const { hash } = location;
  if (opened && hash) restored.then(() => goTo(shell, opened, hash));
  commands.commandExecuted.connect((_, { id, args, result }) => {
    const panel = /^notebook:.*run-all(-cells)?$/.test(id) && shell.currentWidget;
    if (panel) result.then(() => showStopped(panel));
    if (id === "rendermime:handle-local-link" && args.id) goTo(shell, args.path, args.id);
  });
  document.addEventListener("mouseover", (event) => {
    const words = foldedCheck(event)?.querySelector(".jp-Placeholder-content");
    if (words) words.title = TITLE;
  });
  document.addEventListener(
    "click",
    (event) => {  // the cell was selected when the button of the mouse went down
      if (!foldedCheck(event) || event.target.closest(".jp-MoreHorizIcon")) return;
      event.stopPropagation();
      if (event.target.closest(".jp-Placeholder-content")) commands.execute("notebook:run-cell");
    },
    true,
  );
  shell.currentChanged?.connect((_, { newValue }) => {
    for (const widget of shell.widgets("main")) tell(widget);
    const context = newValue?.context;
    if (context?.path === HOME && context.isReady && !context.model.dirty) context.revert();
  });
  const [{ get }] = Object.values(shared["@jupyterlab/notebook"]);
  const { NotebookActions } = (await get())();
  NotebookActions.executionScheduled.connect((_, about) => runEdited(shell, about));
}

const plugin = { id: "minigrad:course", autoStart: true, activate };
const modules = { "./course": () => ({ __esModule: true, default: plugin }) };
(window._JUPYTERLAB ??= {}).minigrad = {
  init: (modules) => (shared = modules),
  get: async (module) => modules[module],
};
