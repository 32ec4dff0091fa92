"""The extension of the package remede with training on NVIDIA GPUs. Importing remede takes it by itself."""
import importlib.metadata
import pathlib

__version__ = importlib.metadata.version("remede-cuda")
extension = str(next(pathlib.Path(__file__).resolve().parent.glob("_native*")))
