#!/usr/bin/python3
"""Gives a wheel of pure tags those of a platform, as `wheel tags` of newer releases does.

usage: retag.py WHEEL PLATFORM

The wheel is replaced by one of the new name; its times stay (SOURCE_DATE_EPOCH made them).
"""

import base64
import hashlib
import os
import sys
import zipfile


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def retagged(files, platform):
    """(info, data) of each file, with WHEEL and RECORD as they must be then."""
    lines, record = [], None
    for info, data in files:
        if info.filename.endswith(".dist-info/RECORD"):
            record = info
            continue
        if info.filename.endswith(".dist-info/WHEEL"):
            text = data.decode().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
            data = text.replace("Tag: py3-none-any", f"Tag: py3-none-{platform}").encode()
        lines.append(record_line(info.filename, data))
        yield info, data
    lines.append(f"{record.filename},,")
    yield record, ("\n".join(lines) + "\n").encode()


def main():
    path, platform = sys.argv[1:]
    with zipfile.ZipFile(path) as wheel:
        files = [(info, wheel.read(info)) for info in wheel.infolist()]
    target = path.replace("-py3-none-any.whl", f"-py3-none-{platform}.whl")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for info, data in retagged(files, platform):
            copy = zipfile.ZipInfo(info.filename, info.date_time)
            copy.external_attr = info.external_attr
            wheel.writestr(copy, data, zipfile.ZIP_DEFLATED, 9)
    os.remove(path)


if __name__ == "__main__":
    main()
