"""Forecast: the next value of a noisy oscillation, one step ahead, from the current value only: the tree must remember the rest."""
import numpy as np

import remede

random = np.random.default_rng(2)


def series(steps=60):
    phase, speed = random.uniform(0, 6), random.uniform(0.3, 0.5)
    return np.sin(phase + speed * np.arange(steps)) + random.normal(0, 0.05, steps)


values = [series() for _ in range(150)]
X = [v[:-1, None] for v in values]
y = [v[1:] for v in values]

model = remede.RecurrentTreeRegressor(starts=4).fit(X[:120], y[:120])
truth, now = np.concatenate(y[120:]), np.concatenate(X[120:])[:, 0]
said = np.concatenate(model.predict(X[120:]))
print(f"root mean square error: {np.sqrt(np.mean((said - truth) ** 2)):.3f}, as it was one step before: {np.sqrt(np.mean((now - truth) ** 2)):.3f}")

stream = model.stream()  # a longer forecast: feed the forecasts back in
for value in X[120][:40]:
    ahead = stream.step(value)
path = [ahead]
for _ in range(9):
    path.append(stream.step(path[-1]))
print("ten steps ahead:", np.round(path, 2), "\nas it came:     ", np.round(y[120][39:49], 2))
