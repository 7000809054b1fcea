#!/usr/bin/python3
"""The incident page in a real browser: readable, reachable, whole, at every width and scheme.

usage: pages_test.py RAPIDEYE SAMPLES EXAMPLE_PAGES CACHE page|live|axe

`page` looks at what every page must do by itself: nothing is loaded and nothing fails, no window is
too narrow, drawn text fits its place, the culprit is reached by keyboard, commands are
copied, it prints. `live` looks at the coordinator's own pages, which EXAMPLE_PAGES writes: they show what
changes without a reload, run no script but their own, are filtered and sorted. `axe` runs axe-core over the same pages, light and dark, wide and narrow: it finds
nothing, and leaves no contrast undecided. axe-core is fetched by npm, once, to CACHE.
Exit status 77: there is no Chromium here, or no axe-core to be had.
"""

import base64
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

import chromium

SKIPPED = 77
AXE = "axe-core@4.14.1"
AXE_SHA512 = (
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)
WINDOWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]

# Drawn lines of text: how many, and those that their place is too small for.
DRAWN_TEXT = """
(() => {
  const lines = [...document.querySelectorAll('.drawing .box > div, .drawing .l > span')]
      .filter((line) => line.getClientRects().length);
  const cut = lines.filter((line) => line.scrollWidth > line.clientWidth + 1);
  return [lines.length, cut.map((line) => line.textContent)];
})()
"""


def fetch_axe(cache):
    """The text of axe-core, from CACHE or from npm's registry."""
    kept = os.path.join(cache, "axe-core", "axe.min.js")
    if not os.path.exists(kept):
        if not shutil.which("npm"):
            raise chromium.Unavailable("no axe-core here: npm is missing")
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fetched = subprocess.run(
                ["npm", "pack", "--silent", AXE],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=90,
            )
            packed = [name for name in os.listdir(folder) if name.endswith(".tgz")]
            if fetched.returncode or not packed:
                raise chromium.Unavailable("no axe-core here: npm's registry cannot be reached")
            path = os.path.join(folder, packed[0])
            with open(path, "rb") as file:
                digest = base64.b64encode(hashlib.sha512(file.read()).digest()).decode()
            if digest != AXE_SHA512:
                raise RuntimeError(f"{AXE} is not what it was: sha512 {digest}")
            with tarfile.open(path) as archive:
                text = archive.extractfile("package/axe.min.js").read()
            half = os.path.join(folder, "axe-core")
            os.mkdir(half)
            with open(os.path.join(half, "axe.min.js"), "wb") as file:
                file.write(text)
            os.rename(half, os.path.dirname(kept))
    with open(kept, encoding="utf-8") as file:
        return file.read()


def grow(source, target, slices, tasks):
    """A job of the largest size, in which one slice stands as the culprit's of a sample does."""
    with open(source, encoding="utf-8") as file:
        header, *snapshots = (json.loads(line) for line in file)
    of_slice = {}
    for snapshot in sorted(
        (record["snapshot"] for record in snapshots), key=lambda s: s["worker"].get("task", 0)
    ):
        of_slice.setdefault(snapshot["worker"].get("slice", 0), []).append(snapshot)
    accused, others = of_slice[2], of_slice[0]
    header["header"].update(expectedWorkers=[], cohorts=[])
    lines = []
    for slice_id in range(slices):
        for task in range(tasks):
            members = accused if slice_id == slices - 4 else others
            whole = members is others or task < len(members)
            snapshot = dict(members[task % len(members) if whole else 0])
            worker = {"slice": slice_id, "task": task}
            host = f"gke-tpu-{slice_id:02d}-{task:03d}"
            snapshot.update(worker=worker, host=host, sockets=[], probes=[], transfers=[])
            header["header"]["expectedWorkers"].append({**worker, "host": host})
            lines.append(json.dumps({"snapshot": snapshot}))
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join([json.dumps(header), *lines]) + "\n")


def start(source, target):
    """The job of a sample, of which one worker cannot have its chips and the others wait for it."""
    with open(source, encoding="utf-8") as file:
        header, *snapshots = (json.loads(line) for line in file)
    header["header"].update(startingMs="900000", startupGraceMs="600000")
    held = {"kind": "DEVICE_HELD", "subject": "accel0", "detail": "accel0 is held by python3"}
    for number, record in enumerate(snapshots):
        record["snapshot"].update(cores=[], startUp={"processMs": "850000", "deviceMs": "840000"})
        record["snapshot"].pop("progress", None)
        if number == 3:
            record["snapshot"]["startUp"].update(obstacles=[held])
        else:
            record["snapshot"]["startUp"].update(coordinationMs="800000")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(record) for record in [header, *snapshots]) + "\n")


def serve(page, policy):
    """The address of a server, as a thread, that answers every request with this page.

    `page`: its text, or a list whose first element is the text by now.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write((page if isinstance(page, str) else page[0]).encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


class Pages(unittest.TestCase):
    rapideye = samples = example_pages = folder = browser = ""
    paths = {}
    own = {}  # pages of the coordinator

    @classmethod
    def render(cls, name, *sources):
        page = os.path.join(cls.folder, name + ".html")
        with open(page, "wb") as file:
            subprocess.run(
                [cls.rapideye, "diagnose", "--format=html", *sources], stdout=file, check=True
            )
        cls.paths[name] = page

    @classmethod
    def render_all(cls):
        for folder in (cls.samples, os.path.join(cls.samples, "hard")):
            for name in sorted(os.listdir(folder)):
                if name.endswith(".jsonl"):
                    cls.render(name.removesuffix(".jsonl"), os.path.join(folder, name))
        every_field = os.path.join(cls.samples, "..", "freeze", "captures", "every-field.jsonl")
        cls.render("every-field", every_field)
        starting = os.path.join(cls.folder, "starting.jsonl")
        start(os.path.join(cls.samples, "data-stall.jsonl"), starting)
        cls.render("starting", starting)
        cls.render("logs", os.path.join(cls.samples, "logs", "hang.log"))
        jobs = os.path.join(cls.samples, "..", "field", "job-logs")
        cls.render("logs-exported", os.path.join(jobs, "lock", "downloaded-logs.json"))
        ranks = os.path.join(jobs, "exception")
        names = sorted(name for name in os.listdir(ranks) if name.endswith(".log"))
        cls.render("logs-of-ranks", *(os.path.join(ranks, name) for name in names))
        large = os.path.join(cls.folder, "large.jsonl")
        grow(os.path.join(cls.samples, "bad-tc.jsonl"), large, slices=64, tasks=64)
        cls.render("large", large)
        cls.render_own()

    @classmethod
    def render_own(cls):
        folder = os.path.join(cls.folder, "own")
        os.mkdir(folder)
        subprocess.run([cls.example_pages, folder], check=True)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".html"):
                cls.own[name.removesuffix(".html")] = os.path.join(folder, name)


class PageTest(Pages):
    def test_nothing_is_loaded_and_nothing_fails(self):
        for name, path in self.paths.items():
            with self.subTest(name):
                self.browser.open(path)
                asked = [e["request"]["url"] for e in self.browser.events("Network.requestWillBeSent")]
                self.assertEqual(asked, ["file://" + path])
                self.assertEqual(self.browser.events("Runtime.exceptionThrown"), [])
                self.assertEqual(self.browser.events("Log.entryAdded"), [])

    def test_no_window_is_too_narrow(self):
        for name, path in self.paths.items():
            for width, scheme in WINDOWS:
                with self.subTest(name, width=width, scheme=scheme):
                    self.browser.open(path, width, 900, scheme)
                    whole = self.browser.evaluate("document.documentElement.scrollWidth")
                    self.assertLessEqual(whole, width)

    def test_drawn_text_fits_its_place(self):
        for name, path in self.paths.items():
            for width in (1280, 390):
                with self.subTest(name, width=width):
                    self.browser.open(path, width)
                    seen, cut = self.browser.evaluate(DRAWN_TEXT)
                    self.assertEqual(cut, [])
                    self.assertGreater(seen, 0)

    def test_the_sentence_and_the_verdict_are_seen_without_scrolling(self):
        for width, scheme in WINDOWS:
            self.browser.open(self.paths["bad-tc"], width, 900, scheme)
            bottom = self.browser.evaluate(
                "document.querySelector('.hero .pill').getBoundingClientRect().bottom"
            )
            self.assertLess(bottom, 400)

    def test_the_culprit_of_a_large_job_is_in_view_larger_and_reached_by_keyboard(self):
        self.assertLess(os.path.getsize(self.paths["large"]), 2_000_000)
        self.browser.open(self.paths["large"])
        card = "document.querySelector('.card')"
        self.assertIn("gke-tpu-60-006", self.browser.evaluate(f"{card}.textContent"))
        ratio = self.browser.evaluate(
            f"{card}.offsetWidth / document.querySelector('.hosts button.culprit').offsetWidth"
        )
        self.assertGreater(ratio, 4)
        # By the Tab key alone: at most one stop for all hosts of a slice.
        for _ in range(40):
            self.browser.press("Tab", 9)
            if self.browser.evaluate("document.activeElement.matches('.hosts .culprit')"):
                break
        else:
            self.fail("the Tab key does not reach the culprit")
        self.browser.press("Enter", 13)
        self.assertRegex(
            self.browser.evaluate("document.getElementById('host').textContent"),
            r"gke-tpu-60-006, slice 60 task 6, culprit.*chip 0 TensorCore 0: .*fusion\.7.*\(culprit\)",
        )
        self.browser.press("ArrowRight", 39)
        label = self.browser.evaluate("document.activeElement.getAttribute('aria-label')")
        self.assertIn("gke-tpu-60-007", label)

    def test_a_folded_line_opens_to_its_slices(self):
        self.browser.open(self.paths["large"])
        hosts = "document.querySelectorAll('details.calm .hosts button').length"
        self.assertEqual(self.browser.evaluate(hosts), 0)
        self.browser.evaluate(
            "new Promise((done) => { const fold = document.querySelector('details.calm');"
            " fold.addEventListener('toggle', done, {once: true}); fold.open = true; })"
            ".then(() => 0)"
        )
        self.assertEqual(self.browser.evaluate(hosts), 63 * 64)

    def test_logs_alone_have_a_lane_for_each_rank(self):
        for name, culprit in (("logs-of-ranks", "train-slice-0-2"), ("logs-exported", None)):
            self.browser.open(self.paths[name])
            words = self.browser.evaluate(
                "document.querySelector('.lanes .wide').getAttribute('aria-label')"
            )
            self.assertIn("Progress of 4 lanes.", words)
            marks = self.browser.evaluate("document.querySelectorAll('.lanes .wide .stop').length")
            self.assertGreater(marks, 0)
            if culprit:
                self.assertIn(f"{culprit}, which holds a culprit, logged last", words)
                order = self.browser.evaluate("document.querySelector('.order').textContent")
                self.assertIn(f"{culprit}: its first error", order)
                log = self.browser.evaluate("document.querySelector('table.log').textContent")
                self.assertIn("(its last line)", log)

    def test_a_command_is_copied(self):
        self.browser.open(self.paths["bad-tc"])
        self.browser.evaluate(
            "new Promise((done) => {"
            " new MutationObserver(done).observe(document.getElementById('said'), {childList: true});"
            " document.querySelector('button.copy').click(); }).then(() => 0)"
        )
        said = self.browser.evaluate("document.getElementById('said').textContent")
        self.assertEqual(said, "Copied: kubectl cordon tpu-job-2-6")

    def test_positions_are_sorted_by_keyboard(self):
        self.browser.open(self.paths["bad-tc"])
        first = "document.querySelector('#states tbody tr').cells[0].textContent"
        self.browser.evaluate("document.querySelector('#states').closest('details').open = true")
        self.browser.evaluate("document.querySelector('#states th button').focus()")
        self.browser.press("Enter", 13)
        self.assertEqual(self.browser.evaluate(first), "1")
        self.browser.press("Enter", 13)
        self.assertEqual(self.browser.evaluate(first), "64")

    def test_a_served_page_links_to_what_is_served(self):
        links = (
            '<nav aria-label="Documents of the incident"><a href="digest.txt" data-served=".txt">Text'
            '</a><a href="hlo-0-0.txt.gz" data-served="">HLO</a></nav></header>'
        )
        with open(self.paths["bad-tc"], encoding="utf-8") as file:
            page = file.read().replace("</header>", links)
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        server, address = serve(page, policy + "sandbox allow-scripts allow-downloads")
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.browser.open(address + "/incidents/20261003T092420Z-1a2b3c4d")
        self.assertEqual(
            self.browser.evaluate("[...document.links].map((a) => [a.hidden, a.href])"),
            [
                [False, address + "/incidents/20261003T092420Z-1a2b3c4d.txt"],
                [True, address + "/incidents/hlo-0-0.txt.gz"],
            ],
        )
        path = os.path.join(self.folder, "stored.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        self.browser.open(path)
        self.assertEqual(
            self.browser.evaluate("document.links[0].href"), f"file://{self.folder}/digest.txt"
        )

    def test_it_prints(self):
        self.browser.open(self.paths["bad-tc"])
        self.assertTrue(self.browser.pdf().startswith(b"%PDF-"))
        closed = self.browser.evaluate("document.querySelectorAll('details[open]').length")
        self.assertEqual(closed, 0, "what printing opened is closed again")


class LiveTest(Pages):
    def text_of(self, name):
        with open(self.own[name], encoding="utf-8") as file:
            return file.read()

    def serve(self, page):
        with open(os.path.join(self.folder, "own", "policy.txt"), encoding="utf-8") as file:
            server, address = serve(page, file.read())
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return address

    def test_no_window_is_too_narrow(self):
        for name, path in self.own.items():
            for width, scheme in WINDOWS:
                with self.subTest(name, width=width, scheme=scheme):
                    self.browser.open(path, width, 900, scheme)
                    whole = self.browser.evaluate("document.documentElement.scrollWidth")
                    self.assertLessEqual(whole, width)

    def test_the_policy_lets_the_page_work_and_nothing_else(self):
        for name in self.own:
            with self.subTest(name):
                self.browser.open(self.serve(self.text_of(name)) + "/")
                self.assertEqual(self.browser.events("Runtime.exceptionThrown"), [])
                complaints = [e["entry"]["text"] for e in self.browser.events("Log.entryAdded")]
                self.assertEqual([c for c in complaints if "favicon" not in c], [])
        page = self.text_of("live-healthy").replace("<main>", "<main><script>window.taken = 1</script>")
        self.browser.open(self.serve(page) + "/")
        self.assertFalse(self.browser.evaluate("'taken' in window"))

    def test_text_of_workers_is_text(self):
        for name in ("live-hostile", "incidents-hostile", "fleet-hostile"):
            self.browser.open(self.serve(self.text_of(name)) + "/")
            self.assertEqual(self.browser.evaluate("document.images.length"), 0)
            self.assertIn("<img src=x", self.browser.evaluate("document.body.textContent"))
            self.assertNotEqual(self.browser.evaluate("document.title"), "taken")

    def test_a_hang_says_first_what_stopped_and_why(self):
        for width, scheme in WINDOWS:
            self.browser.open(self.own["live-hang"], width, 900, scheme)
            heading = self.browser.evaluate("document.querySelector('h1').textContent")
            self.assertEqual(heading, "gke-tpu-03-007 chip 2 stopped in fusion.7. 63 cores wait for it.")
            self.assertIn(
                "BAD_TPU_CHIP", self.browser.evaluate("document.querySelector('.hero .pill').textContent")
            )
            bottom = self.browser.evaluate(
                "document.querySelector('.hero a').getBoundingClientRect().bottom"
            )
            self.assertLess(bottom, 500)

    def test_a_late_worker_is_marked_before_the_alarm(self):
        self.browser.open(self.own["live-late"])
        self.assertEqual(
            self.browser.evaluate("document.querySelector('.hosts button:has(i.late)').title"),
            "gke-tpu-01-001, slice 1 task 1: late, 8.0 s ago, step 41372",
        )
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.hosts button').length"), 64)

    def test_a_large_job_stays_small_and_shows_its_culprit(self):
        self.assertLess(os.path.getsize(self.own["live-large"]), 500_000)
        self.browser.open(self.own["live-large"])
        self.assertIn(
            "gke-tpu-63-055",
            self.browser.evaluate("document.querySelector('.hosts button.culprit').title"),
        )

    def test_what_changes_is_shown_without_a_reload(self):
        page = [self.text_of("live-late")]
        self.browser.open(self.serve(page) + "/")
        self.browser.evaluate("window.kept = true; 0")
        self.browser.evaluate(
            "document.querySelector('.hosts button[data-worker=\"1/1\"]').click();"
            "document.querySelector('.hosts button[data-worker=\"1/1\"]').focus(); 0"
        )
        page[0] = self.text_of("live-hang")
        self.browser.evaluate(
            "new Promise((done) => new MutationObserver(() => {"
            " if (document.querySelector('h1').textContent.includes('stopped in')) done(); })"
            ".observe(document.getElementById('live'), {childList: true, subtree: true})).then(() => 0)"
        )
        self.assertTrue(self.browser.evaluate("window.kept"))
        self.assertIn("HANG", self.browser.evaluate("document.title"))
        self.assertIn("stopped in", self.browser.evaluate("document.getElementById('said').textContent"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.hosts').length > 0"), True)
        self.assertEqual(
            self.browser.evaluate("document.querySelectorAll('.hosts button.culprit').length"), 1
        )
        self.assertEqual(self.browser.evaluate("document.activeElement.dataset.worker"), "1/1")
        self.assertRegex(
            self.browser.evaluate("document.getElementById('host').textContent"), "01-001.*95|1 min 35 s"
        )

    def test_incidents_are_filtered_searched_and_sorted(self):
        self.browser.open(self.own["incidents"])
        shown = "[...document.querySelectorAll('#incidents tbody tr')].filter((row) => !row.hidden)"
        self.assertEqual(self.browser.evaluate(f"{shown}.length"), 40)
        choose = (
            "(() => {{ const field = document.getElementById('filter').elements['{}']; field.value = '{}';"
            " field.dispatchEvent(new Event('input', {{bubbles: true}})); return {}.length; }})()"
        )
        self.assertEqual(self.browser.evaluate(choose.format("cause", "BAD_TPU_CHIP", shown)), 14)
        self.assertEqual(self.browser.evaluate(choose.format("words", "03-007", shown)), 3)
        self.assertEqual(self.browser.evaluate(choose.format("state", "open", shown)), 1)
        self.assertEqual(
            self.browser.evaluate("document.getElementById('shown').textContent"), "1 of 40 shown"
        )
        self.browser.open(self.own["incidents"])
        self.browser.evaluate("document.querySelectorAll('#incidents th button')[2].click(); 0")
        self.assertEqual(
            self.browser.evaluate(f"{shown}[0].cells[2].textContent"), "BAD_TPU_CHIP"
        )
        self.browser.evaluate("document.querySelector('.tally button').click(); 0")
        self.assertEqual(self.browser.evaluate(f"{shown}.length"), 14)


class AxeTest(Pages):
    axe = ""

    def test_axe_finds_nothing_and_leaves_no_contrast_undecided(self):
        for name, path in (self.paths | self.own).items():
            for width, scheme in WINDOWS:
                with self.subTest(name, width=width, scheme=scheme):
                    self.browser.open(path, width, 900, scheme)
                    # Folded parts are read, too.
                    self.browser.evaluate(
                        "for (const fold of document.querySelectorAll('details:not(.calm)'))"
                        " fold.open = true; 0"
                    )
                    self.browser.evaluate(self.axe + "; 0")
                    found = json.loads(
                        self.browser.evaluate(
                            "axe.run(document, {resultTypes: ['violations', 'incomplete']}).then((r) =>"
                            " JSON.stringify([...r.violations, ...r.incomplete.filter((i) =>"
                            " i.id === 'color-contrast')].map((v) => [v.id, v.nodes.slice(0, 3)"
                            ".map((n) => [n.html.slice(0, 200), n.failureSummary])])))"
                        )
                    )
                    self.assertEqual(found, [])


def main():
    Pages.rapideye, Pages.samples, Pages.example_pages, cache, part = sys.argv[1:]
    test = {"page": PageTest, "live": LiveTest, "axe": AxeTest}[part]
    try:
        chromium.find_chromium()
        if part == "axe":
            AxeTest.axe = fetch_axe(cache)
    except chromium.Unavailable as reason:
        print(reason)
        return SKIPPED
    with tempfile.TemporaryDirectory() as Pages.folder, chromium.Chromium() as Pages.browser:
        if part == "live":
            Pages.render_own()
        else:
            Pages.render_all()
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(test)
        return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
