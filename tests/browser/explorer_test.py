"""The explorer in Chromium. Pages and the library's answers come from browser_pages (pages.cpp)."""

import glob
import http.client
import json
import os
import subprocess
import time
import unittest

import chromium

BROWSER = None
SETUP = {}


def setup(path, folder, program):
    SETUP.update(path=path, folder=folder, program=os.path.abspath(program))


def setUpModule():
    global BROWSER
    BROWSER = chromium.Chromium(SETUP["path"])


def tearDownModule():
    BROWSER.close()


# Leaves and bits of the answers of every sequence as the page computes them, by id.
ANSWERS = """(() => {
  const all = {};
  for (const s of remede.data.sequences) {
    const run = remede.data.original(s), leaves = [];
    const words = new Uint32Array(run.output.buffer, run.output.byteOffset, run.output.length);
    const bits = Array.from(words, (w, i) => Number.isNaN(run.output[i]) ? 0x7fc00000 : w);
    for (let t = 0; t < s.steps; ++t) for (const tree of run.trees) leaves.push(tree.leaf[t]);
    all[s.id] = { leaves, bits, before: s.before ?? 0, steps: s.steps };
  }
  return all;
})()"""


# The same of the cases of law_cases.txt, which are given as text: [leaves, bits] of each.
LAW_CASES = """(() => {
  const { compileModel, runModel, stateSize } = remede.compute;
  return JSON.parse(%s).map((one) => {
    const model = compileModel(one.model, remede.page.arithmetic);
    const x = Float32Array.from(one.x, (v) => (v === null ? NaN : v));
    const run = runModel(model, x, one.steps, new Float32Array(stateSize(model)));
    const words = new Uint32Array(run.output.buffer, run.output.byteOffset, run.output.length);
    return [run.trees.flatMap((tree) => [...tree.leaf]), Array.from(words, (w, i) => Number.isNaN(run.output[i]) ? 0x7fc00000 : w)];
  });
})()"""


class ExplorerTest(unittest.TestCase):
    def open(self, name, **options):
        fragment = options.pop("fragment", "")
        page = BROWSER.page(**options)
        self.addCleanup(page.close)
        page.open(os.path.join(SETUP["folder"], name + ".html"), fragment)
        self.addCleanup(lambda: self.assertEqual(page.complaints(), [], name))
        return page

    def test_100_models_whose_cells_have_laws_give_the_library_s_bits(self):
        with open(os.path.join(SETUP["folder"], "law_cases.txt"), encoding="utf-8") as file:
            text = file.read()
        cases, page = json.loads(text), self.open("paper")
        answers = page.evaluate(LAW_CASES % json.dumps(text))
        self.assertEqual(len(cases), 100)
        self.assertGreater(sum(case["steps"] for case in cases), 2000)
        for number, (case, (leaves, bits)) in enumerate(zip(cases, answers)):
            self.assertEqual(leaves, case["leaves"], f"case {number}")
            self.assertEqual(bits, case["bits"], f"case {number}")

    def test_answers_are_the_library_s_on_every_step(self):
        pages = sorted(glob.glob(os.path.join(SETUP["folder"], "*.json")))
        self.assertGreaterEqual(len(pages), 36)
        page = BROWSER.page()
        self.addCleanup(page.close)
        steps = 0
        for path in pages:
            name = os.path.basename(path)[:-5]
            page.open(path[:-5] + ".html")
            with open(path, encoding="utf-8") as file:
                expected = json.load(file)
            answers = page.evaluate(ANSWERS)
            shown = sum(answer["steps"] for answer in answers.values())
            self.assertGreater(shown, 0, name)
            for number, answer in answers.items():
                trees = len(answer["leaves"]) // answer["steps"]
                outputs = len(answer["bits"]) // answer["steps"]
                first, end = answer["before"], answer["before"] + answer["steps"]
                self.assertEqual(answer["leaves"], expected[number]["leaves"][first * trees:end * trees], f"{name}, {number}")
                self.assertEqual(answer["bits"], expected[number]["bits"][first * outputs:end * outputs], f"{name}, {number}")
            page.wait("['good', 'bad'].includes(document.querySelector('#agreement').dataset.state)")
            self.assertEqual(page.evaluate("document.querySelector('#agreement').dataset.state"), "good", name)
            self.assertEqual(page.complaints(), [], name)
            steps += shown
        print(f"({len(pages)} models, {steps} steps) ", end="", flush=True)

    def test_a_wrong_library_would_be_noticed(self):
        with open(os.path.join(SETUP["folder"], "paper.html"), encoding="utf-8") as file:
            text = file.read()
        path = os.path.join(SETUP["folder"], "spoilt.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"threshold": 0.5,', '"threshold": 0.7,').replace('"threshold": 0.13,', '"threshold": -0.13,'))
        page = BROWSER.page()
        self.addCleanup(page.close)
        page.open(path)
        os.remove(path)
        page.wait("document.querySelector('#agreement').dataset.state === 'bad'")

    def test_plays_to_the_end_and_pauses(self):
        page = self.open("paper", fragment="#1.1")
        page.evaluate("document.querySelector('#speed').value = 30")
        page.click("#play")
        self.assertTrue(page.evaluate("document.body.classList.contains('is-playing')"))
        page.wait("remede.step === remede.sequence.steps - 1")
        page.wait("!document.body.classList.contains('is-playing')")
        self.assertEqual(page.evaluate("Number(document.querySelector('#time').value)"), page.evaluate("remede.step"))

    def test_lights_the_path_of_every_step(self):
        page = self.open("paper", fragment="#1.1")
        lit = """[...document.querySelectorAll('#tree g.node.lit')].map(g => Number(g.dataset.node)).sort().join()"""
        on_path = "[...remede.path].sort().join()"
        for _ in range(page.evaluate("remede.sequence.steps")):
            self.assertEqual(page.evaluate(lit), page.evaluate(on_path))
            self.assertEqual(page.evaluate("document.querySelectorAll('#tree g.edge.lit').length"), page.evaluate("remede.path.length - 1"))
            self.assertEqual(page.evaluate("document.querySelectorAll('#outline .row.lit').length"), page.evaluate("remede.path.length"))
            page.key("ArrowRight")

    def test_jumps_to_mistakes_by_button_and_key(self):
        page = self.open("paper")
        wrong = "remede.data.label[remede.sequence.first + remede.step] !== argMax(remede.run.output, remede.step * 3, 3)"
        wrong = wrong.replace("argMax(remede.run.output, remede.step * 3, 3)",
                              "[0, 1, 2].reduce((best, o) => remede.run.output[remede.step * 3 + best] < remede.run.output[remede.step * 3 + o] ? o : best, 0)")
        self.assertTrue(page.evaluate("remede.data.sequences[0].marked > 0"), "the worst sequence comes first")
        seen = {(page.evaluate("remede.number"), page.evaluate("remede.step"))}
        for how in (lambda: page.click("#after"), lambda: page.key("n"), lambda: page.click("#after")):
            how()
            self.assertTrue(page.evaluate(wrong))
            seen.add((page.evaluate("remede.number"), page.evaluate("remede.step")))
        self.assertEqual(len(seen), 4)
        page.key("p")
        self.assertTrue(page.evaluate(wrong))
        self.assertIn((page.evaluate("remede.number"), page.evaluate("remede.step")), seen)
        self.assertEqual(page.evaluate("document.querySelector('#step .verdict').textContent"), "✗ mistake")

    def test_edits_an_input_and_takes_it_back(self):
        page = self.open("paper")
        page.evaluate("remede.select(remede.data.sequences.findIndex(s => s.marked === 0), 0)")
        before = page.evaluate("remede.run.trees[0].leaf.join()")
        self.assertGreater(page.evaluate("remede.run.x[0]"), -0.6)
        page.click("#edit")
        page.evaluate("document.querySelector('#step [data-input]').select()")
        page.type("1")
        self.assertEqual(page.evaluate("remede.run.x[0]"), 1)
        after = page.evaluate("remede.run.trees[0].leaf.join()")
        self.assertNotEqual(after, before, "a trigger at once must change the path")
        self.assertEqual(page.evaluate("document.querySelectorAll('#tree g.node.lit').length"), page.evaluate("remede.path.length"))
        self.assertIn("1 value changed", page.evaluate("document.querySelector('#lanehint').textContent"))
        page.evaluate("document.querySelector('#step [data-input]').select()")
        page.key("Delete")
        page.type(" ")
        self.assertTrue(page.evaluate("Number.isNaN(remede.run.x[0])"), "an empty field is a missing value")
        page.type("x")
        self.assertTrue(page.evaluate("document.querySelector('#step [data-input]').classList.contains('bad')"))
        page.click("#takeback")
        self.assertEqual(page.evaluate("remede.run.trees[0].leaf.join()"), before)

    def test_edits_by_dragging_in_the_traces(self):
        page = self.open("paper")
        page.evaluate("remede.select(remede.data.sequences.findIndex(s => s.marked === 0), 0)")
        page.click("#edit")
        left, top, width = page.evaluate("(() => { const b = document.querySelector('#cursor').getBoundingClientRect(); return [b.left, b.top, remede.traces.right - remede.traces.left]; })()")
        inner = page.evaluate("remede.traces.left")
        steps = page.evaluate("remede.sequence.steps")
        x, y = left + inner + 2.5 * width / steps, top + 27
        page.mouse("mouseMoved", x, y)
        page.mouse("mousePressed", x, y, 1)
        page.mouse("mouseMoved", x, y - 15, 1)
        page.mouse("mouseReleased", x, y - 15)
        self.assertEqual(page.evaluate("remede.step"), 2)
        self.assertTrue(page.evaluate("remede.data.isEdited(remede.sequence, 2, 0)"))
        page.key("r")
        self.assertFalse(page.evaluate("remede.data.isEdited(remede.sequence, 2, 0)"))

    def test_keys(self):
        page = self.open("paper", fragment="#1.1")
        page.key("End")
        self.assertEqual(page.evaluate("remede.step"), page.evaluate("remede.sequence.steps - 1"))
        page.key("w")  # the trigger reads what the first step wrote
        self.assertLess(page.evaluate("remede.step"), page.evaluate("remede.sequence.steps - 1"))
        page.key("Home")
        self.assertEqual(page.evaluate("remede.step"), 0)
        page.key("ArrowDown")
        self.assertEqual(page.evaluate("remede.number"), 1)
        page.key("v")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.view')].filter(v => !v.hidden).map(v => v.id).join()"), "outline")
        page.key(" ")
        self.assertTrue(page.evaluate("document.body.classList.contains('is-playing')"))
        page.key(" ")
        dark = "getComputedStyle(document.body).getPropertyValue('--rm-paper')"
        light = page.evaluate(dark)
        page.key("d")
        self.assertNotEqual(page.evaluate(dark), light)
        page.key("?")
        self.assertTrue(page.evaluate("document.querySelector('#keys').open"))

    def test_hover_gives_exact_numbers(self):
        page = self.open("paper", fragment="#1.1")
        left, top, inner = page.evaluate("(() => { const b = document.querySelector('#cursor').getBoundingClientRect(); return [b.left, b.top, remede.traces.left]; })()")
        page.mouse("mouseMoved", left + inner + 5, top + 27)
        text = page.evaluate("document.querySelector('#tip').textContent")
        number = text.split("x1")[1].replace("−", "-")
        self.assertEqual(page.evaluate(f"Math.fround({number}) === remede.run.x[0]"), True, text)
        x, y = page.middle("#tree g.node[data-node='0']")
        page.mouse("mouseMoved", x, y)
        self.assertIn("threshold", page.evaluate("document.querySelector('#tip').textContent"))

    def test_forests_show_each_tree(self):
        page = self.open("form_01")
        self.assertEqual(page.evaluate("remede.model.trees.length"), 2)
        page.evaluate("remede.showTree(1)")
        self.assertEqual(page.evaluate("document.querySelectorAll('#outline .row.lit').length > 0"), True)

    def test_a_long_sequence_starts_with_its_memory(self):
        page = self.open("long")
        self.assertGreater(page.evaluate("remede.sequence.before"), 2000)
        self.assertEqual(page.evaluate("remede.sequence.steps"), 400)
        self.assertTrue(page.evaluate("remede.run.trees[0].memory.slice(0, 2).some(m => m !== 0)"))

    def test_names_are_text_only(self):
        page = self.open("hostile")
        self.assertEqual(page.evaluate("document.querySelectorAll('img, b b, #list i i, main script').length"), 0)
        self.assertIn("</script>", page.evaluate("document.querySelector('#list .id').textContent"))
        page.evaluate("remede.showView('outline')")
        page.key("n")

    def test_large_data_stay_quick(self):
        begin = time.monotonic()
        page = self.open("large")
        opened = time.monotonic() - begin
        self.assertEqual(page.evaluate("remede.data.sequences.length"), 200)
        per_step = page.evaluate("""(() => { const begin = performance.now(); let n = 0;
            for (let s = 0; s < 4; ++s) { remede.select(s, 0); for (let t = 0; t < 500; t += 10, ++n) remede.goTo(t); }
            return (performance.now() - begin) / n; })()""")
        print(f"(opened in {opened:.2f} s, {per_step:.1f} ms per step) ", end="", flush=True)
        self.assertLess(opened, 10)
        self.assertLess(per_step, 50)

    def test_phone_has_no_sideways_scroll(self):
        for name in ("paper", "large", "form_03"):
            page = self.open(name, width=390, height=844, scale=2, touch=True)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390, name)
            self.assertTrue(page.evaluate("document.querySelector('.player').getBoundingClientRect().bottom <= innerHeight + 1"))
            self.assertTrue(page.evaluate("document.querySelector('#play').getBoundingClientRect().height >= 40"))


class LivePageTest(unittest.TestCase):
    """The page of `remede serve`, with rows that come while it is open."""

    def test_live_traces(self):
        if not os.path.exists(os.path.join(os.path.dirname(SETUP["program"]), "remede-serve")):
            self.skipTest("remede-serve is not built")
        run = lambda *words: subprocess.run([SETUP["program"], *words], cwd=SETUP["folder"], check=True, capture_output=True)
        run("generate", "fixed-delay", "--sequences", "40", "-o", "live.csv", "-q")
        run("train", "live.csv", "-o", "live.json", "--recipe", "paper", "--updates", "40", "-q")
        server = subprocess.Popen([SETUP["program"], "serve", "live.json", "--port", "0"], cwd=SETUP["folder"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        port = int(server.stderr.readline().rsplit(":", 1)[1].split(";")[0])
        page = BROWSER.page()
        self.addCleanup(page.close)
        page.url = f"http://127.0.0.1:{port}/"
        page.call("Page.navigate", {"url": page.url})
        page.wait("document.querySelectorAll('.lane').length > 3")
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for step in range(30):
            for name in ("a", "<b>"):
                row = {"sequence": name, "step": step, "x1": None if step == 9 else step % 5 / 5}
                connection.request("POST", "/predict", json.dumps(row), {"Content-Type": "application/json"})
                self.assertEqual(connection.getresponse().read()[:1], b"{")
        connection.close()
        page.wait("document.getElementById('status').textContent.startsWith('60 rows')")
        page.wait("document.getElementById('sequence').options.length === 3")
        self.assertEqual(page.evaluate("[...document.getElementById('sequence').options].slice(1).map(o => o.textContent)"), ["<b>", "a"])
        self.assertEqual(page.evaluate("document.querySelector('.input output').textContent"), "0.8")
        drawn = page.evaluate("document.querySelector('.input path').getAttribute('d')")
        self.assertEqual(drawn.count("M"), 2, "a missing value interrupts the line")
        self.assertEqual(drawn.count("M") + drawn.count("L"), 29)
        self.assertEqual([c for c in page.complaints() if not c.startswith(f"request: {page.url}")], [])
