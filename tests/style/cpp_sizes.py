"""Sizes of C++ classes and functions, read off the indentation.

clang-format lays out all code, so that a definition is its first line, the lines
indented deeper, and the line with its closing brace.
"""

import collections
import re

Definition = collections.namedtuple("Definition", "kind name line lines")  # kind: class, function

_RAW_STRING = re.compile(r'R"([^()\\\s]*)\((?:.|\n)*?\)\1"')
_NO_CODE = re.compile(r"\s*(//|#|(public|private|protected):|$)")
_CLASS = re.compile(r"(?:template <.*> )?(?:class|struct|union) (?:\[\[\w+\]\] |alignas\(\w+\) )?(\w[\w:]*)"
                    r"(?:<[^{;]*>)?(?: final)?(?: : [^;]*)? \{$")
_CALLABLE = re.compile(r"(~?\w+|operator\W+)\(")
_MEMBER = re.compile(r"\b([A-Z]\w*)(?:<[^()]*>)?::(?:\w+::)*(?:~?\w+|operator\W+)\(")


def _lines(text):
    """Of a raw string only the ends: its lines have an indentation of their own."""
    return _RAW_STRING.sub(lambda raw: '""' + "\n" * raw.group(0).count("\n"), text).split("\n")


def _indent(line):
    return len(line) - len(line.lstrip(" "))


def _header(lines, block):
    """The declaration up to the brace that opens its body, as one line."""
    words = []
    for number in block:
        words.append(lines[number].split("  //")[0].strip())
        if words[-1].endswith(("{", "}", ";")):
            break
    return " ".join(words)


def _blocks(lines, numbers, indent):
    """The declarations at this indentation, each as (header, its line numbers)."""
    block = []
    for number in numbers:
        line = lines[number]
        own = _indent(line) == indent
        closes = own and line.lstrip().startswith(("}", ")")) and _header(lines, block).endswith("{")
        of_template = own and len(block) == 1 and _header(lines, block).startswith("template") and (
            _header(lines, block).endswith(">"))
        if own and not closes and not of_template:
            if block:
                yield _header(lines, block), block
            block = []
        block.append(number)
        if closes:
            yield _header(lines, block), block
            block = []
    if block:
        yield _header(lines, block), block


def definitions(text):
    """All classes, nested ones too, and all functions that a file defines."""
    lines = _lines(text)
    found = []

    def walk(numbers, indent):
        for header, block in _blocks(lines, numbers, indent):
            closing = lines[block[-1]].split("  //")[0].strip()
            line, size = block[0] + 1, block[-1] - block[0] + 1
            declared = _CLASS.match(header)
            if declared and closing.startswith("}"):
                found.append(Definition("class", declared.group(1), line, size))
                walk(block[1:-1], indent + 2)
            elif "(" in header and header.endswith("{") and closing == "}":
                found.append(Definition("function", _CALLABLE.search(header).group(1), line, size))

    walk([i for i, line in enumerate(lines) if not _NO_CODE.match(line)], 0)
    return found


def members_of(text):
    """The classes of which the file defines members outside of the class."""
    lines = _lines(text)
    found = set()
    for header, _ in _blocks(lines, [i for i, line in enumerate(lines) if not _NO_CODE.match(line)], 0):
        member = _MEMBER.search(header.split("{")[0])
        if member and header.endswith(("{", "}")) and "=" not in header[:member.start()]:
            found.add(member.group(1))
    return found
