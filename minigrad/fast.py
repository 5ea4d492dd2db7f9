"""The same in less time: drop-ins for plain definitions, which nobody has to read.

MINIGRAD_PLAIN=1 leaves them out, and so does whoever puts another definition in the
place of a plain one: then that is what runs.
"""

from typing import Any

from numpy import dtype, empty, generic, ndarray
from numpy._core import umath

from minigrad.graph import saved_values
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.rules import op as op_page
from minigrad.rules import pointwise
from minigrad.rules.arguments import parted
from minigrad.rules.op import Op, edge

# np.errstate(all="ignore") in a fifth of its time, by what NumPy makes of it
error_state, IGNORE = umath._extobj_contextvar, umath._make_extobj(all="ignore")
plain_call, plain_record = Op.__call__, Op.record
plain_shares, plain_free = Node.shares, Node.free
plain_kept, plain_wrote = pointwise.kept, saved_values.wrote
DETOURS, OWN, UNKNOWN = (list, generic), {"shape", "i"}, (None, 0, None, None)
FLOATS = {dtype("float32"), dtype("float64")}
newest_write = [0]


def layout(op: Op) -> tuple:
    """Return the number of an op's arguments and of its formulas, and two lists.

    For each formula: what it wants saved, each name with its place among the arguments
    and the result; and the formula, its names, and whether all of them are saved.
    """
    known, count = [*op.parameters, "y"], len(op.formulas)
    wanted = [[n for n in names if n not in OWN] for names in op.wants.values()]
    if known[:count] != [*op.formulas]:
        return UNKNOWN
    usual = type(op) is Op and {*sum(wanted, [])} <= {*known}
    places = usual and [[(n, known.index(n)) for n in names] for names in wanted]
    pairs = zip(op.formulas.values(), op.wants.values())
    rules = [(formula, names, OWN.isdisjoint(names)) for formula, names in pairs]
    return len(op.parameters), count, places, rules


def fast_call(op: Op, *args: Any, **kwargs: Any) -> Any:
    """Do what Op.__call__ does; of tensors of one dtype of floats without detours."""
    try:
        size, count, places, _ = op.fast
    except AttributeError:
        size, count, places, _ = op.fast = layout(op)
    if kwargs or len(args) != size:
        return plain_call(op, *args, **kwargs)
    first, values, targets, tracked = None, [], [], False
    for x in args:
        target = None
        if isinstance(x, Tensor):
            target = x.edge if x.source is None else edge(x)
            if target is not None:
                tracked = True
            if first is None:
                first, kind = x, x.array.dtype
            x = x.array
            if x.dtype is not kind:
                return plain_call(op, *args)
        elif isinstance(x, DETOURS):
            return plain_call(op, *args)
        values.append(x)
        targets.append(target)
    lead = values[0] if first is None else first.array
    if type(lead) is not ndarray or not lead.ndim or lead.dtype not in FLOATS:
        return plain_call(op, *args)
    if first is None:  # a formula calls, and wants an array
        return parted(op.forward(*values))[0]
    token = error_state.set(IGNORE)
    try:
        y = op.forward(*values)
    finally:
        error_state.reset(token)
    y, extras = (y, {}) if type(y) is ndarray else parted(y)
    out = Tensor(y)
    if tracked and recording.on and y.dtype in FLOATS:
        values.append(y)
        if count < size:
            del targets[count:]
        if places and Op.record is plain_record:
            saved = {}
            for target, names in zip(targets, places):
                if target is not None:
                    for name, place in names:
                        saved[name] = values[place]
            out.edge = Node(op, targets, saved, y.shape)
        else:
            known = dict(zip([*op.parameters, "y"], values))
            out.edge = op.record(targets, known | extras)
    if y.base is not None or y is lead:
        out.note_base(first)
    return out


def fast_kept(g: Any, mask: ndarray) -> Any:
    """Return g where the mask holds, by the bits: np.where takes 20 times as long."""
    if type(g) is not ndarray or not g.ndim:
        return plain_kept(g, mask)
    return (g.view(f"i{g.itemsize}") * mask).view(g.dtype)


def fast_shares(node: Node, g: Any, wanted: Any) -> Any:
    """Return each target of a node with its share, as Node.shares yields them."""
    rules, saved, shares = getattr(node.op, "fast", UNKNOWN)[3], node.saved, []
    usual = rules is not None and len(rules) == len(node.targets) and saved is not None
    used = Op.shares, Node.check, op_page.value_of, saved_values.wrote
    if not usual or wanted is not None or type(g) is not ndarray or used != AS_KNOWN:
        return plain_shares(node, g, wanted)
    if node.number < newest_write[0]:
        node.check()
    for target, (formula, names, all_saved) in zip(node.targets, rules):
        if target is not None:
            known = saved if all_saved else saved | {"shape": target.shape, "i": 0}
            if len(names) == 1:  # most often; a list of arguments takes longer
                share = formula(g, known[names[0]])
            elif names:
                share = formula(g, *map(known.__getitem__, names))
            else:
                share = formula(g)
            shares.append((target, share))
    return shares


def fast_free(node: Node) -> None:
    """Do what Node.free does; of what is no setting, without looking at it."""
    if node.saved and not node.saved.keys() <= node.op.settings:
        node.saved = None
    elif node.saved:
        plain_free(node)


def wrote(array: ndarray) -> None:
    """Note a write, and that it is the newest: nodes made later need no check."""
    plain_wrote(array)
    newest_write[0] = saved_values._writes[id(saved_values.storage(array))][1]


# A page that replaces one of these is heeded
AS_KNOWN = Op.shares, Node.check, op_page.value_of, wrote


def install() -> None:
    """Put the fast definitions in the place of the plain ones.

    And give 4 MB back: from then on glibc's malloc keeps what a step of a small CNN
    needs, which takes half the time. Source: mallopt(3), M_MMAP_THRESHOLD.
    """
    empty(2**22, "int8")
    Op.__call__, pointwise.kept, saved_values.wrote = fast_call, fast_kept, wrote
    Node.shares, Node.free, fast_kept.__name__ = fast_shares, fast_free, "kept"
