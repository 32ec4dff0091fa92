"""Chromium without a window, driven by the DevTools protocol over a pipe: nothing is needed beside Python and Chromium."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class BrowserError(Exception):
    pass


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Chromium:
    """One browser. Messages are JSON, each ended by a zero byte, on file descriptors 3 (to it) and 4 (from it)."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="remede-browser-")
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()
        flags = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "--no-first-run",
                 "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses its sandbox to root, as in a container
        command = ["bash", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}', path, *flags]
        self.process = subprocess.Popen(command, pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.events = []

    def close(self):
        try:
            self.call("Browser.close", timeout=5)
            self.process.wait(timeout=10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, parameters=None, session=None, timeout=60):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_write, data):]
        end = time.monotonic() + timeout
        while True:
            answer = self.read(end)
            if answer is None:
                raise BrowserError(f"{method}: expected an answer within {timeout} s, got none")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.events.append(answer)

    def read(self, end):
        """The next message, or None when none comes until the end."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_read], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            part = os.read(self.from_read, 1 << 20)
            if not part:
                raise BrowserError("expected Chromium to go on, but it ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def page(self, width=1280, height=800, dark=False, scale=1, touch=False):
        return Page(self, width, height, dark, scale, touch)


class Page:
    """A tab that notes every request and every complaint of the page."""

    def __init__(self, browser, width, height, dark, scale, touch):
        self.browser = browser
        self.target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = browser.call("Target.attachToTarget", {"targetId": self.target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch})
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def call(self, method, parameters=None, timeout=60):
        return self.browser.call(method, parameters, self.session, timeout)

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def open(self, path, fragment=""):
        self.url = "file://" + os.path.abspath(path)
        self.call("Page.navigate", {"url": self.url + fragment})
        self.wait("document.readyState === 'complete' && Boolean(window.remede)")

    def evaluate(self, expression, timeout=60):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True}, timeout)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details.get("text"))
        return result["result"].get("value")

    def wait(self, condition, timeout=30):
        end = time.monotonic() + timeout
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise BrowserError(f"expected within {timeout} s: {condition}")
            time.sleep(0.02)

    def key(self, key, modifiers=0):
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "modifiers": modifiers, **(text if kind == "keyDown" else {})})

    def mouse(self, kind, x, y, buttons=0):
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left" if kind != "mouseMoved" else "none",
                                               "buttons": buttons, "clickCount": 1 if kind != "mouseMoved" else 0})

    def click(self, selector):
        x, y = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y)

    def middle(self, selector):
        box = self.evaluate(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                            " return [b.left + b.width / 2, b.top + b.height / 2]; })()")
        return box

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """Requests other than for the page itself, errors and warnings, since the last call."""
        found, left = [], []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                left.append(event)
                continue
            method, details = event["method"], event["params"]
            if method == "Network.requestWillBeSent":
                url = details["request"]["url"]
                if url.split("#")[0] != self.url and not url.startswith("data:"):
                    found.append(f"request: {url}")
            elif method == "Runtime.exceptionThrown":
                found.append("exception: " + str(details["exceptionDetails"].get("exception", {}).get("description")))
            elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
                found.append(f"console: {[argument.get('value') for argument in details['args']]}")
            elif method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {details['entry']['text']} {details['entry'].get('url', '')}")
        self.browser.events = left
        return found
