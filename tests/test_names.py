"""Everything is where PyTorch has it, and PyTorch's tutorial runs as it stands."""

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
        mse_loss binary_cross_entropy_with_logits
        scaled_dot_product_attention""",
    "nn": """Module Parameter Sequential ModuleList Linear Conv2d BatchNorm1d
        BatchNorm2d LayerNorm Embedding Dropout Flatten MaxPool2d
        ReLU GELU Tanh Softmax MSELoss CrossEntropyLoss Identity""",
    "nn.init": "uniform_ normal_ constant_ zeros_ kaiming_normal_",
    "optim": "SGD Adam AdamW Optimizer",
    "optim.lr_scheduler": "LRScheduler CosineAnnealingLR LambdaLR",
    "autograd": "grad backward Function gradcheck gradgradcheck detect_anomaly",
    "utils.data": "Dataset TensorDataset DataLoader",
}


def at(module, path):
    for part in path.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize("name", OPERATIONS.split())
def test_an_operation_is_a_function_or_a_method_where_pytorch_has_it(name):
    torch = pytest.importorskip("torch")
    assert hasattr(minigrad, name) or hasattr(minigrad.Tensor, name)
    for mine, theirs in [(minigrad, torch), (minigrad.Tensor, torch.Tensor)]:
        if hasattr(mine, name):
            assert hasattr(theirs, name), f"PyTorch has no {name} there"


@pytest.mark.parametrize("place", PLACES)
def test_the_modules_hold_what_pytorchs_hold(place):
    torch = pytest.importorskip("torch")
    for name in PLACES[place].split():
        assert hasattr(at(minigrad, place), name) and hasattr(at(torch, place), name)


def tutorial(torch):
    """Run what PyTorch's autograd tutorial does; return what it shows."""
    shown = []
    x, y = torch.ones(5), torch.zeros(3)
    w = torch.tensor([[0.1 * (i - j) for j in range(3)] for i in range(5)])
    b = torch.tensor([0.3, -0.2, 0.1], requires_grad=True)
    w.requires_grad_(True)
    z = torch.matmul(x, w) + b
    loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
    shown += [z.grad_fn.name(), loss.grad_fn.name()]
    loss.backward()
    shown += [w.grad.tolist(), b.grad.tolist(), z.requires_grad]
    with torch.no_grad():
        z = torch.matmul(x, w) + b
    shown += [z.requires_grad, (torch.matmul(x, w) + b).detach().requires_grad]
    inp = torch.eye(4, 5, requires_grad=True)
    out = (inp + 1).pow(2).t()
    out.backward(torch.ones_like(out), retain_graph=True)
    shown.append(inp.grad.tolist())
    out.backward(torch.ones_like(out), retain_graph=True)
    shown.append(inp.grad.tolist())
    inp.grad.zero_()
    out.backward(torch.ones_like(out), retain_graph=True)
    shown.append(inp.grad.tolist())
    return shown


def test_pytorchs_tutorial_runs_as_it_stands():
    torch = pytest.importorskip("torch")
    for mine, theirs in zip(tutorial(minigrad), tutorial(torch), strict=True):
        if isinstance(mine, list):
            mine, theirs = minigrad.tensor(mine), minigrad.tensor(theirs)
            assert ((mine - theirs).abs() < 1e-6).all()
        else:
            assert mine == theirs
    w = minigrad.randn(5, 3, requires_grad=True)
    assert str((w * 2).grad_fn) == "<MulBackward0>"


def test_names_are_imported_from_where_pytorch_has_them():
    from minigrad.autograd.functional import jacobian
    from minigrad.utils.checkpoint import checkpoint
    from minigrad.utils.data import DataLoader

    assert DataLoader is minigrad.data.DataLoader
    assert checkpoint is minigrad.utils.checkpoint.checkpoint
    assert jacobian is minigrad.autograd.functional.jacobian
