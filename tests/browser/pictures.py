#!/usr/bin/python3
"""Makes the pictures of the README anew: tests/browser/pictures.py RAPIDEYE EXAMPLE_PAGES ROOT.

Each is what a browser shows first of a page: of a capture in tests/samples, or of the coordinator's own,
of invented jobs, that EXAMPLE_PAGES writes.
"""

import os
import subprocess
import sys
import tempfile

import chromium

CAPTURES = [("incident.png", "bad-tc", 1200, 980)]
OWN_PAGES = [("live.png", "live-late", 1200, 900)]


def main():
    rapideye, example_pages, root = sys.argv[1:]
    images = os.path.join(root, ".github", "images")
    os.makedirs(images, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium.Chromium() as browser:
        subprocess.run([example_pages, folder], check=True)
        for _, sample, _, _ in CAPTURES:
            capture = os.path.join(root, "tests", "samples", sample + ".jsonl")
            with open(os.path.join(folder, sample + ".html"), "wb") as file:
                subprocess.run(
                    [rapideye, "diagnose", "--format=html", capture], stdout=file, check=True
                )
        for picture, page, width, height in CAPTURES + OWN_PAGES:
            browser.open(os.path.join(folder, page + ".html"), width, height, "light")
            browser.picture(os.path.join(images, picture), whole=False)


if __name__ == "__main__":
    main()
