#!/usr/bin/python3
"""Everything that documents and comments point to is in the tree.

usage: links.py ROOT

In every document: relative links with their anchors, and every path of the
repository that stands between back-ticks. In every source file: each document
that it names, and the section, where one is named as in: deploy/REMOVAL.md, "Rights".
"""

import fnmatch
import os
import posixpath
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "style"))
import repository  # noqa: E402

SOURCES = (".cc", ".h", ".proto", ".py", ".sh", ".cmake", ".toml", ".yaml", ".service", ".conf", ".sql",
           "CMakeLists.txt")
# It holds names of documents that there are not.
OWN_TEST = "tests/docs/docs_test.py"
# Where documents of deploy/ are installed.
INSTALLED = "share/doc/rapideye/"

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
EXTERNAL = re.compile(r"^[a-z][a-z0-9+.-]*:|^//")
CONTINUED = re.compile(r"\n[ \t]*(?://|#|\*)+[ \t]?")
CITATION = re.compile(r"(?<![\w/.<>{}*-])/?((?:[\w.-]+/)*[A-Za-z][\w-]*\.md)\b|\bREADME(?=, \")")
SECTION = re.compile(r"(?:,| and) \"([^\"\n]+)\"")
UNNAMED = re.compile(r"\b(?:the|by) contract\b|\bcontract(?:'s|:|\))|[(]contract\b", re.IGNORECASE)


def blank(match):
    """Of what is left out the lines stay, so that numbers of lines are right."""
    return "\n" * match[0].count("\n")


def prose(text):
    """A document without its blocks of code."""
    return FENCE.sub(blank, text)


def titles(text):
    """The headings of a document, as a reader sees them."""
    found = []
    for title in HEADING.findall(prose(text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        found.append(re.sub(r"[`*]", "", title))
    return found


def anchors(text):
    """The anchors that GitHub makes of the headings."""
    seen, found = {}, set()
    for title in titles(text):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        found.add(f"{slug}-{number}" if number else slug)
    return found


class Tree:
    """The files of the repository; paths are relative to its root."""

    def __init__(self, root):
        self.root = root
        self.files = set(repository.files(root))
        self.folders = {""}
        for path in self.files:
            while path := posixpath.dirname(path):
                self.folders.add(path)
        self.names = {posixpath.basename(path) for path in self.files}
        self.top = {folder.split("/")[0] for folder in self.folders} - {""}
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = repository.read(self.root, path)
        return self.texts[path]

    def has(self, path):
        path = posixpath.normpath(path)
        return path in self.files or path in self.folders or path == "."

    def nearest(self, base, path):
        """What `path` means in a file of folder `base`: seen from the root, or from the
        folder or one above it. None: nothing."""
        if self.has(path):
            return path
        while base:
            candidate = posixpath.join(base, path)
            if self.has(candidate):
                return candidate
            base = posixpath.dirname(base)
        return None

    def documents(self):
        return sorted(path for path in self.files if path.endswith(".md"))

    def sources(self):
        for path in sorted(self.files):
            script = "." not in posixpath.basename(path) and os.access(
                os.path.join(self.root, path), os.X_OK)
            if (path.endswith(SOURCES) or script) and path != OWN_TEST:
                yield path


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def broken_links(tree, path):
    """Relative links of a document that lead nowhere."""
    text = CODE_SPAN.sub(blank, prose(tree.text(path)))
    for match in [*LINK.finditer(text), *REFERENCE.finditer(text)]:
        if EXTERNAL.match(match[1]):
            continue
        where = f"{path}:{line_of(text, match.start())}"
        target, _, anchor = match[1].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
        if not tree.has(target):
            yield f"{where}: the link to {match[1]} leads nowhere"
        elif anchor and not (target.endswith(".md") and anchor in anchors(tree.text(target))):
            yield f"{where}: {target} has no section #{anchor}"


def is_path(tree, base, word):
    """Whether a word between back-ticks means a file or folder of the repository: it begins
    with a folder of the top level, or of the document's own, or is the name of a source."""
    if not re.fullmatch(r"[\w./<>{}*?,\[\]-]+", word) or word.startswith(("/", "-", "<", "{", "*")):
        return False
    # As in SUBJECT_test.cc.
    if re.search(r"[A-Z]{3,}", word) and not word.endswith(".md"):
        return False
    if "/" not in word:
        return bool(re.fullmatch(r"[\w-]+\.(?:cc|h|py|sh|proto|md|toml)", word))
    first = word.split("/")[0]
    return first in tree.top or posixpath.join(base, first) in tree.folders


def broken_paths(tree, path):
    """Paths between back-ticks that do not exist. Of a pattern such as
    `agent/sources/<name>/fetch.cc` the folder before it counts; one with * has to fit
    something."""
    text = prose(tree.text(path))
    for match in CODE_SPAN.finditer(text):
        word = match[2].strip().split()[0].rstrip(".,:;") if match[2].strip() else ""
        base = posixpath.dirname(path)
        if not is_path(tree, base, word):
            continue
        if "*" in word:
            known = any(fnmatch.fnmatch(file, pattern) for file in tree.files | tree.folders
                        for pattern in (word, posixpath.join(base, word)))
        else:
            known = tree.nearest(base, re.split(r"[^/]*[<{?\[]", word)[0].rstrip("/"))
        if not known:
            yield f"{path}:{line_of(text, match.start())}: there is no {word}"


def broken_citations(tree, path):
    """Documents, and sections of them, that a source file names and that are not there."""
    raw = tree.text(path)
    # A comment that goes on: one text, whose lines are still counted by those of the file.
    text = CONTINUED.sub(" ", raw)

    def where(position):
        lost = 0  # characters that the joints before it took
        for match in CONTINUED.finditer(raw):
            if match.start() - lost > position:
                break
            lost += len(match[0]) - 1
        return f"{path}:{line_of(raw, position + lost)}"

    for match in UNNAMED.finditer(text):
        yield f"{where(match.start())}: '{match[0]}' names no document: say which"
    for match in CITATION.finditer(text):
        name = match[1] or "README.md"
        if INSTALLED in name:
            name = "deploy/" + name.split(INSTALLED)[1]
        document = tree.nearest(posixpath.dirname(path), name)
        part = "/" not in name and text[match.start() - 1:match.start()] == '"'
        if document is None and not (part and name in tree.names):
            yield f"{where(match.start())}: there is no {name}"
        if document is None:
            continue
        position = match.end()
        while section := SECTION.match(text, position):
            if section[1] not in titles(tree.text(document)):
                yield f"{where(match.start())}: {document} has no section \"{section[1]}\""
            position = section.end()


def problems(root):
    tree = Tree(root)
    found = []
    for path in tree.documents():
        found += broken_links(tree, path)
        found += broken_paths(tree, path)
    for path in tree.sources():
        found += broken_citations(tree, path)
    return found


def main():
    found = problems(sys.argv[1])
    print("\n".join(found) or "what documents and comments point to is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
