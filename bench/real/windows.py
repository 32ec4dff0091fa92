"""What a model without memory is given instead of one: the last steps, or moving averages, of every feature."""
import numpy as np

LAGS = [0, 3, 10, 30, 100]
# Shares by which an average moves to the new value at a step.
SPEEDS = [[.5, .2], [.3, .1, .03, .01], [.2, .05, .02, .005], [.5, .25, .12, .06, .03, .015]]
MOST_COLUMNS = 500  # wider tables are not tried: a cell is to take a minute


def with_lags(x, lags):
    """(steps, features * (lags + 1)); steps before the first are missing."""
    steps, features = x.shape
    out = np.full((steps, features * (lags + 1)), np.nan, np.float32)
    for lag in range(min(lags, steps - 1) + 1):
        out[lag:, lag * features:(lag + 1) * features] = x[:steps - lag]
    return out


def with_averages(x, speeds):
    """(steps, features * (speeds + 1)); averages start at the first value."""
    averages = np.empty((len(x), len(speeds), x.shape[1]), np.float32)
    now = np.repeat(x[:1].astype(float), len(speeds), axis=0)
    share = np.array(speeds)[:, None]
    for t, values in enumerate(x):
        now += share * (values - now)
        averages[t] = now
    return np.concatenate([x, averages.reshape(len(x), -1)], axis=1)


def rows(part, kind, setting):
    """A row for every step with a target."""
    widen = with_lags if kind == "lags" else with_averages
    asked, out, at = part.asked(), [], 0
    for x in part.x:
        wanted = asked[at:at + len(x)]
        at += len(x)
        if wanted.any():
            out.append(widen(x, setting)[wanted])
    return np.concatenate(out)


def settings(kind, training):
    """What is tried on validation data."""
    if kind == "averages":
        return SPEEDS
    features, longest = training.x[0].shape[1], max(len(x) for x in training.x)
    fitting = [lags for lags in LAGS if features * (lags + 1) <= MOST_COLUMNS]
    return list(dict.fromkeys(min(lags, longest - 1) for lags in fitting))
