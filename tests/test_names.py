"""Everything is where PyTorch has it."""

from operator import attrgetter

import pytest

import minigrad

OPERATIONS = """
    add sub mul pow maximum minimum where clamp neg abs exp log log1p sqrt rsqrt
    square reciprocal sin cos tanh sigmoid sign relu matmul sum mean var std amax
    amin max min logsumexp norm argmax argmin all any reshape view flatten transpose
    permute t T mT squeeze unsqueeze expand broadcast_to cat stack split unbind tril
    masked_fill softmax log_softmax clone detach requires_grad_ retain_grad backward
    register_hook item numpy tolist shape ndim size numel dtype is_leaf grad_fn grad
    requires_grad add_ mul_ zero_ copy_ sub_ div_ fill_ tensor zeros ones full
    arange linspace eye rand randn randint zeros_like ones_like rand_like randn_like
    manual_seed from_numpy no_grad enable_grad set_grad_enabled is_grad_enabled
    float32 float64 int64 bool save load
"""
PLACES = {
    "nn.functional": """relu gelu sigmoid tanh softmax log_softmax linear conv2d pad
        max_pool2d batch_norm layer_norm embedding dropout cross_entropy
        mse_loss binary_cross_entropy_with_logits scaled_dot_product_attention""",
    "nn": """Module Parameter Sequential ModuleList Linear Conv2d BatchNorm1d
        BatchNorm2d LayerNorm Embedding Dropout Flatten MaxPool2d
        ReLU GELU Tanh Softmax MSELoss CrossEntropyLoss Identity""",
    "nn.init": "uniform_ normal_ constant_ zeros_ kaiming_normal_",
    "optim": "SGD Adam AdamW Optimizer",
    "optim.lr_scheduler": "LRScheduler CosineAnnealingLR LambdaLR",
    "autograd": "grad backward Function gradcheck gradgradcheck detect_anomaly",
    "utils.data": "Dataset TensorDataset DataLoader",
}


@pytest.mark.parametrize("library", ["minigrad", "torch"])
def test_both_libraries_have_each_name_in_its_place(library):
    library = pytest.importorskip(library)
    for place, names in PLACES.items():
        module = attrgetter(place)(library)
        assert not [name for name in names.split() if not hasattr(module, name)], place
    for name in OPERATIONS.split():
        assert hasattr(library, name) or hasattr(library.Tensor, name), name


def test_no_operation_is_where_pytorch_has_none():
    torch = pytest.importorskip("torch")
    for mine, theirs in (minigrad, torch), (minigrad.Tensor, torch.Tensor):
        names = [name for name in OPERATIONS.split() if hasattr(mine, name)]
        assert not [name for name in names if not hasattr(theirs, name)]


def test_names_are_imported_from_where_pytorch_has_them():
    from minigrad.autograd.functional import jacobian
    from minigrad.utils.checkpoint import checkpoint
    from minigrad.utils.data import DataLoader

    assert DataLoader is minigrad.data.DataLoader
    assert checkpoint is minigrad.utils.checkpoint.checkpoint
    assert jacobian is minigrad.autograd.functional.jacobian
