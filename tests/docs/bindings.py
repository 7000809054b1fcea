#!/usr/bin/python3
"""The documents that bind the code say what the code says.

usage: bindings.py ROOT

Fields of a capture against the messages, keys of the digest against its schema,
its fixed sentences, causes and details against the enums, and of the commands: exit
status, HTTP paths, files of an incident, names of commands and sources, variables of
hooks. Each in both directions: what is new in the code has to be written down, and
what is written down has to be there.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "style"))
import repository  # noqa: E402

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERALS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'


class Unreadable(Exception):
    """A document or a source that is not in the form that this check reads."""


# --- Documents ----------------------------------------------------------------


def section(text, title):
    """What stands under a heading, to the next one of the same level or above."""
    heading = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    if not heading:
        raise Unreadable(f"no section '{title}'")
    rest = text[heading.end():]
    end = re.search(rf"^#{{1,{len(heading[1])}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


def rows(text):
    """The cells of the rows of all tables, without their heads."""
    found = []
    for line in text.splitlines():
        if not line.startswith("|"):
            continue
        if re.fullmatch(r"[|\s:-]+", line):
            found.pop()  # the head
            continue
        found.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def spans(cell):
    """The words between back-ticks."""
    return re.findall(r"`([^`]+)`", cell)


def difference(what, written, there):
    for name in sorted(set(there) - set(written)):
        yield f"{what}: {name} is not written down"
    for name in sorted(set(written) - set(there)):
        yield f"{what}: there is no {name}"


# --- The capture ----------------------------------------------------------------


def camel(name):
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def messages(proto):
    """{message: {field: (type, optional)}} of a .proto file; an enum's type is its names.

    Messages that exist in memory alone are left out: no file holds them.
    """
    text = re.sub(r"\[[^\]]*\](?=\s*;)", "", COMMENT.sub("", proto))
    fields, enums, scope, statement, in_memory = {}, {}, [], [], set()
    for token in re.findall(r'[\w.]+|"[^"]*"|[{}=;]', text):
        if token == "{":
            kind, name = (statement + ["", ""])[:2]
            outer = next((n for k, n in reversed(scope) if k == "message"), None)
            full = f"{outer}.{name}" if outer and kind == "enum" else name
            scope.append((kind, full))
            if kind == "message":
                fields[full] = []
            elif kind == "enum":
                enums[full] = []
        elif token == "}":
            scope.pop()
        elif token == ";":
            kind = scope[-1][0] if scope else ""
            if statement == ["option", "form", "=", "MEMORY"]:
                in_memory.add(scope[-1][1])
            if kind in ("message", "oneof") and "=" in statement and statement[0] not in (
                    "option", "reserved"):
                message = next(n for k, n in reversed(scope) if k == "message")
                *label, of, name = statement[:statement.index("=")]
                fields[message].append((name, of, label[0] if label else ""))
            elif kind == "enum" and statement[0] not in ("option", "reserved"):
                enums[scope[-1][1]].append((statement[0], int(statement[2])))
        else:
            statement.append(token)
            continue
        statement = []

    def named(message, of):
        for name in (f"{message}.{of}", of):
            if name in enums:
                return " ".join(value for value, number in enums[name] if number != 0)
        return of

    return {message: {camel(name): (("list of " if label == "repeated" else "") + named(message, of),
                                    label == "optional")
                      for name, of, label in listed}
            for message, listed in fields.items() if message not in in_memory}


def capture_problems(document, proto):
    there = messages(proto)
    text = section(document, "Messages")
    titles = re.findall(r"^### (.+)$", text, re.MULTILINE)
    yield from difference("messages", titles, there)
    for message in sorted(set(titles) & set(there)):
        written = {}
        for name, of, *_ in rows(section(text, message)):
            written[name.strip("`").rstrip("?")] = (re.sub(r"`", "", of), name.endswith("?`"))
        yield from difference(message, written, there[message])
        for name in sorted(set(written) & set(there[message])):
            of, optional = there[message][name]
            scalar = of in ("bool", "string", "bytes") or re.fullmatch(r"s?u?(?:int|fixed)\d+", of)
            if written[name][0] != of:
                yield f"{message}.{name}: written down as '{written[name][0]}', it is '{of}'"
            if scalar and written[name][1] != optional:
                yield f"{message}.{name}: {'may' if optional else 'cannot'} be absent"


# --- The digest -----------------------------------------------------------------


def outline(text):
    """{key: (required, keys below or None)} of the keys as digest/DIGEST.md lists them."""
    tokens = re.findall(r"[\w]+\??|[\[\]{}]", re.sub(r"#.*", "", text))
    stack, last = [{}], None
    for token in tokens:
        if token == "{":
            below = {}
            stack[-1][last] = (stack[-1][last][0], below)
            stack.append(below)
        elif token == "}":
            stack.pop()
        elif token not in "[]":
            last = token.rstrip("?")
            stack[-1][last] = (not token.endswith("?"), None)
        if token == "}":
            last = None
    if len(stack) != 1:
        raise Unreadable("brackets of the keys do not match")
    return stack[0]


def schema_outline(node, definitions):
    """The same of a JSON Schema."""
    if "$ref" in node:
        return schema_outline(definitions[node["$ref"].split("/")[-1]], definitions)
    if node.get("type") == "array":
        return schema_outline(node["items"], definitions)
    keys = {}
    for part in node.get("allOf", []):
        keys.update(schema_outline(part, definitions) or {})
    for key, below in node.get("properties", {}).items():
        keys[key] = (key in node.get("required", []), schema_outline(below, definitions))
    return keys or None


def key_problems(written, there, path=""):
    yield from difference(f"key of the digest{path and ' in ' + path}", written, there)
    for key in sorted(set(written) & set(there)):
        full = f"{path}.{key}" if path else key
        if written[key][0] != there[key][0]:
            yield f"key {full} of the digest: {'required' if there[key][0] else 'may be absent'}"
        yield from key_problems(written[key][1] or {}, there[key][1] or {}, full)


def literals(text):
    """C++ string literals that are returned, those side by side as one."""
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found))
            for found in re.findall(rf"return {LITERALS};", text)]


def digest_problems(document, schema, wording):
    block = re.search(r"```\n(.*?)```", section(document, "JSON"), re.DOTALL)
    if not block:
        raise Unreadable("no list of keys under 'JSON'")
    yield from key_problems(outline(block[1]), schema_outline(schema, schema["definitions"]))
    for function in ("Headline", "HostsPrefix"):
        for sentence in filter(None, literals(body(wording, function))):
            if sentence.strip() not in document:
                yield f"a sentence of the digest is not written down: {sentence}"


# --- Causes ---------------------------------------------------------------------


def body(code, function):
    found = re.search(rf"\b{function}\([^;{{]*\{{\n.*?^\}}", code, re.MULTILINE | re.DOTALL)
    if not found:
        raise Unreadable(f"no function {function}")
    return found[0]


def enumerators(code, name):
    """Of an enum class, as everybody reads them: kDcnLink is DCN_LINK."""
    found = re.search(rf"enum class {name} \{{(.*?)\}};", code, re.DOTALL)
    if not found:
        raise Unreadable(f"no enum {name}")
    names = re.findall(r"\bk(\w+)", COMMENT.sub("", found[1]))
    return [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper() for name in names]


def cause_problems(document, verdict, wording):
    causes = enumerators(verdict, "Cause")
    details = [name for name in enumerators(verdict, "Detail") if name != "NONE"]
    table = rows(section(document, "Causes and details"))
    by_cause = {spans(row[0])[0]: row for row in table}
    yield from difference("cause", by_cause, causes)
    yield from difference("detail", [name for row in table for name in spans(row[2])], details)
    known = dict(re.findall(r'case Cause::k(\w+):\s*return "([^"]*)";', body(wording, "PotentialCause")))
    for name, words in known.items():
        cause = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
        if cause != "NO_HANG" and cause in by_cause and by_cause[cause][1] != words:
            yield f"cause {cause}: the digest calls it '{words}'"
    judged = {name for row in rows(section(document, "Removal")) for name in spans(row[0])}
    for row in table:
        cause = spans(row[0])[0]
        for name in (spans(row[2]) or [cause]):
            if name not in judged and cause not in judged:
                yield f"what removal {name} allows is not written down"
    yield from (f"removal: there is no {name}" for name in sorted(judged - {*causes, *details}))


# --- Commands -------------------------------------------------------------------


def once(pattern, code, what):
    """All that the one file shows which holds the pattern."""
    for text in code.values():
        if found := re.findall(pattern, text):
            return found
    raise Unreadable(f"nothing in the code looks like {what}")


def below(code, folder):
    return {path: text for path, text in code.items() if path.startswith(folder + "/")}


def paths(table):
    return [span for row in rows(table) for span in spans(row[0])]


def command_problems(document, configuration, code):
    """`code`: the text of every C++ file, by its path."""
    status = once(r"\bint kExit\w+ = (\d+);", code, "exit status")
    yield from difference("exit status", [row[0] for row in rows(
        section(document, "What all programs do alike"))], status)

    served = r'not here; there are ([^"\\]*)'
    agent = once(served, below(code, "agent"), "the paths that the agent serves")[0].split()
    yield from difference("path of the agent", paths(section(document, "rapideye-agent")), agent)
    remover = once(served, below(code, "coordinator/removal"), "the paths that a remover serves")[0].split()
    yield from difference("path of a remover", paths(section(document, "HTTP of a remover")), remover)
    coordinator = once(served, below(code, "coordinator/server"), "the paths that the coordinator serves")
    forms = once(r'\{"([\w.]*)", IncidentForm::', below(code, "coordinator"), "forms of an incident")
    yield from difference(
        "path of the coordinator", paths(section(document, "HTTP")),
        coordinator[0].split() + [f"/incidents/<id>{suffix}" for suffix in forms])

    files = once(r'char k\w+File\[\] = "([^"]+)";', below(code, "coordinator"), "files of an incident")
    yield from difference("file of an incident", [
        name for name in paths(section(document, "Incidents on disk")) if "<" not in name], files)

    commands = re.findall(r"^#{2,3} (rapideye [a-z -]+)$", configuration, re.MULTILINE)
    there = [name for name in commands if not any(other.startswith(name + " ") for other in commands)]
    written = [re.match(r"rapideye(?: [a-z-]+)+", span)[0]
               for span in paths(section(document, "rapideye"))]
    yield from difference("command", written, there)


def source_problems(document, configuration):
    listed = re.search(r"`--disable=TEXT`.*?: ([a-z, -]+) \(repeatable\)", configuration)
    if not listed:
        raise Unreadable("CONFIGURATION.md does not list the sources of --disable")
    table = rows(document.split("\n## ")[0])
    written = [re.match(r"\[([^\]]+)\]", row[0])[1] for row in table]
    yield from difference("source", written, ["identity", "runtime", *listed[1].split(", ")])


def hook_problems(document, code):
    given = once(r'variables\["(RAPIDEYE_\w+)"\]', below(code, "coordinator"), "a hook's environment")
    written = set(re.findall(r"RAPIDEYE_[A-Z_]+\b(?<!_)", section(document, "What a hook gets")))
    yield from difference("variable of a hook", written, given)


# --- All of it --------------------------------------------------------------------


def defining(pattern, code):
    """The text of the file that holds the pattern."""
    for text in code.values():
        if re.search(pattern, text, re.MULTILINE):
            return text
    raise Unreadable(f"nothing in the code looks like {pattern}")


def problems(root):
    code = {path: repository.read(root, path) for path in repository.cpp_files(root)
            if not path.startswith("tests/") and not path.endswith("_test.cc")}

    def read(path):
        return repository.read(root, path)

    def wording():
        return defining(r"^\S.*\bHeadline\([^;]*\{$", code)

    configuration = read("deploy/CONFIGURATION.md")
    checks = {
        "proto/v1/CAPTURE.md": lambda text: capture_problems(text, read("proto/v1/capture.proto")),
        "digest/DIGEST.md": lambda text: digest_problems(
            text, json.loads(read("digest/schema/digest.schema.json")), wording()),
        "classifier/CAUSES.md": lambda text: cause_problems(
            text, defining(r"^enum class Detail \{", code), wording()),
        "deploy/COMMANDS.md": lambda text: command_problems(text, configuration, code),
        "agent/sources/README.md": lambda text: source_problems(text, configuration),
        "deploy/hooks/README.md": lambda text: hook_problems(text, code),
    }
    found = []
    for path, check in checks.items():
        try:
            found += [f"{path}: {problem}" for problem in check(read(path))]
        except Unreadable as error:
            found.append(f"{path}: {error}")
    return found


def main():
    found = problems(sys.argv[1])
    print("\n".join(found) or "the documents say what the code says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
