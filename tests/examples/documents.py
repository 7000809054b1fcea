"""Commands as documents have them: the fenced blocks of a section."""

import re

FENCE = re.compile(r"^```[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(path, heading):
    """The blocks of a section whose first line is a comment, by that comment's text."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begun = text.index(f"\n{heading}\n")
    ends = text.find(f"\n{heading.split()[0]} ", begun + 1)
    section = text[begun:ends] if ends >= 0 else text[begun:]
    found = {}
    for block in FENCE.findall(section):
        first, _, rest = block.partition("\n")
        if first.startswith("# "):
            found[first[2:]] = rest
    return found
