"""Define, then run: a graph that is built once, without numbers, and run many times.

This is how TensorFlow 1 did it:

    x = placeholder((32, 2))
    w = variable(np.zeros((2, 1), "float32"))
    loss = ((x @ w) ** 2).mean()
    (g,) = minigrad.autograd.grad(loss, [w])
    train = assign(w, w - 0.1 * g)
    Session().run([loss, train], {x: batch})

trace() instead notes what a function does with examples, and repeats it. compile()
writes such a trace as straight-line NumPy, and makes a new one when it does not fit.

    step = minigrad.compile(step)  # called as before
    loss = step(x, y)
    print(step.source)
"""

from minigrad.static.compiling import compile
from minigrad.static.execution import Program
from minigrad.static.session import Session, as_step, assign, placeholder, variable
from minigrad.static.steps import Step
from minigrad.static.tracing import trace
