"""What a method hands back, and clocks. Seconds of the processor count beside those of the clock: other programs cost only the latter."""
import dataclasses
import resource
import time


def cpu_seconds():
    """Of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


@dataclasses.dataclass
class Fitted:
    predict: object    # Part -> answers at the steps that have a target
    nodes: int         # None for networks
    numbers: int       # stored numbers
    seconds: float     # of training, by the clock
    cpu: float         # of training, of the processor; None where a GPU did the work
    validation: float  # score
    step_ns: float = None  # where the method measures it itself


def time_per_step(predict, part):
    """Nanoseconds of the processor per step of a part's sequences, windows included: the best of three."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        predict(part)
        best = min(best, time.process_time() - began)
    return best / part.steps() * 1e9
