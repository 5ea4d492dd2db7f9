"""Training steps written by hand in NumPy, in memory that is taken only once.

Each function returns step(), which does forward, backward and SGD, and returns the loss
and the gradients.
"""

import numpy as np
from by_hand import im2col


def empty(*shape, dtype=np.float32):
    return np.empty(shape, dtype)


def softmax_loss(scores, classes):
    """Return a function of no arguments: the loss, and its gradient in place."""
    n = len(classes)
    top, total, picked, rows = empty(n, 1), empty(n, 1), empty(n), np.arange(n)

    def loss():
        np.max(scores, axis=1, keepdims=True, out=top)
        np.subtract(scores, top, out=scores)
        np.copyto(picked, scores[rows, classes])
        np.exp(scores, out=scores)
        np.sum(scores, axis=1, keepdims=True, out=total)
        value = (np.log(total[:, 0]) - picked).mean()
        np.divide(scores, total, out=scores)
        scores[rows, classes] -= 1
        np.divide(scores, np.float32(n), out=scores)
        return value

    return loss, scores


def update(p, gradients, rate):
    """Return a function that takes a step of SGD."""
    pairs = [(a, g, np.empty_like(g)) for a, g in zip(p, gradients)]

    def step():
        for a, g, change in pairs:
            np.multiply(g, rate, out=change)
            np.subtract(a, change, out=a)

    return step


def mlp(p, x, classes, rate):
    """Linear layers with ReLU between them; p is [w, b, w, b, ...], w of (out, in)."""
    hidden = [empty(len(x), len(w)) for w in p[::2]]
    slopes = [np.empty_like(h) for h in hidden[:-1]]
    masks = [empty(*h.shape, dtype=bool) for h in hidden[:-1]]
    gradients, count = [np.empty_like(a) for a in p], len(hidden)
    loss, g = softmax_loss(hidden[-1], classes)
    slopes.append(g)
    sgd, inputs = update(p, gradients, rate), [x, *hidden[:-1]]

    def step():
        for i in range(count):
            np.matmul(inputs[i], p[2 * i].T, out=hidden[i])
            np.add(hidden[i], p[2 * i + 1], out=hidden[i])
            if i < count - 1:
                np.maximum(hidden[i], 0, out=hidden[i])
        value = loss()
        for i in range(count - 1, -1, -1):
            np.matmul(slopes[i].T, inputs[i], out=gradients[2 * i])
            np.sum(slopes[i], axis=0, out=gradients[2 * i + 1])
            if i:
                np.matmul(slopes[i], p[2 * i], out=slopes[i - 1])
                np.greater(inputs[i], 0, out=masks[i - 1])
                np.multiply(slopes[i - 1], masks[i - 1], out=slopes[i - 1])
        sgd()
        return value, gradients

    return step


def chain(p, x, classes, rate):
    """5,000 operations on ten numbers, of which only the first ten are learnt."""
    (a,) = p
    tanhs, scaled = empty(1000, *a.shape), empty(1000, *a.shape)
    pairs = list(zip(tanhs, scaled))
    y, g, slope, total = (np.empty_like(a) for _ in range(4))
    factor, gradients = np.float32(0.9), [np.empty_like(a)]
    sgd = update(p, gradients, rate)

    def step():
        np.copyto(y, a)
        for tanh, inner in pairs:
            np.multiply(y, x, out=y)
            np.add(y, a, out=y)
            np.tanh(y, out=tanh)
            np.multiply(tanh, factor, out=inner)
            np.sin(inner, out=y)
        loss = y.sum()
        g.fill(1)
        total.fill(0)
        for tanh, inner in reversed(pairs):
            np.cos(inner, out=slope)
            np.multiply(g, slope, out=g)
            np.multiply(g, factor, out=g)
            np.multiply(tanh, tanh, out=slope)
            np.subtract(1, slope, out=slope)
            np.multiply(g, slope, out=g)
            np.add(total, g, out=total)
            np.multiply(g, x, out=g)
        np.add(total, g, out=gradients[0])
        sgd()
        return loss, gradients

    return step


def pool(x):
    """Return functions for the largest of each 2 x 2, and for the way back."""
    h, w = x.shape[1] // 2 * 2, x.shape[2] // 2 * 2
    places = [
        (slice(None), slice(i, h, 2), slice(j, w, 2)) for i in (0, 1) for j in (0, 1)
    ]
    parts = [x[place] for place in places]
    out = empty(*parts[0].shape)
    where, missing, other = (empty(*out.shape, dtype=d) for d in (np.int8, bool, bool))
    slopes, bits = np.zeros_like(x), missing.view(np.int8)

    def forward():
        np.maximum(parts[0], parts[1], out=out)
        np.maximum(out, parts[2], out=out)
        np.maximum(out, parts[3], out=out)
        np.not_equal(parts[0], out, out=missing)
        np.copyto(where, bits)
        for part in parts[1:3]:
            np.not_equal(part, out, out=other)
            np.logical_and(missing, other, out=missing)
            np.add(where, bits, out=where)

    def backward(g):
        for k, place in enumerate(places):
            np.equal(where, k, out=other)
            np.multiply(g, other, out=slopes[place])

    return forward, backward, out, slopes


def convolution(x, w, b, gw, gb, needs_slope):
    """Return functions for a convolution with ReLU, and for the way back."""
    (c, h, width, n), flat = x.shape, w.reshape(len(w), -1)
    columns = im2col(x)
    windows = columns.reshape(c, 3, 3, h - 2, width - 2, n)
    rows = empty(len(w), columns.shape[1])
    out, mask = (
        rows.reshape(len(w), h - 2, width - 2, n),
        empty(*rows.shape, dtype=bool),
    )
    spread = np.empty_like(columns) if needs_slope else None
    slopes = np.empty_like(x) if needs_slope else None

    def forward():
        for i in range(3):
            for j in range(3):
                windows[:, i, j] = x[:, i : i + h - 2, j : j + width - 2]
        np.matmul(flat, columns, out=rows)
        np.add(rows, b[:, None], out=rows)
        np.maximum(rows, 0, out=rows)

    def backward(g):
        np.greater(rows, 0, out=mask)
        g = g.reshape(rows.shape)
        np.multiply(g, mask, out=g)
        np.matmul(g, columns.T, out=gw.reshape(len(w), -1))
        np.sum(g, axis=1, out=gb)
        if needs_slope:
            np.matmul(flat.T, g, out=spread)
            parts = spread.reshape(windows.shape)
            slopes.fill(0)
            for i in range(3):
                for j in range(3):
                    slopes[:, i : i + h - 2, j : j + width - 2] += parts[:, i, j]

    return forward, backward, out, slopes


def cnn(p, x, classes, rate):
    """Two convolutions with ReLU and pooling, and a linear layer."""
    w1, b1, w2, b2, w3, b3 = p
    gradients = g1, gb1, g2, gb2, g3, gb3 = [np.empty_like(a) for a in p]
    x = np.ascontiguousarray(x.transpose(1, 2, 3, 0))
    conv1, back1, c1, _ = convolution(x, w1, b1, g1, gb1, False)
    pool1, unpool1, p1, s1 = pool(c1)
    conv2, back2, c2, sp1 = convolution(p1, w2, b2, g2, gb2, True)
    pool2, unpool2, p2, s2 = pool(c2)
    flat = p2.reshape(-1, p2.shape[3]).T
    scores = empty(len(classes), len(w3))
    loss, g = softmax_loss(scores, classes)
    gflat, gp2 = empty(*flat.shape), np.empty_like(p2)
    sgd = update(p, gradients, rate)

    def step():
        for each in (conv1, pool1, conv2, pool2):
            each()
        np.matmul(flat, w3.T, out=scores)
        np.add(scores, b3, out=scores)
        value = loss()
        np.matmul(g.T, flat, out=g3)
        np.sum(g, axis=0, out=gb3)
        np.matmul(g, w3, out=gflat)
        np.copyto(gp2.reshape(-1, gp2.shape[3]), gflat.T)
        unpool2(gp2)
        back2(s2)
        unpool1(sp1)
        back1(s1)
        sgd()
        return value, gradients

    return step


def norm(x, w, b, gw, gb):
    """Return functions for layer norm of (rows, width), and for the way back."""
    unit, square, out, slopes = (np.empty_like(x) for _ in range(4))
    factor, level, slope = (empty(len(x), 1) for _ in range(3))
    width = np.float32(x.shape[1])

    def mean(a, out):
        np.sum(a, axis=-1, keepdims=True, out=out)
        np.divide(out, width, out=out)

    def forward():
        mean(x, level)
        np.subtract(x, level, out=unit)
        np.square(unit, out=square)
        mean(square, factor)
        np.add(factor, np.float32(1e-5), out=factor)
        np.sqrt(factor, out=factor)
        np.divide(1, factor, out=factor)
        np.multiply(unit, factor, out=unit)
        np.multiply(unit, w, out=out)
        np.add(out, b, out=out)

    def backward(g):
        np.multiply(g, unit, out=square)
        np.sum(square, axis=0, out=gw)
        np.sum(g, axis=0, out=gb)
        np.multiply(g, w, out=slopes)
        np.multiply(slopes, unit, out=square)
        mean(square, slope)
        mean(slopes, level)
        np.subtract(slopes, level, out=slopes)
        np.multiply(unit, slope, out=square)
        np.subtract(slopes, square, out=slopes)
        np.multiply(slopes, factor, out=slopes)

    return forward, backward, out, slopes


def linear(x, w, b, gw, gb, g=None):
    """Return functions for x @ w.T + b, and for the way back."""
    out = empty(len(x), len(w))
    slopes = np.empty_like(x) if g is None else g

    def forward():
        np.matmul(x, w.T, out=out)
        np.add(out, b, out=out)

    def backward(g):
        np.matmul(g.T, x, out=gw)
        np.sum(g, axis=0, out=gb)
        np.matmul(g, w, out=slopes)

    return forward, backward, out, slopes


def transformer(p, x, classes, rate, heads=4):
    """One block: x + attention(norm(x)), then x + mlp(norm(x)); mean of squares."""
    gradients = [np.empty_like(a) for a in p]
    pairs = [(*p[i : i + 2], *gradients[i : i + 2]) for i in range(0, 12, 2)]
    n, t, d = x.shape
    x, size = x.reshape(-1, d), d // heads
    norm1, norm1_back, h1, _ = norm(x, *pairs[0])
    qkv, qkv_back, parts, gh1 = linear(h1, *pairs[1])
    q, k, v = parts.reshape(n, t, 3, heads, size).transpose(2, 0, 3, 1, 4)
    scale, hidden = np.float32(size**-0.5), ~np.tri(t, dtype=bool)
    scaled, a, ga = (
        empty(n, heads, t, size),
        empty(n, heads, t, t),
        empty(n, heads, t, t),
    )
    row, heard, mixed = empty(n, heads, t, 1), empty(n, heads, t, size), empty(n * t, d)
    mixed_heads = mixed.reshape(n, t, heads, size).transpose(0, 2, 1, 3)
    merge, merge_back, x2, gmixed = linear(mixed, *pairs[2])
    gheads = gmixed.reshape(n, t, heads, size).transpose(0, 2, 1, 3)
    norm2, norm2_back, h2, gx2 = norm(x2, *pairs[3])
    up, up_back, m, gh2 = linear(h2, *pairs[4])
    down, down_back, y, gm = linear(m, *pairs[5])
    mask, g, g2 = empty(*m.shape, dtype=bool), np.empty_like(y), np.empty_like(y)
    gqkv, product = empty(n * t, 3 * d), np.empty_like(a)
    gq, gk, gv = gqkv.reshape(n, t, 3, heads, size).transpose(2, 0, 3, 1, 4)
    sgd = update(p, gradients, rate)

    def forward():
        norm1()
        qkv()
        np.multiply(q, scale, out=scaled)
        np.matmul(scaled, k.swapaxes(-1, -2), out=a)
        np.copyto(a, -np.inf, where=hidden)
        np.max(a, axis=-1, keepdims=True, out=row)
        np.subtract(a, row, out=a)
        np.exp(a, out=a)
        np.sum(a, axis=-1, keepdims=True, out=row)
        np.divide(a, row, out=a)
        np.matmul(a, v, out=heard)
        np.copyto(mixed_heads, heard)
        merge()
        np.add(x2, x, out=x2)
        norm2()
        up()
        np.maximum(m, 0, out=m)
        down()
        np.add(y, x2, out=y)
        np.square(y, out=g)
        return g.mean()

    def step():
        loss = forward()
        np.multiply(y, np.float32(2 / y.size), out=g)
        down_back(g)
        np.greater(m, 0, out=mask)
        np.multiply(gm, mask, out=gm)
        up_back(gm)
        norm2_back(gh2)
        np.add(g, gx2, out=g2)
        merge_back(g2)
        np.matmul(a.swapaxes(-1, -2), gheads, out=heard)
        np.copyto(gv, heard)
        np.matmul(gheads, v.swapaxes(-1, -2), out=ga)
        np.multiply(ga, a, out=product)
        np.sum(product, axis=-1, keepdims=True, out=row)
        np.subtract(ga, row, out=ga)
        np.multiply(ga, a, out=ga)
        np.matmul(ga, k, out=heard)
        np.multiply(heard, scale, out=gq)
        np.matmul(ga.swapaxes(-1, -2), scaled, out=heard)
        np.copyto(gk, heard)
        qkv_back(gqkv)
        norm1_back(gh1)
        sgd()
        return loss, gradients

    return step
