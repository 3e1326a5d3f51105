"""Every method and every component with a δ on real data, with exact noise: do the charges of each receipt add up?

    python tests/benchmarks/every_method.py --data DIR [--delta 1e-6] [--epsilon 1] [--k 50] [--only retail …]

A component stands in its stage of the pipelines that an audit would try it in. Prints a line a run, and at the end how
many there were. A run whose charges do not sum to its ρ exactly, whose guarantee is not what was asked for, or whose
receipt reads back as another one ends the script.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from time import process_time

from common import dataset, parser

import privmine as pm
from privmine.audit.subjects import all_subjects
from privmine.errors import PrivmineError
from privmine.hooks.registry import registry
from privmine.privacy import Receipt
from privmine.privacy.conversion import epsilon_of, rho_of

DATASETS = ("retail", "mushroom", "BMS-WebView-2", "groceries", "online-retail")


def pipelines() -> dict[str, pm.Pipeline]:
    """All that there is, by name."""
    made = {f"method {name}": pm.Pipeline(name) for name in registry().presets}
    return made | {subject.name: subject.pipeline for subject in all_subjects()}


def main() -> None:
    """Run all of them."""
    options = parser(__doc__.partition("\n")[0])
    options.add_argument("--delta", default="1e-6")
    options.add_argument("--epsilon", default="1")
    options.add_argument("--k", type=int, default=50)
    options.add_argument("--only", nargs="*", choices=DATASETS)
    asked = options.parse_args()
    epsilon, delta = Fraction(asked.epsilon), Fraction(asked.delta)
    budget, runs, refused = rho_of(epsilon, delta), 0, []
    for name in asked.only or DATASETS:
        baskets = pm.read(dataset(asked.data, name))
        for words, pipeline in pipelines().items():
            trusted = pipeline.trusting({part.distribution for part in pipeline.parts.values()})
            start = process_time()
            try:
                release = trusted.run(baskets, asked.k, epsilon, delta=delta)
            except PrivmineError as error:
                refused.append(f"{name}, {words}: {error}")
                continue
            receipt = release.receipt
            spent = sum((charge.cost.amount for charge in receipt.charges), Fraction(0))
            if not spent == receipt.cost.amount == budget:
                sys.exit(f"{name}, {words}: the charges sum to ρ = {spent}, and not to {budget}")
            if (receipt.guarantee.epsilon, receipt.guarantee.delta) != (epsilon_of(spent, delta), delta):
                sys.exit(f"{name}, {words}: {receipt.guarantee} is not what was asked for")
            if receipt.guarantee.epsilon > epsilon or Receipt.from_dict(receipt.to_dict()) != receipt:
                sys.exit(f"{name}, {words}: the receipt contradicts itself")
            runs += 1
            seconds = process_time() - start
            print(
                f"{name}  {words}  {len(release)} itemsets, {len(receipt.charges)} charges, {seconds:.1f} s", flush=True
            )
    print(f"\n{runs} runs, in each the charges sum to ρ = {budget} exactly")
    print("\n".join(["refused:", *refused] if refused else ["none refused"]))


if __name__ == "__main__":
    main()
