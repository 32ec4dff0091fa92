"""Where the package remede-cuda is installed, its extension takes the place of this package's own: the same, with training on GPUs."""
from __future__ import annotations

import importlib.util
import sys
import warnings


def take_extension() -> None:
    """Loads it as remede._native. One of another version is left alone, with a warning."""
    if importlib.util.find_spec("remede_cuda") is None:
        return
    from importlib.metadata import version  # here, since it takes long

    import remede_cuda  # type: ignore[import-not-found,unused-ignore]

    own = version("remede")
    if remede_cuda.__version__ != own:
        warnings.warn(f"remede-cuda: expected version {own}, which is that of remede, got {remede_cuda.__version__}: training on GPUs is off",
                      RuntimeWarning, stacklevel=3)
        return
    spec = importlib.util.spec_from_file_location("remede._native", remede_cuda.extension)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["remede._native"] = module
