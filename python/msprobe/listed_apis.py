"""support_wrap_ops.yaml, and which names a risk level takes."""

import functools
import os
from typing import Dict

from msprobe.errors import MsprobeError
from msprobe.notices import warn

# They move, shape or convert values but compute none.
LAYOUT_APIS = frozenset(
    """_reshape_alias as_strided atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to
    byte bool char chunk clone concat concatenate cat column_stack contiguous copy_ detach detach_
    diagonal double dsplit dstack empty empty_like expand expand_as fill_ flatten float full
    full_like half hsplit hstack int long moveaxis movedim narrow narrow_copy new_empty new_full
    new_ones new_zeros numpy ones ones_like permute ravel real repeat reshape reshape_as resize_
    resize_as_ resolve_conj resolve_neg row_stack select short split split_with_sizes squeeze
    squeeze_ stack stride swapaxes swapdims swapdims_ t t_ tensor_split tile to transpose
    transpose_ type type_as unbind unflatten unsafe_chunk unsafe_split unsafe_split_with_sizes
    unsqueeze unsqueeze_ view view_as vsplit vstack zero_ zeros zeros_like bfloat16 cfloat
    __setitem__ __bool__ arange""".split()
)
# What most of a model's arithmetic goes through.
CORE_APIS = frozenset(
    """linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    convolution matmul __matmul__ __rmatmul__ mm bmm addmm addbmm baddbmm addmv mv dot einsum
    tensordot scaled_dot_product_attention multi_head_attention_forward softmax log_softmax
    layer_norm rms_norm batch_norm group_norm instance_norm embedding embedding_bag cross_entropy
    nll_loss mse_loss binary_cross_entropy binary_cross_entropy_with_logits lstm gru gru_cell
    lstm_cell""".split()
)


def takes_api(risk_level: str, api: str) -> bool:
    if risk_level == "ALL":
        return True
    name = api.rpartition(".")[2]
    return name in CORE_APIS if risk_level == "CORE" else name not in LAYOUT_APIS


@functools.lru_cache(maxsize=None)
def read_api_lists(path: str) -> Dict[str, Dict[str, bool]]:
    """The categories of support_wrap_ops.yaml with their names; True: it is no wonder when the name
    does not exist ("# some versions"). Only lists of names are understood; other lines are named in
    a warning and left out."""
    lists: Dict[str, Dict[str, bool]] = {}
    current = None
    odd = []
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise MsprobeError(
            f"the list of APIs cannot be read ({error.strerror}), install msprobe again: {path}"
        ) from None
    for number, line in enumerate(lines, 1):
        text, _, comment = line.partition("#")
        text = text.rstrip()
        if not text:
            continue
        if not text[0].isspace() and text.endswith(":"):
            current = lists.setdefault(text[:-1].strip("\"'"), {})
        elif text.lstrip().startswith("- ") and current is not None:
            current[text.lstrip()[2:].strip().strip("\"'")] = comment.strip() == "some versions"
        else:
            odd.append(number)
    if odd:
        warn(f"line {odd[0]} is neither a category nor a name, it is left out: {os.path.abspath(path)}")
    return lists
