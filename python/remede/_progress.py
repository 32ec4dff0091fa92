"""Progress on the screen: tqdm where it is installed (in notebooks too), else one line written over itself."""
from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ._native import Progress


def describe(progress: Progress) -> str:
    text = f"{progress.phase}: loss {progress.validation_loss:.4g}, best {progress.best_loss:.4g}"
    return text + (f", accuracy {progress.best_accuracy:.4f}" if progress.best_accuracy > 0 else "")


@contextmanager
def progress_bar(verbose: int, callbacks: list[Callable[[Progress], Any]]) -> Iterator[list[Callable[[Progress], Any]]]:
    """The callbacks, and one more that shows progress where that is wanted."""
    if not verbose:
        yield callbacks
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        def show_line(progress: Progress) -> None:
            print(f"\r{progress.done:4.0%}  {describe(progress)}\033[K", end="", file=sys.stderr, flush=True)

        yield [*callbacks, show_line]
        print(file=sys.stderr)
        return
    with tqdm(total=1000, desc="remede", bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining} {postfix}") as bar:
        def show(progress: Progress) -> None:
            bar.set_postfix_str(describe(progress), refresh=False)
            bar.update(max(0, round(1000 * progress.done) - bar.n))

        yield [*callbacks, show]
