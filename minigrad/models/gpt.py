"""A small GPT: which position looks at which, layer by layer, and what comes next.

Source: A. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019,
which normalizes before each part. A. Vaswani et al., "Attention Is All You Need", 2017.
"""

from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor
from minigrad.nn import Embedding, LayerNorm, Linear, Module, ModuleList, Sequential
from minigrad.nn import functional as F
from minigrad.nn.activations import GELU
from minigrad.nn.init import normal_
from minigrad.rules.joining import cat
from minigrad.tensors import creation


class CausalSelfAttention(Module):
    """Each position attends to itself and to those before it. Shapes are (N, T, width).

    The heads work side by side, each on width / heads numbers.
    """

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = Linear(width, 3 * width)
        self.out = Linear(width, width)

    def forward(self, x):
        q, k, v = self.parts(x)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def parts(self, x):
        """Return queries, keys and values, each (N, heads, T, width / heads)."""
        n, t, width = x.shape
        parts = self.qkv(x).reshape(n, t, 3, self.heads, width // self.heads)
        return parts.permute(2, 0, 3, 1, 4).unbind(0)


class Block(Module):
    """Attention, then a small network for each position. x has a path around each."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm1, self.norm2 = LayerNorm(width), LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads)
        self.mlp = Sequential(
            Linear(width, 4 * width), GELU("tanh"), Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(Module):
    """Scores (N, T, tokens) for the next token at every position of tokens (N, T).

    The scores are products with each token's embedding, so its weights are used twice
    (O. Press, L. Wolf, "Using the Output Embedding to Improve Language Models", 2017).
    """

    def __init__(self, tokens: int, length: int, width=64, layers=2, heads=4):
        super().__init__()
        self.token_embedding = Embedding(tokens, width)
        self.position_embedding = Embedding(length, width)
        self.blocks = ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = LayerNorm(width)
        for module in self.modules():
            if isinstance(module, Linear | Embedding):
                normal_(module.weight, 0.0, 0.1)  # GPT-2, which is far wider, has 0.02

    def embed(self, tokens):
        """Return each token's vector plus its position's vector: (N, T, width)."""
        places = creation.arange(tokens.shape[1])
        return self.token_embedding(tokens) + self.position_embedding(places)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.token_embedding.weight)

    @no_grad()
    def generate(self, tokens: Tensor, count: int) -> Tensor:
        """Return tokens (N, T) and `count` more, each with the top score."""
        for _ in range(count):
            scores = self(tokens)[:, -1]
            tokens = cat([tokens, scores.argmax(-1, keepdim=True)], 1)
        return tokens
