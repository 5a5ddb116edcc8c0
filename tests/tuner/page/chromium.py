"""Controls Debian's Chromium with the DevTools protocol through two pipes. Needs no port and no driver program."""
import base64
import json
import os
import subprocess
import tempfile
import time


class Chromium:
    """A headless browser with one page. `errors` collects the errors of the page's console."""

    def __init__(self):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._profile = tempfile.TemporaryDirectory(prefix="smemtune-chromium-", ignore_cleanup_errors=True)

        def pipes():  # the browser reads commands from file descriptor 3 and writes answers to 4
            os.dup2(os.dup(to_browser), 10)
            os.dup2(os.dup(from_browser), 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        self._process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--force-device-scale-factor=1",
             "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}", "about:blank"],
            close_fds=False, preexec_fn=pipes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session = None
        self.errors = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self._out)  # the browser ends when its command pipe is closed
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        self._profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _receive(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(each.get("value", each.get("description"))) for each in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])

    def call(self, method, **params):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") != number:
                self._note(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def script(self, text):
        """Returns the value of a JavaScript expression. If the value is a promise, waits for its result."""
        result = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", text))
        return result["result"].get("value")

    def show(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url, done):
        """Loads a page and waits until the JavaScript expression `done` is true in the page."""
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && ({done})")

    def wait(self, condition, seconds=600):
        end = time.monotonic() + seconds
        while True:
            try:
                if self.script(condition):
                    return
            except RuntimeError:  # a script fails while the browser loads another page
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s in vain for {condition}")
            time.sleep(0.02)

    def accessible(self, role, name):
        """Returns the elements with this role whose accessible name begins with `name`, as a screen reader finds them."""
        root = self.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        nodes = self.call("Accessibility.queryAXTree", nodeId=root, role=role)["nodes"]
        return [each for each in nodes if not each.get("ignored") and each.get("name", {}).get("value", "").startswith(name)]

    def click(self, role, name):
        """Clicks with the mouse on the middle of the first element with this role and accessible name."""
        node = self.accessible(role, name)[0]["backendDOMNodeId"]
        self.call("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
        x0, y0, _, _, x1, y1, _, _ = self.call("DOM.getBoxModel", backendNodeId=node)["model"]["content"]
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=(x0 + x1) / 2, y=(y0 + y1) / 2, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 15000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
