"""What the dense peers share: the forms of a leaf as data, and random parameters."""
import numpy as np

PAPER = dict(write_rule="add", write_bias=False, write_reads="inputs", leaf_output="constant", mix="parameters",
             split_gradient="sigmoid", slope=1.0, index_gradient="softmax")
DEFAULT = dict(PAPER, split_gradient="softsign", slope=4.0)  # the paper's leaf, the split gradient of the default recipe
RICHEST = dict(DEFAULT, write_rule="blend", write_bias=True, write_reads="inputs and memory", leaf_output="linear")


def random_parameters(rng, depth, n_x, n_m, n_y, form):
    """Drawn as remede/executor/workload.h draws them."""
    nodes, leaves, n_v = 2 ** depth - 1, 2 ** depth, n_x + n_m
    n_w = n_v if form["write_reads"] == "inputs and memory" else n_x
    shapes = dict(index=(nodes, n_v), threshold=(nodes, n_v), output=(leaves, n_y), gate=(leaves, n_m), write=(leaves, n_m, n_w))
    if form["write_bias"]:
        shapes["bias"] = (leaves, n_m)
    if form["write_rule"] == "blend":
        shapes["rate"] = (leaves, n_m)
    if form["leaf_output"] == "linear":
        shapes["linear"] = (leaves, n_y, n_v)
    scale = dict(threshold=0.5, write=2.0, rate=3.0)
    return {k: rng.uniform(-scale.get(k, 1.0), scale.get(k, 1.0), s).astype(np.float32) for k, s in shapes.items()}
