"""Embeddings: Tables of vectors, looked up by integers."""

from minigrad.graph.tensor import Tensor
from minigrad.nn.module import Module, Parameter
from minigrad.rules.op import called
from minigrad.tensors import creation


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Return the rows of `weight` at the indices in `input`."""
    if input.dtype.kind != "i" or (input.array < 0).any() or weight.ndim != 2:
        raise IndexError("embedding: expected integers from 0 on, and a table of rows")
    return called("Embedding", weight[input])


class Embedding(Module):
    """A table of vectors, looked up by integers."""

    def __init__(self, num_embeddings: int, embedding_dim: int):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter(creation.randn(num_embeddings, embedding_dim))

    def forward(self, input):
        return embedding(input, self.weight)
