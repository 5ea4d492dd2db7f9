"""Faster replacements for plain definitions. You do not have to read them.

MINIGRAD_PLAIN=1 leaves them out. If you replace a plain definition with your own,
minigrad runs your definition and not the fast one.
"""

from inspect import Parameter

from numpy import dtype, empty, generic, ndarray

from minigrad.graph import saved_values
from minigrad.graph.node import Node
from minigrad.graph.recording import recording
from minigrad.graph.tensor import Tensor
from minigrad.rules import op as op_page
from minigrad.rules import pointwise
from minigrad.rules.op import Op, array_of, edge

try:  # the inside of np.errstate(all="ignore"), which takes a fifth of the time
    from numpy._core.umath import _extobj_contextvar as error_state
    from numpy._core.umath import _make_extobj

    IGNORE = _make_extobj(all="ignore")
except (ImportError, TypeError):  # private names, which NumPy may change
    error_state = None
plain_call, plain_record = Op.__call__, Op.record
plain_input_gradients = Node.input_gradients
plain_masked, plain_record_write = pointwise.masked, saved_values.record_write
DETOURS, OWN, UNKNOWN = (list, generic), {"shape", "i"}, (0, (), 0, None, None)
FLOATS = {dtype("float32"), dtype("float64")}
newest_write = [0]


def layout(op: Op) -> tuple:
    """Return how many arguments and formulas an op has, its defaults, and two lists.

    Both lists have an entry for each formula. In the first list, the entry lists the
    names that have to be saved, each with its position among the arguments and the
    result. In the second list, the entry has the formula, its names, and whether all of
    them are saved.
    """
    known, count = [*op.parameters, "y"], len(op.formulas)
    wanted = [[n for n in names if n not in OWN] for names in op.names.values()]
    if known[:count] != [*op.formulas]:
        return UNKNOWN
    usual = type(op) is Op and {*sum(wanted, [])} <= {*known}
    places = usual and [[(n, known.index(n)) for n in names] for names in wanted]
    pairs = zip(op.formulas.values(), op.names.values())
    rules = [(formula, names, OWN.isdisjoint(names)) for formula, names in pairs]
    defaults = [each.default for each in op.signature.parameters.values()]
    optional = tuple(each for each in defaults if each is not Parameter.empty)
    return len(defaults), optional, count, places, rules


def fast_call(op: Op, *given, **kwargs):
    """Do the same as Op.__call__, but faster for tensors of one float dtype."""
    try:
        size, optional, count, places, _ = op.fast
    except AttributeError:
        size, optional, count, places, _ = op.fast = layout(op)
    left_out = size - len(given)
    if kwargs or not 0 <= left_out <= len(optional):
        return plain_call(op, *given, **kwargs)
    args = given + optional[len(optional) - left_out :]
    first, values, parents, tracked = None, [], [], False
    for x in args:
        parent = None
        if isinstance(x, Tensor):
            parent = x.edge if x.source is None else edge(x)
            if parent is not None:
                tracked = True
            if first is None:
                first, kind = x, x.array.dtype
            x = x.array
            if x.dtype is not kind:
                return plain_call(op, *given)
        elif isinstance(x, DETOURS) or type(x) is tuple and len(values) < count:
            return plain_call(op, *given)
        values.append(x)
        parents.append(parent)
    lead = values[0] if first is None else first.array
    if type(lead) is not ndarray or not lead.ndim or lead.dtype not in FLOATS:
        return plain_call(op, *given)
    if first is None:  # a formula called the op, and needs an array
        return array_of(op.forward(*values))
    token = error_state.set(IGNORE)
    try:
        y = op.forward(*values)
    except (IndexError, TypeError, ValueError):  # the plain version explains it
        y = None
    finally:
        error_state.reset(token)
    if y is None:
        return plain_call(op, *given)
    y = array_of(y)
    out = Tensor(y)
    if tracked and recording.on and y.dtype in FLOATS:
        values.append(y)
        if count < size:
            del parents[count:]
        if places and Op.record is plain_record:
            saved = {}
            for parent, names in zip(parents, places):
                if parent is not None:
                    for name, place in names:
                        saved[name] = values[place]
            out.edge = Node(op, parents, saved, y.shape)
        else:
            out.edge = op.record(parents, dict(zip([*op.parameters, "y"], values)))
    if y.base is not None:
        out.note_base(first)
    return out


def fast_masked(g, mask: ndarray):
    """Return g where the mask is True, using bits. np.where takes 20 times as long."""
    if type(g) is not ndarray or not g.ndim:
        return plain_masked(g, mask)
    return (g.view(f"i{g.itemsize}") * mask).view(g.dtype)


def fast_input_gradients(node: Node, g, wanted):
    """Return each parent of a node with its share, like the plain version."""
    rules, saved, shares = getattr(node.op, "fast", UNKNOWN)[4], node.saved, []
    usual = rules is not None and len(rules) == len(node.parents) and saved is not None
    used = Op.input_gradients, Node.check, op_page.value_of, saved_values.record_write
    if not usual or wanted is not None or type(g) is not ndarray or used != AS_KNOWN:
        return plain_input_gradients(node, g, wanted)
    if node.number < newest_write[0]:
        node.check()
    for parent, (formula, names, all_saved) in zip(node.parents, rules):
        if parent is not None:
            known = saved if all_saved else saved | {"shape": parent.shape, "i": 0}
            share = formula(g, *map(known.__getitem__, names))
            shares.append((parent, share))
    return shares


def record_write(array: ndarray) -> None:
    """Record a write, and keep its number: nodes with larger ones need no check."""
    plain_record_write(array)
    newest_write[0] = saved_values._writes[id(saved_values.storage(array))][1]


# If a learner's cell replaces one of these, the plain version runs
AS_KNOWN = Op.input_gradients, Node.check, op_page.value_of, record_write


def install() -> None:
    """Replace the plain definitions with the fast ones.

    Also allocate 4 MB and free them. From then on glibc's malloc keeps the memory that
    a step of a small CNN needs, which halves the time of a step. Source: mallopt(3),
    M_MMAP_THRESHOLD.
    """
    empty(2**22, "int8")
    if error_state:
        Op.__call__ = fast_call
    pointwise.masked, saved_values.record_write = fast_masked, record_write
    Node.input_gradients, fast_masked.__name__ = fast_input_gradients, "masked"
