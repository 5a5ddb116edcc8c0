#!/usr/bin/env python3
"""Tests reports in headless Chromium. Usage: page_check.py SMEMTUNE FOLDER. FOLDER keeps the screenshots and pages."""
import gzip
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import unittest

from chromium import Chromium

DATABASES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "databases")
SMEMTUNE, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COMPLETE = "document.documentElement.dataset.state === 'complete'"
HOSTILE = "</script><img src=x onerror=alert(1)>'\"&lt;\u2028<!--"


def database(name):
    """Unpacks a database of the fixtures into FOLDER and returns its path."""
    path = os.path.join(FOLDER, f"{name}.db")
    with gzip.open(os.path.join(DATABASES, f"{name}.db.gz")) as packed, open(path, "wb") as file:
        file.write(packed.read())
    return path


def report(path, name, *options):
    page = os.path.join(FOLDER, f"{name}.html")
    subprocess.run([SMEMTUNE, "report", page, "--db", path, *options], check=True, stdout=subprocess.DEVNULL)
    return page


def with_hostile_rejections(path):
    """Turns three trials into rejections. Puts markup and scripts into their reasons, the device names and the requests."""
    with sqlite3.connect(path) as connection:
        trials = connection.execute("SELECT id FROM trials WHERE problem = 11 AND verified_by IS NULL LIMIT 3").fetchall()
        for (trial,), stage in zip(trials, ("compile", "wrong", "wrong")):
            connection.execute(
                "UPDATE trials SET median_us = NULL, spread_us = NULL, samples_us = NULL, cut_short = NULL, clock_khz = NULL, "
                "energy_uj = NULL, rejected_at = ?, reason = ? WHERE id = ?", (stage, HOSTILE, trial))
        connection.execute("UPDATE devices SET name = name || ?", (HOSTILE,))
        connection.execute("UPDATE runs SET request = json_set(request, '$.note', ?)", (HOSTILE,))
    connection.close()
    return path


def without_trials(path):
    with sqlite3.connect(path) as connection:
        for table in ("winners", "trials"):
            connection.execute(f"DELETE FROM {table}")
    connection.close()
    return path


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        cls.browser = Chromium()
        cls.sample = report(database("h200"), "h200")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.browser.errors.clear()

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])

    def open(self, page, width=1280, dark=False):
        self.browser.show(width, 900, dark)
        self.browser.open(f"file://{page}?{self._testMethodName}", COMPLETE)  # a page stores selections by its address, which is different for each test

    def cells(self, table, column):
        return self.browser.script(
            f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => row.cells[{column}].textContent)")

    def check_plots(self, least):
        plots = self.browser.script("[...document.querySelectorAll('figure.plot')].map((figure) => "
                                    "[figure.id, figure.dataset.plot, Number(figure.dataset.marks), "
                                    "figure.querySelector('figcaption')?.textContent.length > 20 || figure.classList.contains('small')])")
        self.assertGreaterEqual(len(plots), least)
        for name, state, marks, explained in plots:
            self.assertEqual(state, "drawn", name)
            self.assertGreater(marks, 0, name)
            self.assertTrue(explained, name)
        return {name: marks for name, _, marks, _ in plots}

    def test_every_plot_has_marks_in_each_width_and_colour_scheme(self):
        backgrounds = set()
        for width in (1280, 390):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.open(self.sample, width, dark)
                    self.check_plots(20)
                    # A wide table scrolls in its frame. The page itself must not scroll sideways.
                    self.assertLessEqual(self.browser.script("document.documentElement.scrollWidth"), width)
                    backgrounds.add(self.browser.script("getComputedStyle(document.body).backgroundColor"))
                    self.browser.screenshot(os.path.join(FOLDER, f"h200-{width}-{'dark' if dark else 'light'}.png"))
        self.assertEqual(len(backgrounds), 2)

    def test_the_landscape_of_an_exhaustive_search_is_shown_completely(self):
        path = database("exhaustive")
        with sqlite3.connect(path) as connection:
            (trials,) = connection.execute("SELECT count(*) FROM trials").fetchone()
        connection.close()
        self.open(report(path, "exhaustive"))
        self.assertGreaterEqual(self.check_plots(8)["landscape"], trials)
        self.browser.screenshot(os.path.join(FOLDER, "exhaustive-1280-light.png"))

    def test_both_plots_of_a_search_say_when_it_found_the_winner(self):
        path = database("exhaustive")
        with sqlite3.connect(path) as connection:  # counts by id, because the finals measured the winner again and changed its date
            (evaluation,) = connection.execute("SELECT count(*) FROM trials WHERE id <= (SELECT trial FROM winners)").fetchone()
            (trials,) = connection.execute("SELECT count(*) FROM trials").fetchone()
        connection.close()
        self.assertLess(evaluation, trials / 2)
        self.open(report(path, "exhaustive"))
        sentence = self.browser.script("document.querySelector('#convergence-evaluations figcaption').textContent")
        self.assertTrue(sentence.endswith(f"after {evaluation} evaluations."), sentence)

    def test_no_table_is_cut_off_on_a_wide_screen(self):
        self.open(self.sample)
        wide = self.browser.script("[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)")
        self.assertEqual(wide, [])

    def test_numbers_on_colours_can_be_read(self):
        for dark in (False, True):
            self.open(self.sample, dark=dark)
            pairs = self.browser.script(
                "(() => { const fills = (selector) => [...document.querySelectorAll(`#pair ${selector}`)].map((each) => "
                "getComputedStyle(each).fill.match(/[\\d.]+/g).slice(0, 3).map(Number)); "
                "const [cells, texts] = [fills('.mark-rect path'), fills('.mark-text text')]; "
                "return cells.map((cell, i) => [cell, texts[i]]); })()")
            self.assertGreater(len(pairs), 10)

            def luminance(colour):
                linear = [(each / 255) / 12.92 if each <= 10 else ((each / 255 + 0.055) / 1.055) ** 2.4 for each in colour]
                return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

            for cell, text in pairs:
                low, high = sorted((luminance(cell), luminance(text)))
                self.assertGreaterEqual(high / low, 4.5, (dark, cell, text))

    def test_the_table_of_winners_holds_the_stored_winners(self):
        self.open(self.sample)
        with sqlite3.connect(os.path.join(FOLDER, "h200.db")) as connection:
            stored = connection.execute("SELECT p.size, k.name FROM winners w JOIN problems p ON p.id = w.problem "
                                        "JOIN trials t ON t.id = w.trial JOIN templates k ON k.id = t.template").fetchall()
        connection.close()
        self.assertEqual(sorted(zip(self.cells("winners", 0), self.cells("winners", 1))), sorted(stored))

    def test_a_click_on_a_heading_sorts(self):
        self.open(self.sample)
        rate = 4
        for direction, order in (("descending", -1), ("ascending", 1)):
            self.browser.click("button", "TFLOP/s")
            rates = [float(text) for text in self.cells("winners", rate)]
            self.assertEqual(rates, sorted(rates, key=lambda value: order * value))
            self.assertEqual(self.browser.script("document.querySelectorAll('#winners th')[4].ariaSort"), direction)

    def test_typing_into_a_filter_leaves_the_matching_rows(self):
        self.open(self.sample)
        every = len(self.cells("winners", 1))
        self.browser.click("searchbox", "Filter: Winners")
        self.browser.type("skinny")
        left = self.browser.script("[...document.querySelectorAll('#winners tbody tr')].map((row) => row.textContent)")
        self.assertTrue(all("skinny" in row for row in left), left)
        self.assertIn(len(left), range(1, every))
        self.browser.type(" no such text")
        self.assertEqual(self.browser.script("document.querySelector('#winners tbody').textContent"), "No row matches the filter.")

    def test_tables_are_copied_as_csv_and_json(self):
        self.open(self.sample)
        self.browser.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.browser.click("button", "Copy as JSON: Winners")
        rows = json.loads(self.browser.script("window.copied"))
        self.assertEqual([row["Size"] for row in rows], self.cells("winners", 0))
        self.browser.click("button", "Copy as CSV: Winners")
        lines = self.browser.script("window.copied").splitlines()
        self.assertEqual(len(lines), len(rows) + 1)
        self.assertTrue(lines[0].startswith("Size,Template,Time,"))

    def test_another_size_changes_what_was_tried(self):
        self.open(self.sample)
        self.browser.script("{ const box = document.getElementById('problem'); box.value = [...box.options].find((each) => "
                            "each.text === '2560x4992x8832').value; box.dispatchEvent(new Event('change')); }")
        self.browser.wait(COMPLETE)
        self.assertEqual(len(self.browser.accessible("heading", "Trials of 2560x4992x8832")), 1)
        self.check_plots(20)

    def test_the_first_step_towards_each_part_has_a_name(self):
        self.open(self.sample)
        for role, name in (("heading", "What won"), ("heading", "Which parameters mattered"), ("combobox", "Device"),
                           ("combobox", "Size"), ("combobox", "Across"), ("table", "Winners"), ("image", "Roofline"),
                           ("image", "Convergence against time"), ("link", "Skip to the report"), ("navigation", "Sections")):
            self.assertTrue(self.browser.accessible(role, name), f"{role} {name}")
        unnamed = [role for role in ("button", "combobox", "searchbox", "image", "table")
                   for each in self.browser.accessible(role, "") if not each["name"]["value"]]
        self.assertEqual(unnamed, [])

    def test_texts_of_the_database_are_shown_and_never_run(self):
        page = report(with_hostile_rejections(database("h200")), "hostile")
        with open(page, encoding="utf-8") as file:
            html = file.read()
        self.assertNotIn("<img src=x", html)
        self.open(page)
        self.assertIn(HOSTILE, self.cells("rejections", 2))
        self.assertEqual(sorted(self.cells("rejections", 0)), ["compile", "wrong"])
        self.assertEqual(self.browser.script("document.querySelectorAll('img, iframe, object, [onerror]').length"), 0)
        self.check_plots(20)

    def test_a_script_that_was_added_to_the_page_does_not_run(self):
        with open(self.sample, encoding="utf-8") as file:
            html = file.read()
        changed = os.path.join(FOLDER, "changed.html")
        with open(changed, "w", encoding="utf-8") as file:
            file.write(html.replace("</body>", "<script>window.added = true</script></body>"))
        self.open(changed)
        self.assertIsNone(self.browser.script("window.added"))
        self.assertTrue(any("Content Security Policy" in error for error in self.browser.errors))
        self.browser.errors.clear()

    def test_more_trials_than_a_call_may_have_arguments_are_drawn(self):
        path = database("exhaustive")
        with sqlite3.connect(path) as connection:
            columns = [row[1] for row in connection.execute("PRAGMA table_info(trials)")]
            copied = ", ".join("NULL" if each == "id" else "configuration || ',COPY=' || n" if each == "configuration" else each
                               for each in columns)
            (trials,) = connection.execute("SELECT count(*) FROM trials").fetchone()
            connection.execute(f"WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies LIMIT {130000 // trials}) "
                               f"INSERT INTO trials SELECT {copied} FROM copies, trials")
        connection.close()
        self.open(report(path, "many"))
        self.check_plots(8)
        os.remove(path)

    def test_two_databases_are_compared(self):
        path = database("h200")
        older = os.path.join(FOLDER, "older.db")
        os.replace(path, older)
        path = database("h200")
        with sqlite3.connect(path) as connection:  # makes the winner of one problem twice as fast
            connection.execute("UPDATE trials SET median_us = median_us / 2, samples_us = (SELECT json_group_array(value / 2) "
                               "FROM json_each(samples_us)) WHERE id = (SELECT trial FROM winners WHERE problem = 11)")
        connection.close()
        self.open(report(path, "compared", "--against", older))
        verdicts = dict(zip(self.cells("comparison", 0), self.cells("comparison", 4)))
        self.assertEqual(verdicts.pop("42x644x1344"), "faster")
        self.assertEqual(set(verdicts.values()), {"equal within noise"})
        self.assertGreater(self.check_plots(21)["ratios"], len(verdicts))


class Server(unittest.TestCase):
    def setUp(self):
        self.path = database("h200")
        self.process = subprocess.Popen([SMEMTUNE, "report", "--serve", "0", "--db", self.path], stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)", self.process.stdout.readline()).group(1))

    def tearDown(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, path="/", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def test_get_of_the_page_and_its_data_is_all_that_is_answered(self):
        status, html = self.ask()
        self.assertEqual(status, 200)
        self.assertIn(b"connect-src 'self'", html)
        self.assertEqual(len(json.loads(self.ask("/data.json")[1])["trials"]["id"]), 1605)
        for path in ("/../h200.db", "/h200.db", "/etc/passwd", "//", "/%2e%2e/"):
            self.assertEqual(self.ask(path)[0], 404, path)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            self.assertEqual(self.ask("/", method)[0], 405, method)

    def test_a_name_of_another_site_is_refused(self):
        self.assertEqual(self.ask(Host=f"evil.example:{self.port}")[0], 403)
        self.assertEqual(self.ask("/events", Host="evil.example")[0], 403)
        self.assertEqual(self.ask(Host=f"localhost:{self.port}")[0], 200)

    def test_only_the_loopback_address_listens(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
        port = f":{self.port:04X}"
        self.assertEqual([address for address in listening if address.endswith(port)], [f"0100007F{port}"])
        with open("/proc/net/tcp6", encoding="ascii") as file:
            self.assertFalse([line for line in file if line.split()[1].endswith(port) and line.split()[3] == "0A"])

    def test_malformed_requests_and_idle_connections_leave_it_working(self):
        idle = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(100)]
        try:
            for text in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100000, b"\r\n" * 1000,
                         b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", b"GET " + b"/" * 60000 + b" HTTP/1.1\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", self.port), timeout=600) as connection:
                    try:
                        connection.sendall(text)
                        connection.shutdown(socket.SHUT_WR)
                        answer = connection.recv(4096)
                    except OSError:  # the server closed the connection at once
                        answer = b""
                    self.assertFalse(answer.startswith(b"HTTP/1.1 200"), text[:40])
                self.assertEqual(self.ask("/data.json")[0], 200, text[:40])
            listener = socket.create_connection(("127.0.0.1", self.port))  # a client that disconnects during the event stream
            listener.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            listener.recv(100)
            listener.close()
            self.assertEqual(self.ask()[0], 200)
        finally:
            for each in idle:
                each.close()

    def test_interruption_stops_it_with_connections_open(self):
        listener = socket.create_connection(("127.0.0.1", self.port))
        listener.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        self.assertTrue(listener.recv(100).startswith(b"HTTP/1.1 200"))
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(600), 0)
        listener.close()

    def test_a_database_that_takes_the_place_of_another_is_shown(self):
        with Chromium() as browser:
            browser.show(1280, 900, False)
            browser.open(f"http://127.0.0.1:{self.port}/", COMPLETE)
            os.replace(without_trials(database("exhaustive")), self.path)
            browser.wait(f"document.getElementById('content').textContent.includes('No trial is stored yet.') && {COMPLETE}")
            self.assertEqual(browser.errors, [])

    def test_a_new_trial_appears_in_an_open_page(self):
        with Chromium() as browser:
            browser.show(1280, 900, False)
            browser.open(f"http://127.0.0.1:{self.port}/", COMPLETE)
            subject = "document.getElementById('subject').textContent"
            self.assertIn("1,605 trials", browser.script(subject))
            with sqlite3.connect(self.path) as connection:
                connection.execute(
                    "INSERT INTO trials SELECT NULL, device, template, problem, configuration || ',X=1', median_us, spread_us, "
                    "samples_us, cut_short, clock_khz, rejected_at, reason, registers, spill_bytes, static_shared_bytes, "
                    "dynamic_shared_bytes, compile_ms, run, finished_at, verify_ms, time_ms, energy_uj, verified_by, code_hash, "
                    "toolchain, attempts FROM trials WHERE id = (SELECT max(id) FROM trials)")
            connection.close()
            browser.wait(f"{subject}.includes('1,606 trials') && {COMPLETE}")
            self.assertEqual(browser.errors, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1)
