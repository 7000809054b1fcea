"""A fault: what is done to the job, when, and what a verdict has to say of it."""

import dataclasses
from collections.abc import Callable

from truth import NOBODY, Truth

ODD_RANK = 2
# By then everything has happened in health: three saves, four evaluations, six barriers; and a
# coordinator that hears of steps every 5 s has seen some end.
STEADY = 65
# Of runs that end.
LAST_STEP = 90


@dataclasses.dataclass(frozen=True)
class Fault:
    """One way in which a job breaks, or does not."""

    name: str
    does: str  # what happens in the odd rank
    effect: str  # what becomes of the job, if nobody does anything
    told_by: str  # the evidence; after a semicolon what the page or XLA's dumps add
    truth: Truth
    rank: int = ODD_RANK
    at: str = "steady"  # or "start", "told" (by the program), "end": when it comes
    program: str = "train"  # of the folder job
    odd: str = ""  # the option of the training program
    odd_at: int = STEADY
    prepare: Callable | None = None  # before the ranks start
    inject: Callable | None = None  # done to the running job
    options: tuple[str, ...] = ()  # of the training program, for every rank
    absent: frozenset[int] = NOBODY  # ranks that never start
    also_odd: tuple[int, ...] = ()  # ranks that are odd besides
    patience: float = 0  # seconds for an incident to arise, at least
    production: bool = False  # with the thresholds of production, whichever are asked for
    dumps: bool = False  # XLA writes the programs' texts
    needs: tuple[Callable, ...] = ()  # each says why it cannot be done here, or None

    def placed(self, seed, to=None):
        """The same at another rank and another step; where 1 leaves it. Rank 0 leads, and stays,
        unless it is the one that was asked for (`to`)."""
        if to is None:
            to = ODD_RANK if seed == 1 else 1 + seed % 3
        swap = {ODD_RANK: to, to: ODD_RANK}
        return dataclasses.replace(
            self,
            rank=swap.get(self.rank, self.rank),
            truth=self.truth.renumbered(swap),
            absent=frozenset(swap.get(rank, rank) for rank in self.absent),
            also_odd=tuple(swap.get(rank, rank) for rank in self.also_odd),
            odd_at=self.odd_at and self.odd_at + (seed - 1) % 5,
        )

    @property
    def raises_nothing(self):
        return self.truth.alternatives()[0][0].cause == "NO_HANG"
