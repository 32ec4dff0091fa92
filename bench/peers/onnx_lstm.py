"""One step of an LSTM of 32 and 16 units with a linear head in ONNX Runtime, with IO binding, beside an identity graph in the
same session settings: what is left after subtracting the latter is the network, not the call."""
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def weights(rng, name, *shape):
    return numpy_helper.from_array(rng.uniform(-0.2, 0.2, shape).astype(np.float32), name)


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def lstm_graph(n_x=1, n_y=3):
    rng, nodes, stored, inputs, outputs, below, width = np.random.default_rng(1), [], [], [], [], "x", n_x
    for i, units in enumerate((32, 16)):
        stored += [weights(rng, f"W{i}", 1, 4 * units, width), weights(rng, f"R{i}", 1, 4 * units, units), weights(rng, f"B{i}", 1, 8 * units)]
        nodes.append(helper.make_node("LSTM", [below, f"W{i}", f"R{i}", f"B{i}", "", f"h{i}", f"c{i}"], ["", f"h{i}_next", f"c{i}_next"],
                                      hidden_size=units))
        inputs += [value(f"h{i}", 1, 1, units), value(f"c{i}", 1, 1, units)]
        outputs += [value(f"h{i}_next", 1, 1, units), value(f"c{i}_next", 1, 1, units)]
        below, width = f"h{i}_next", units
    stored += [numpy_helper.from_array(np.array([1, 16]), "flat"), weights(rng, "H", 16, n_y), weights(rng, "b", n_y)]
    nodes += [helper.make_node("Reshape", [below, "flat"], ["top"]), helper.make_node("Gemm", ["top", "H", "b"], ["logits"]),
              helper.make_node("Softmax", ["logits"], ["y"], axis=-1)]
    return helper.make_graph(nodes, "lstm", [value("x", 1, 1, n_x)] + inputs, [value("y", 1, n_y)] + outputs, stored)


def identity_graph(n_x=1):
    return helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", [value("x", 1, 1, n_x)], [value("y", 1, 1, n_x)])


class Step:
    """run() is one call on bound arrays; the state is fed back by binding outputs as the next inputs."""

    def __init__(self, graph):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # one step is too small to share
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        shapes = {v.name: v.shape for v in self.session.get_inputs() + self.session.get_outputs()}
        held = {k: onnxruntime.OrtValue.ortvalue_from_numpy(np.full(s, 0.1, np.float32)) for k, s in shapes.items()}
        self.bindings = []  # two, in turn: the state that one writes the other reads
        for turn in (0, 1):
            binding = self.session.io_binding()
            for name in shapes:
                state, base = name != "x" and name != "y", name.removesuffix("_next")
                if name in [v.name for v in self.session.get_inputs()]:
                    binding.bind_ortvalue_input(name, held[base + "_next"] if state and turn else held[name])
                else:
                    binding.bind_ortvalue_output(name, held[base] if state and turn else held[name])
            self.bindings.append(binding)
        self.turn = 0

    def run(self):
        self.session.run_with_iobinding(self.bindings[self.turn])
        self.turn = 1 - self.turn
