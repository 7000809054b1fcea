#!/usr/bin/python3
"""Makes the pictures of the README anew: tests/browser/pictures.py RAPIDEYE ROOT.

Each is what a browser shows first of the page of a capture in tests/samples.
"""

import os
import subprocess
import sys
import tempfile

import chromium

PICTURES = [
    ("incident.png", "bad-tc", 1200, 980, "light"),
]


def main():
    rapideye, root = sys.argv[1:]
    images = os.path.join(root, ".github", "images")
    os.makedirs(images, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium.Chromium() as browser:
        for picture, sample, width, height, scheme in PICTURES:
            capture = os.path.join(root, "tests", "samples", sample + ".jsonl")
            page = os.path.join(folder, sample + ".html")
            with open(page, "wb") as file:
                subprocess.run(
                    [rapideye, "diagnose", "--format=html", capture], stdout=file, check=True
                )
            browser.open(page, width, height, scheme)
            browser.picture(os.path.join(images, picture), whole=False)


if __name__ == "__main__":
    main()
