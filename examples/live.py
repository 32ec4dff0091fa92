"""Live: many sequences at once, each a stream with a few bytes of memory that can be put away and taken out again."""
import time

import remede

X, y = remede.generate("variable-delay", sequences=3000)
model = remede.RecurrentTreeClassifier().fit(X, y)

# Messages of many devices come in mixed; each device has its stream.
streams = {}
right = answers = 0
begin = time.perf_counter()
for step in range(9):
    for device in range(500):
        stream = streams.setdefault(device, model.stream())
        right += stream.step(X[device][step]) == y[device][step]
        answers += 1
print(f"{answers} steps, {right / answers:.4f} right, {(time.perf_counter() - begin) / answers * 1e6:.2f} microseconds a step")

# The state is data: save it, go on elsewhere.
state = streams[0].state
other = model.stream()
other.state = state
print("state:", state, "goes on with:", other.step([1.0]))
