"""Drives Chromium over its debugging pipe: opens a page in a window of a size and a colour scheme."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 60


class Unavailable(Exception):
    """There is no Chromium; the text is the reason."""


def find_chromium():
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        raise Unavailable("no chromium here: deploy/install-dependencies.sh full installs it")
    return found


class Chromium:
    """One browser without a window; `with Chromium() as browser: browser.open(...)`."""

    def __init__(self):
        self.program = find_chromium()
        self.folder = tempfile.TemporaryDirectory()
        self.number = 0
        self.buffer = b""
        self.waiting = []

    def __enter__(self):
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        # The browser takes commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(
            [
                "sh",
                "-c",
                f'exec "$@" 3<&{to_read} 4>&{to_write}',
                "sh",
                self.program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.folder.name}",
            ],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.page(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, EOFError, TimeoutError):
            self.process.kill()
        os.close(self.commands)
        self.process.wait()
        os.close(self.answers)
        self.folder.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("chromium does not answer")
            chunk = os.read(self.answers, 1 << 20)
            if not chunk:
                raise EOFError("chromium has ended")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def _call(self, message):
        self.number += 1
        message["id"] = self.number
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{message['method']}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.waiting.append(answer)

    def call(self, method, **parameters):
        return self._call({"method": method, "params": parameters})

    def page(self, method, **parameters):
        return self._call({"method": method, "params": parameters, "sessionId": self.session})

    def open(self, path, width=1280, height=900, scheme="light"):
        """Shows a file, or an address; what it complains about and asks the network for is in `events` then."""
        self.page(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.page(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.waiting.clear()
        self.page("Page.navigate", url=path if "://" in path else "file://" + os.path.abspath(path))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(event["method"] == "Page.loadEventFired" for event in self.waiting):
            answer = self._receive(deadline)
            if "method" in answer:
                self.waiting.append(answer)

    def events(self, method):
        return [event["params"] for event in self.waiting if event["method"] == method]

    def evaluate(self, expression):
        """The value of an expression in the page; a promise's, once it is settled."""
        answer = self.page(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            self.page(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                text="\r" if key == "Enter" and kind == "keyDown" else "",
            )

    def picture(self, path, whole=True):
        """A PNG of the page, all of it or what the window shows."""
        clip = {}
        if whole:
            size = self.page("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "scale": 1, **size}}
            clip["clip"].update(width=size["width"], height=min(size["height"], 12000))
        shot = self.page("Page.captureScreenshot", captureBeyondViewport=whole, **clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.page("Page.printToPDF", printBackground=True)["data"])
