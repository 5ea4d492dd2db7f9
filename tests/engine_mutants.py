"""Mutants of the solutions of chapters 24 and 25, and the rows that each loses."""

# Each row by a word of its title, in order
OF_NUMBERS = (
    "sum|product|chain|x + x|x * x|right|left|diamond|other side|long way|not used"
)
OF_NUMBERS += "|two roots|two walks|begins anew|twice from|reused|changed"
OF_NUMBERS += "|tanh|deep|doublings|after backward|unused|random|moons"
OF_ARRAYS = "all numbers|number by number|x * x + x|new axis|stretched|both at once"
OF_ARRAYS += "|one number|2 * x|no leaf|first axis|last axis|first arg|second arg|x @ y"
OF_ARRAYS += (
    "|of matrices|one matrix|tanh|random|two walks|reused|share|float32|integers"
)
OF_ARRAYS += (
    "|refused without|weighed by|quietly is|records again|changed|matmul and tanh"
)
OF_ARRAYS += "|deep|doublings|after backward|unused|digits|second derivative"

GROWING = "            if parent not in found:\n                found.add(parent)\n"
GROWING += "                to_visit.append(parent)\n"
LOOP = "    while to_visit:\n        for parent, _ in to_visit.pop().edges:\n" + GROWING
RECURSION = """\
    def visit(node):
        for parent, _ in node.edges:
            if parent not in found:
                found.add(parent)
                visit(parent)

    visit(root)
"""
OLDEST_FIRST = "key=lambda node: node.born, reverse=True", "key=lambda node: node.born"
AS_MET = """\
    met, blame = {root}, dict.fromkeys(found, 0.0) | {root: 1.0}
    to_visit = [root]
    while to_visit:
        node = to_visit.pop()
        node.grad += blame[node]
        for parent, slope in node.edges:
            blame[parent] += slope * blame[node]
            if parent not in met:
                met.add(parent)
                to_visit.append(parent)
"""
IN_ORDER = """\
    blame = dict.fromkeys(found, 0.0)
    blame[root] = 1.0
    for node in sorted(found, key=lambda node: node.born, reverse=True):
        node.grad += blame[node]
        for parent, slope in node.edges:
            blame[parent] += slope * blame[node]
"""
USED_TWICE = ["x + x", "diamond", "other side", "long way", "random", "moons"]
OF_NUMBERS_MUTANTS = {
    "= for +=": (
        [("blame[parent] += slope", "blame[parent] = slope")],
        [*USED_TWICE, "x * x", "two roots", "two walks", "begins anew"]
        + ["twice from", "reused", "doublings"],
    ),
    "as they are met": (
        [(IN_ORDER, AS_MET)],
        ["other side", "long way", "random", "moons"],
    ),
    "the oldest first": (
        [OLDEST_FIRST],
        [
            word
            for word in OF_NUMBERS.split("|")
            if word not in ("after backward", "unused")
        ],
    ),
    "the sign of tanh": ([("1 - y * y", "y * y - 1")], ["tanh", "random", "moons"]),
    "a product's own numbers": (
        [("(x, y.data), (y, x.data)", "(x, x.data), (y, y.data)")],
        ["product", "chain", "right", "left", "diamond", "other side", "long way"]
        + ["not used", "two roots", "two walks", "twice from", "reused", "changed"]
        + ["tanh", "random", "moons"],
    ),
    "the right of a sum is a constant": (
        [("(x, 1.0), (y, 1.0)", "(x, 1.0)")],
        [*USED_TWICE, "sum", "chain", "left", "two walks", "doublings"],
    ),
    "recursion": ([(LOOP, RECURSION)], ["deep"]),
    "the graph is kept": (
        [
            (
                "        self.born = next(births)\n",
                "        self.born = next(births)\n        kept.append(self)\n",
            ),
            ("births = count()\n", "births = count()\nkept = []\n"),
        ],
        ["after backward", "unused"],
    ),
    "along every path": (
        [
            (
                GROWING,
                "            found.add(parent)\n            to_visit.append(parent)\n",
            )
        ],
        ["doublings"],
    ),
    "results keep their blame": (
        [
            (
                "dict.fromkeys(found, 0.0)",
                "{n: n.grad if n.edges else 0.0 for n in found}",
            )
        ],
        ["twice from", "reused"],
    ),
    "numbers are read late": (
        [
            ("(x, y.data), (y, x.data)", "(x, y), (y, x)"),
            ("+= slope * ", "+= getattr(slope, 'data', slope) * "),
        ],
        ["changed"],
    ),
    "clears nothing": ([("leaf.grad = 0.0", "pass")], ["begins anew"]),
}
SHARE = "plus(blame[parent], share) if parent in blame else share"
IN_PLACE = """\
def added(a, b):
    if a is None:
        return b
    a.data += b.data
    return a


"""
OF_ARRAYS_MUTANTS = {
    "does not undo broadcasting": (
        [("sum_to(rule(g), np.shape(parent.data))", "rule(g)")],
        ["new axis", "stretched", "both at once", "one number", "one matrix"]
        + ["random", "digits"],
    ),
    "= for +=": (
        [(SHARE, "share")],
        ["x * x + x", "new axis", "both at once", "first axis", "last axis"]
        + ["first arg", "second arg", "x @ y", "of matrices", "one matrix", "random"]
        + ["two walks", "reused", "weighed by", "records again", "doublings"]
        + ["digits", "second derivative"],
    ),
    "factors change sides": (
        [("matmul(swapped(x), g)", "matmul(g, swapped(x))")],
        ["second arg", "x @ y", "of matrices", "one matrix", "matmul and tanh"]
        + ["digits"],
    ),
    "all axes turn round": (
        [("np.swapaxes(x.data, -1, -2)", "np.transpose(x.data)")],
        ["of matrices", "one matrix"],
    ),
    "leaves share a gradient": (
        [
            (
                "node.grad = g if node.grad is None else plus(node.grad, g)",
                "node.grad = added(node.grad, g)",
            ),
            (
                "def pass_on",
                IN_PLACE + "def pass_on",
            ),
        ],
        ["share"],
    ),
    "constants are float64": (
        [
            (
                "isinstance(x, Array) else Array(x)",
                "isinstance(x, Array) else Array(np.asarray(x, float))",
            )
        ],
        ["float32"],
    ),
    "a root of many numbers": (
        [("if v is None and np.size(root.data) != 1:", "if False:")],
        ["refused without"],
    ),
    "v is ignored": (
        [("np.ones_like(root.data) if v is None else v", "np.ones_like(root.data)")],
        ["weighed by"],
    ),
    "the quiet part is loud": (
        [("recording.append(False)", "recording.append(True)")],
        ["quietly is"],
    ),
    "changes are not counted": (
        [
            (
                "leaf.data, leaf.version = numbers, leaf.version + 1",
                "leaf.data[...] = numbers",
            )
        ],
        ["changed", "matmul and tanh"],
    ),
    "results keep their gradient": (
        [
            (
                "    if not node.edges:\n"
                "        node.grad = g if node.grad is None else plus(node.grad, g)\n",
                "    node.grad = g if node.grad is None else plus(node.grad, g)\n"
                "    g = node.grad if node.edges else g\n",
            )
        ],
        ["reused", "second derivative"],
    ),
    "the quiet part that fails stays quiet": (
        [
            (
                "    recording.append(False)\n    try:\n        return work()\n"
                "    finally:\n        recording.pop()\n",
                "    recording.append(False)\n    made = work()\n"
                "    recording.pop()\n    return made\n",
            )
        ],
        # and what comes after it is not recorded either
        ["records again", "changed", "matmul and tanh", "deep", "doublings", "digits"]
        + ["second derivative"],
    ),
    "matmul reads its arguments late": (
        [
            (
                "    x, y = known(x), known(y)\n    return result(\n"
                "        np.matmul(x.data, y.data),\n"
                "        (x, lambda g: matmul(g, swapped(y))),\n"
                "        (y, lambda g: matmul(swapped(x), g)),\n    )",
                "    x, y = known(x), known(y)\n    z = result(\n"
                "        np.matmul(x.data, y.data),\n"
                "        (x, lambda g: matmul(g, swapped(y))),\n"
                "        (y, lambda g: matmul(swapped(x), g)),\n    )\n"
                "    z.used = []\n    return z",
            )
        ],
        ["matmul and tanh"],
    ),
    "tanh reads its argument late": (
        [
            (
                "times(-1.0, times(y, y)))\n",
                "times(-1.0, times(late(), late())))\n"
                "    rule = x, lambda g: times(g, slope())\n"
                "    late = lambda: result(np.tanh(x.data), rule)\n",
            ),
            (
                "lambda g: times(g, slope())))\n    return y",
                "lambda g: times(g, slope())))\n    y.used = []\n    return y",
            ),
        ],
        ["matmul and tanh"],
    ),
    "the axis is not put back": (
        [("stretched(reshaped(g, kept), shape)", "stretched(g, shape)")],
        ["last axis"],
    ),
}
