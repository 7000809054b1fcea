"""What a verdict should say of a fault, and how far one does."""

import dataclasses

NOBODY = frozenset()


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One cause with its detail and what the culprit is in. In a truth None stands for any."""

    cause: str
    detail: str | None = None
    activity: str | None = None

    def covers(self, other):
        """Whether `other` says the same, as far as this one asks."""
        return (self.cause == other.cause and self.detail in (None, other.detail)
                and self.activity in (None, other.activity))

    def __str__(self):
        return " ".join(part for part in (self.cause, self.detail, self.activity) if part)


@dataclasses.dataclass(frozen=True)
class Truth:
    """Verdicts of which any is right, and sets of culprits (ranks) of which any is right."""

    verdicts: tuple[Verdict, ...]
    culprits: tuple[frozenset[int], ...] = (frozenset({2}),)

    def __str__(self):
        return (" or ".join(str(verdict) for verdict in self.verdicts) + ": "
                + " or ".join(names(ranks) for ranks in self.culprits))


def names(ranks):
    return ", ".join(f"host-{rank}" for rank in sorted(ranks)) or "nobody"


@dataclasses.dataclass(frozen=True)
class Said:
    """A digest, as far as it is compared."""

    verdict: Verdict
    culprits: frozenset[int]

    def __str__(self):
        return f"{self.verdict}: {names(self.culprits)}"


def of_digest(digest):
    """The verdict of a digest's JSON. Where it names links alone, the host common to all of them."""
    culprits = frozenset(culprit["task"] for culprit in digest["culprits"])
    activities = {culprit.get("hostActivity") for culprit in digest["culprits"]}
    links = [{link["from"]["task"], link["to"]["task"]} for link in digest.get("links", [])]
    if not culprits and links:
        culprits = frozenset(set.intersection(*links))
    activity = activities.pop() if len(activities) == 1 else None
    return Said(Verdict(digest["cause"], digest.get("detail"), activity), culprits)


def grade(truth, said):
    """"right"; "partly": the cause or the culprits; "wrong"."""
    verdict = any(one.covers(said.verdict) for one in truth.verdicts)
    culprits = said.culprits in truth.culprits
    if verdict and culprits:
        return "right"
    cause = any(one.cause == said.verdict.cause for one in truth.verdicts)
    # Naming nobody is no merit where a verdict is wrong.
    return "partly" if cause or (culprits and said.culprits) else "wrong"
