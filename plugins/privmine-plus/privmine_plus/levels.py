"""Candidates by bounded counts, level by level: items, pairs of likely items, longer ones of likely pairs."""

from __future__ import annotations

from fractions import Fraction

from attrs import frozen

from privmine.api import Answer, Curator, Elements, Request, hookimpl
from privmine_plus.beliefs import item_beliefs, long_beliefs, pair_beliefs
from privmine_plus.budget import HISTOGRAM_SHARE, SELECT_SHARE, affordable
from privmine_plus.grow import grown, promising_pairs
from privmine_plus.looks import look
from privmine_plus.regime import measured_threshold

#: The least share of the budget for each level, and the most for items, for pairs and for longer itemsets.
LEAST = Fraction(5, 100)
CAPS = Fraction(30, 100), Fraction(15, 100), Fraction(7, 100)


@frozen
class BoundedLevels:
    """Looks at the items of the universe, then at pairs of likely items, then at longer itemsets of likely pairs.

    Each look is one Laplace measurement in which a transaction adds at most m in all, however many candidates
    there are; its noisy counts are both the selection and a first estimate, which later stages go on using.

    Privacy: for each level a histogram of what transactions hold (`HeldHistogram`, L1 = 1) and one measurement
    (`WeightedSupports` or `BoundedSupports`) whose L1 norm is computed from its whole-numbered weights. Which
    candidates are looked at, the bound m and the shares follow from earlier noisy answers and public facts.
    """

    @hookimpl
    def select_elements(self, request: Request, curator: Curator, answers: tuple[Answer, ...]) -> Elements:
        """Look at items, pairs and longer itemsets; see `Stages.select_elements`."""
        if request.k == 0:
            return Elements(())
        threshold = measured_threshold(request, curator, answers)
        # Where another plan gives this stage less, all shares shrink alike.
        room = min(Fraction(1), affordable(request, curator) / SELECT_SHARE)
        least, histogram = LEAST * room, HISTOGRAM_SHARE * room
        item_cap, pair_cap, long_cap = (cap * room for cap in CAPS)
        items = item_beliefs(
            request, threshold, look(request, curator, None, threshold.theta, item_cap, least, histogram)
        )
        longest = request.max_length
        pairs = promising_pairs(items) if longest is None or longest >= 2 else []
        found = items
        if pairs:
            seen = look(request, curator, pairs, threshold.theta, pair_cap, least, histogram)
            likely = pair_beliefs(items, seen, request.k)
            found = found.joined(likely.kept())
            longer = list(grown(found, request.k, longest))
            if longer:
                seen = look(request, curator, longer, threshold.theta, long_cap, least, histogram)
                found = found.joined(long_beliefs(items, seen))
        ranked = [found.itemsets[place] for place in found.ranking(request.k).tolist()]
        singles = [item for (item,) in items.itemsets]
        return Elements(singles, [itemset for itemset in ranked if len(itemset) > 1])
