// Node.js runs this in the folder of Pyodide. It makes one archive each of wheels that a
// tab loads together, with compiled code of the modules that are imported at once.
const pack = `
import py_compile, sys, tarfile, zipfile
from pyodide_js import _api

LIB = "/lib/python3.12"
PLACES = {"python_stdlib.zip": LIB, "openblas-0.3.26.zip": "/usr/lib"}

async def pack(name, wheels, start):
    files = {}
    for wheel in wheels:
        place = PLACES.get(wheel, f"{LIB}/site-packages")
        with zipfile.ZipFile(f"/parts/{wheel}") as archive:
            archive.extractall(place)
            files |= {f"{place}/{n}": None for n in archive.namelist() if n[-1] != "/"}
    for file in [each for each in files if each.startswith("/usr/lib/")]:
        await _api.loadDynlib(file)
    exec(f"import {start}")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for module in list(sys.modules.values()):
        source = getattr(module, "__file__", None) or ""
        source = source.replace("/lib/python312.zip", LIB)
        if source in files and source.endswith(".py"):
            code = py_compile.compile(source, invalidation_mode=unchecked, doraise=True)
            files[code] = None
    how = {"format": tarfile.USTAR_FORMAT, "compresslevel": 6}
    with tarfile.open(f"/here/{name}.packed", "w:gz", **how) as made:
        for file in files:
            made.add(file)

pack
`;
const parts = process.argv[2];
const archives = require(`${parts}/archives.json`);
const { loadPyodide } = require(`${process.cwd()}/runtime.js`);

async function main() {
  const pyodide = await loadPyodide({ stdLibURL: `${parts}/python_stdlib.zip` });
  pyodide.mountNodeFS("/parts", parts);
  pyodide.mountNodeFS("/here", process.cwd());
  for (const [name, start, ...wheels] of archives)
    await pyodide.runPython(pack)(name, wheels, start);
}

main().catch((reason) => {
  console.error(reason.message || reason.stack);
  process.exitCode = 1;
});
