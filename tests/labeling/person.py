"""A person at the page of a labeling session, who knows the true names."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter

DONE = "return session.waiting.length === 0 && !session.sending && steps.version === state.version"


class Server:
    """The command `enhg label` as a process of its own."""

    def __init__(self, source, out, *options):
        self.command = [
            sys.executable, "-m", "enhg", "label", str(source), "-o", str(out), "-k", "10",
            "--no-browser", *map(str, options),
        ]  # fmt: skip
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line)[0]

    def kill(self):
        self.process.kill()  # SIGKILL
        self.process.communicate()


class Person:
    """Does at the page what a person does, with keys and the mouse."""

    def __init__(self, browser, truth):
        self.browser, self.truth = browser, truth

    def open(self, address, width=1280, height=900):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        self.browser.get("about:blank")  # another view of the same page would not load it again
        self.browser.get(address)
        self.until("return typeof views !== 'undefined' && content !== null")
        self.until("return document.querySelector('main > section:not([hidden])') !== null")
        self.ready()

    def js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def until(self, code, *arguments, seconds=20):
        end = time.monotonic() + seconds
        while not (value := self.js(code, *arguments)):
            assert time.monotonic() < end, f"not within {seconds} s: {code}"
            time.sleep(0.02)
        return value

    def ready(self):
        """Wait until the server has confirmed everything and the page shows it."""
        self.until(DONE)

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.browser, duration=0).send_keys(*keys).perform()

    def chord(self, *keys):
        from selenium.webdriver import ActionChains

        *held, key = keys
        chain = ActionChains(self.browser, duration=0)
        for other in held:
            chain.key_down(other)
        chain.send_keys(key)
        for other in reversed(held):
            chain.key_up(other)
        chain.perform()

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def view(self, name):
        self.js("location.hash = arguments[0]", name)
        self.until("return current === arguments[0]", name)

    @property
    def counts(self):
        """How many images of every class have a label."""
        codes, names = self.js("return [Array.from(state.labels), state.classes]")
        return Counter(names[code] for code in codes if code >= 0)

    @property
    def actions(self):
        return self.js("return state.history.length - 1")

    def give(self, name):
        """Press the key of a class, or type its name where it is new."""
        from selenium.webdriver.common.keys import Keys

        known = self.js("return state.classes")
        if name in known:
            self.press(self.js("return keyOf(arguments[0])", known.index(name)))
        else:
            self.press("n")
            self.press(name, Keys.ENTER)
        self.ready()

    def answer(self):
        """Answer the question that is on the screen."""
        row = self.js("return questions.row")
        self.give(str(self.truth[row]))

    def name_cluster(self, cluster):
        """Select a cluster, take out the images that do not belong to it, and name the rest."""
        self.js("if (!clusters.opened.has(arguments[0])) clusters.toggle(arguments[0])", cluster)
        self.find(f"#cluster-{cluster} .all").click()
        rows = self.js("return clusters.ids[arguments[0]]", cluster)
        name = Counter(str(self.truth[row]) for row in rows).most_common(1)[0][0]
        for row in rows:
            if str(self.truth[row]) != name:
                thumb = self.find(f'#cluster-{cluster} [data-row="{row}"]')
                self.js("arguments[0].scrollIntoView({block: 'center'})", thumb)
                thumb.click()
        self.give(name)
        return name
