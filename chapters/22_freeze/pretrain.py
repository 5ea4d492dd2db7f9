"""Trains resnet_digits on the digits 0 to 4, and writes digits.safetensors.

python chapters/22_freeze/pretrain.py
"""

import numpy as np

from minigrad.graph.tensor import Tensor
from minigrad.models.resnet import DIGITS, resnet_digits
from minigrad.nn.functional import cross_entropy
from minigrad.optim import SGD, CosineAnnealingLR
from minigrad.tensors import creation
from minigrad.training import data
from minigrad.training.fit import evaluate, train
from minigrad.training.saving import save


def first_digits() -> list[data.Subset]:
    """Return the digits 0 to 4 in two parts: four fifths to learn, one to test."""
    images, classes = data.load_digits().tensors
    few = classes.array < 5
    digits = data.TensorDataset(Tensor(images.array[few]), Tensor(classes.array[few]))
    return data.random_split(digits, [721, 180], seed=0)


def shifted(images: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
    """Return a batch, moved by at most one pixel each way: so positions matter less."""
    shift = creation.generator().integers(-1, 2, 2)
    return Tensor(np.roll(images.array, tuple(shift), (2, 3))), classes


def main() -> None:
    creation.manual_seed(0)
    learnt, tested = first_digits()
    batches = data.DataLoader(learnt, 64, shuffle=True)
    model = resnet_digits()
    sgd = SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    schedule = CosineAnnealingLR(sgd, 20)
    for epoch in range(20):
        moved = [shifted(images, classes) for images, classes in batches]
        train(model, cross_entropy, sgd, moved, f"epoch {epoch + 1}")
        schedule.step()
    save(model.state_dict(), DIGITS)
    print("loss:", evaluate(model, cross_entropy, data.DataLoader(tested, len(tested))))


if __name__ == "__main__":
    main()
