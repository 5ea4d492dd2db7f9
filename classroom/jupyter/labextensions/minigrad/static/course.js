// What JupyterLab lacks for the course; it is loaded as it stands here, nothing is built.
// A lesson and its exercises have the same file name: custom.css tells their tabs apart.
// (A tab's label must stay: JupyterLab gives the file the name that a label is set to.)
// A click on a folded check runs it; JupyterLab would unfold it, and what it says would be
// far below. The three dots still unfold it. And a click that comes before the kernel waits.
// A link to a cell of a notebook that is not open yet: JupyterLab scrolls before there is
// anything to scroll, and pictures that come later move the cell: JupyterLab is asked again
// for some seconds, or until the learner does something. If another page of JupyterLab is
// open, it opens again under another address, without the name of the cell.
// A check judges what stands above it now: what has not run as it stands there runs first.
// (Where an earlier cell has stopped Run All, the kernel drops the cells below: no number.)
// A notebook may change on disk while it is open (`break`, `reset`, `update`): unless there
// is something in it to be saved, it is read again before a check, or when one comes back.
// What a check has passed counts once the notebook is saved, and so a check saves it.
// Run All ends at the last cell, also where an earlier one has stopped: that one is shown,
// and custom.css says below what came of it that the others were not run.
// If a notebook has changed on disk, Enter would overwrite it: the first button is Cancel.
// A page that is open would show yesterday's progress: home is read again when one
// comes back to it.
const KINDS = { notebooks: "minigrad-lesson", exercises: "minigrad-exercises" };
const HOME = "home.md";
const TITLE = "Click to run the check. The dots unfold it.";
const CHECK = "# Check of ";
const GOAL = "minigrad-goal";
let shared = {};  // JupyterLab's own modules
const ran = new WeakMap();  // a notebook, and the cells of it that its kernel has run

const isCheck = ({ model }) => model.sharedModel.getSource().startsWith(CHECK);
const pathOf = () => decodeURI(location.pathname).split("/tree/")[1];
if (location.hash) sessionStorage.setItem(GOAL, pathOf() + location.hash);

function tell(widget) {
  const kind = KINDS[widget.context?.path.split("/")[0]];
  if (kind && !widget.title.className.includes(kind)) widget.title.className += ` ${kind}`;
}

function foldedCheck(event) {
  const line = event.target.closest?.(".jp-InputPlaceholder");
  return line?.innerText.trim().startsWith(CHECK) ? line : null;
}

function aim(content, fragment) {
  let tries = 4;
  const stop = () => (tries = 0);
  for (const what of ["wheel", "keydown", "mousedown"])
    content.node.addEventListener(what, stop, { once: true, capture: true });
  const again = () => tries-- > 0 && (content.setFragment?.(fragment), setTimeout(again, 1000));
  setTimeout(again, 1000);
}

function goTo(shell, path, fragment, tries = 120) {
  const isThere = (widget) => widget.context?.path === path && widget.context.isReady;
  const widget = [...shell.widgets("main")].find(isThere);
  if (widget?.isVisible) aim(widget.content, fragment);
  else if (tries) setTimeout(goTo, 250, shell, path, fragment, tries - 1);
}

async function readAgain(contents, { content, context }) {
  if (!context?.isReady || context.model.dirty) return;
  const { last_modified: then } = context.contentsModel;
  const { last_modified: now } = await contents.get(context.path, { content: false });
  if (new Date(now) - new Date(then) < 1000 || context.model.dirty) return;
  const place = content.activeCellIndex;
  await context.revert();
  content.activeCellIndex = place;
}

function ranIn({ content, sessionContext }) {
  if (!ran.has(content)) {
    ran.set(content, new Set());
    const forget = () => ran.get(content).clear();
    sessionContext.kernelChanged.connect(forget);
    sessionContext.statusChanged.connect((_, now) => /restarting/.test(now) && forget());
  }
  return ran.get(content);
}

function runAbove(panel, check) {
  const { content, sessionContext } = panel;
  const above = content.widgets.slice(0, content.widgets.indexOf(check));
  const own = above.slice(above.findLastIndex(isCheck) + 1).filter((c) => c.model.type === "code");
  const goOn = { tags: ["raises-exception"] };  // the check says what it thinks of an error
  const inTurn = ({ model }) => model.executionCount || model.executionState === "running";
  const asItStands = (cell) => !cell.model.isDirty && ranIn(panel).has(cell.model) && inTurn(cell);
  for (const cell of own.filter((cell) => !asItStands(cell))) {
    ranIn(panel).add(cell.model);
    cell.constructor.execute(cell, sessionContext, goOn).catch(() => {});
  }
}

async function watchRuns(shell) {
  const [{ get }] = Object.values(shared["@jupyterlab/notebook"]);
  const { NotebookActions } = (await get())();
  const panelOf = (notebook) => [...shell.widgets("main")].find((w) => w.content === notebook);
  NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
    const panel = panelOf(notebook);
    if (!panel?.sessionContext.session?.kernel) return;
    if (isCheck(cell)) runAbove(panel, cell);
    ranIn(panel).add(cell.model);
  });
  let saved = Promise.resolve();  // one after the other: two at once would be in conflict
  NotebookActions.executed.connect((_, { notebook, cell }) => {
    const context = panelOf(notebook)?.context;
    if (!isCheck(cell) || !context?.contentsModel?.writable) return;
    saved = saved.then(() => context.model.dirty && context.save()).catch(() => {});
  });
}

function show({ node }) {
  const low = node.offsetHeight < node.parentElement.clientHeight;
  node.scrollIntoView({ block: low ? "nearest" : "start" });
}

function showStopped({ content }) {
  const isError = (output) => output.output_type === "error";
  const stopped = content.widgets.findIndex((c) => c.model.outputs?.toJSON().some(isError));
  if (stopped < 0) return;
  const [{ outputArea }, ...below] = content.widgets.slice(stopped);
  const isLeft = below.some(({ model }) => model.type === "code");
  if (isLeft) outputArea.widgets.at(-1).addClass("minigrad-stopped");
  content.scrollToItem((content.activeCellIndex = stopped), "center");
}

function preferCancel({ target, relatedTarget }) {
  const dialog = target.textContent === "Overwrite" && target.closest(".jp-Dialog");
  if (dialog && !dialog.contains(relatedTarget)) dialog.querySelector(".jp-mod-reject").focus();
}

async function runCheck(commands, contents, panel) {
  await panel.sessionContext.ready;
  await readAgain(contents, panel).catch(() => {});
  const { activeCell } = panel.content;
  activeCell.addClass("minigrad-running");
  try {
    await commands.execute("notebook:run-cell");
  } finally {
    activeCell.removeClass("minigrad-running");
    show(activeCell);
  }
}

function activate({ shell, commands, restored, serviceManager: { contents } }) {
  const [opened, cell] = sessionStorage.getItem(GOAL)?.split("#") ?? [];
  restored.then(() => {
    sessionStorage.removeItem(GOAL);
    if (opened === pathOf()) goTo(shell, opened, `#${cell}`);
  });
  window.addEventListener("focus", () => {
    const open = [...shell.widgets("main")].filter((each) => each.sessionContext);
    for (const panel of open) readAgain(contents, panel).catch(() => {});
  });
  commands.commandExecuted.connect((_, { id, args, result }) => {
    const panel = /^notebook:.*run-all(-cells)?$/.test(id) && shell.currentWidget;
    if (panel) result.then(() => showStopped(panel));
    if (id === "rendermime:handle-local-link" && args.id) goTo(shell, args.path, args.id);
  });
  document.addEventListener("focusin", preferCancel);
  document.addEventListener("mouseover", (event) => {
    const words = foldedCheck(event)?.querySelector(".jp-Placeholder-content");
    if (words) words.title = TITLE;
  });
  document.addEventListener(
    "click",
    (event) => {  // the cell was selected when the button of the mouse went down
      if (!foldedCheck(event) || event.target.closest(".jp-MoreHorizIcon")) return;
      event.stopPropagation();
      if (!event.target.closest(".jp-Placeholder-content")) return;
      runCheck(commands, contents, shell.currentWidget);
    },
    true,
  );
  shell.currentChanged?.connect((_, { newValue }) => {
    for (const widget of shell.widgets("main")) tell(widget);
    const context = newValue?.context;
    if (context?.path === HOME && context.isReady && !context.model.dirty) context.revert();
  });
  watchRuns(shell);
}

const plugin = { id: "minigrad:course", autoStart: true, activate };
const modules = { "./course": () => ({ __esModule: true, default: plugin }) };
(window._JUPYTERLAB ??= {}).minigrad = {
  init: (modules) => (shared = modules),
  get: async (module) => modules[module],
};
