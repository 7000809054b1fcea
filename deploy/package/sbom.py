#!/usr/bin/python3
"""What is inside of the packages, as SPDX 2.3 in JSON.

usage: sbom.py STAGE VERSION

STAGE/libraries.tsv names the bundled libraries with the package and source of Debian that each
comes from; py-spy is PyPI's, of the version in py-spy.txt. The document's time is that of the commit (SOURCE_DATE_EPOCH), so that the same commit
gives the same document.
"""

import datetime
import hashlib
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAMESPACE = "https://spdx.org/spdxdocs/rapideye"
PY_SPY = "libexec/rapideye/py-spy"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def package(identifier, name, version, purl):
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": purl,
            }
        ],
    }


def document(stage, version, epoch, commit):
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    own = package(
        "SPDXRef-rapideye", "rapideye", version, f"pkg:generic/rapideye@{version}?commit={commit}"
    )
    own["licenseDeclared"] = "Apache-2.0"
    packages, relations, files = [own], [], []
    relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-rapideye"))
    seen = set()
    with open(os.path.join(stage, "libraries.tsv"), encoding="utf-8") as listing:
        rows = [line.rstrip("\n").split("\t") for line in listing]
    for name, binary, binary_version, source in rows:
        identifier = "SPDXRef-debian-" + re.sub(r"[^A-Za-z0-9.-]", "-", binary)
        if identifier not in seen:
            seen.add(identifier)
            purl = f"pkg:deb/debian/{binary}@{binary_version}?distro=debian-12&source={source}"
            packages.append(package(identifier, binary, binary_version, purl))
            relations.append(("SPDXRef-rapideye", "DEPENDS_ON", identifier))
        files.append((f"lib/{name}", identifier))
    if os.path.exists(os.path.join(stage, PY_SPY)):
        with open(os.path.join(HERE, "py-spy.txt"), encoding="utf-8") as pinned:
            its_version = re.search(r"^py-spy==(\S+)", pinned.read(), re.MULTILINE).group(1)
        tool = package("SPDXRef-py-spy", "py-spy", its_version, f"pkg:pypi/py-spy@{its_version}")
        tool["licenseDeclared"] = "MIT"
        packages.append(tool)
        relations.append(("SPDXRef-rapideye", "DEPENDS_ON", "SPDXRef-py-spy"))
        files.append((PY_SPY, "SPDXRef-py-spy"))
    files += [(f"bin/{name}", "SPDXRef-rapideye") for name in sorted(os.listdir(f"{stage}/bin"))]
    listed = []
    for number, (path, owner) in enumerate(files):
        identifier = f"SPDXRef-file-{number}"
        listed.append(
            {
                "SPDXID": identifier,
                "fileName": f"./{path}",
                "checksums": [
                    {"algorithm": "SHA256", "checksumValue": digest(os.path.join(stage, path))}
                ],
                "licenseConcluded": "NOASSERTION",
                "copyrightText": "NOASSERTION",
            }
        )
        relations.append((owner, "CONTAINS", identifier))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"rapideye-{version}",
        "documentNamespace": f"{NAMESPACE}-{version}-{commit}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: deploy/package.sh"],
        },
        "packages": packages,
        "files": listed,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relations
        ],
    }


def main():
    stage, version = sys.argv[1:]
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    json.dump(
        document(stage, version, epoch, os.environ["RAPIDEYE_COMMIT"]), sys.stdout, indent=1
    )
    print()


if __name__ == "__main__":
    main()
