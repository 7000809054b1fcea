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
        return (
            self.cause == other.cause
            and self.detail in (None, other.detail)
            and self.activity in (None, other.activity)
        )

    def __str__(self):
        return " ".join(part for part in (self.cause, self.detail, self.activity) if part)


class Truth:
    """What is right: any of the verdicts with any of the sets of culprits (ranks). Joined by |."""

    def __init__(self, verdicts, culprits=(frozenset({2}),)):
        self._groups = ((tuple(verdicts), tuple(culprits)),)

    def __or__(self, other):
        both = Truth((), ())
        both._groups = self._groups + other._groups
        return both

    def alternatives(self):
        """Pairs of a verdict and culprits."""
        return [
            (verdict, ranks)
            for verdicts, sets in self._groups
            for verdict in verdicts
            for ranks in sets
        ]

    def renumbered(self, ranks):
        """The same of other ranks: a mapping, of those that change."""
        other = Truth((), ())
        other._groups = tuple(
            (verdicts, tuple(frozenset(ranks.get(rank, rank) for rank in one) for one in sets))
            for verdicts, sets in self._groups
        )
        return other

    def __str__(self):
        return "; or ".join(
            f"{_together(verdicts)}: {' or '.join(names(ranks) for ranks in sets)}"
            for verdicts, sets in self._groups
        )


def _together(verdicts):
    """Verdicts as one text: what only their last words differ in stands behind slashes."""
    lasts = {}
    for verdict in verdicts:
        *first, last = str(verdict).split()
        lasts.setdefault(" ".join(first), []).append(last)
    return " or ".join(f"{first} {'/'.join(last)}".strip() for first, last in lasts.items())


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
    """The verdict of a digest in JSON; where it names links alone, the host that all share."""
    culprits = frozenset(culprit["task"] for culprit in digest["culprits"])
    activities = {culprit.get("hostActivity") for culprit in digest["culprits"]}
    links = [{link["from"]["task"], link["to"]["task"]} for link in digest.get("links", [])]
    if not culprits and links:
        culprits = frozenset(set.intersection(*links))
    activity = activities.pop() if len(activities) == 1 else None
    return Said(Verdict(digest["cause"], digest.get("detail"), activity), culprits)


def grade(truth, said):
    """ "right"; "partly": the cause or the culprits; "wrong"."""
    alternatives = truth.alternatives()
    if any(
        verdict.covers(said.verdict) and ranks == said.culprits for verdict, ranks in alternatives
    ):
        return "right"
    cause = any(verdict.cause == said.verdict.cause for verdict, _ in alternatives)
    # Naming nobody is no merit where a verdict is wrong.
    culprits = said.culprits and any(ranks == said.culprits for _, ranks in alternatives)
    return "partly" if cause or culprits else "wrong"
