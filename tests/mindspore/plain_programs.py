"""Programs of plain MindSpore as users write them: what of them is recorded, and that they stay as they are."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops

X = np.random.RandomState(6).randn(4, 8).astype(np.float32)


def test_functions_of_submodules_and_of_sparse_tensors(collect):
    def program():
        x = Tensor(X[:2, :2])
        ops.approximate_equal(x, x)
        mint.special.round(x)
        2.0 / x
        x /= 2.0
        csr = x.to_csr()
        ops.csr_abs(csr)
        Tensor.from_numpy(X)

    dump = collect(program, level="L1")
    assert dump.names == [f"{name}.0.forward" for name in (
        "Functional.approximate_equal", "Mint.round", "Tensor.__rtruediv__", "Tensor.__itruediv__",
        "Tensor.to_csr", "Functional.csr_abs", "Tensor.from_numpy")]
    assert dump.data["Functional.csr_abs.0.forward"]["output"][0]["values"]["Min"] >= 0


@pytest.mark.parametrize("make", [
    lambda net: nn.Adam(net.trainable_params()),
    lambda net: ms.experimental.optim.Adam(net.trainable_params()),
    lambda net: mint.optim.SGD(net.trainable_params(), 0.5),
], ids=["nn", "experimental", "mint"])
def test_group_of_the_optimizer(collect, make):
    net = nn.SequentialCell(nn.Dense(8, 2))
    optimizer = make(net)
    step = ms.value_and_grad(lambda x: mint.sum(net(x)), None, optimizer.parameters)

    def program():
        _, gradients = step(Tensor(X))
        optimizer(gradients)
        mint.exp(Tensor(X))

    dump = collect(program, net, level="mix")
    assert dump.construct["optimizer"] is None and "optimizer" not in dump.data
    assert dump.construct["Mint.exp.0.forward"] is None
