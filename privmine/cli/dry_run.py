"""`privmine mine --dry-run`: what a run would do, from public facts only."""

from __future__ import annotations

from privmine.cli.screen import console, print_json, table, text
from privmine.model import DATA_STAGES, Origin
from privmine.pipeline import Pipeline, protects
from privmine.privacy import amount
from privmine.request import Wish
from privmine.store.transactions import Transactions


def show_dry_run(pipeline: Pipeline, wish: Wish, transactions: Transactions, as_json: bool) -> None:
    """Refuse what the run would refuse, else show its plan."""
    request = wish.request(transactions)
    source = wish.source()
    plan = pipeline.prepare(request).plan()
    shares = {stage: getattr(plan, stage) * request.epsilon for stage in DATA_STAGES}
    left = wish.left(transactions.unit)
    remaining = None if left is None else left.remaining_epsilon
    origin = transactions.origin
    described = f"{origin.layout} layout of {origin.source}" if origin.layout else "the embedded baskets"
    facts = {
        "k": request.k,
        "requested": request.requested,
        "epsilon": str(request.epsilon),
        "guaranteed_epsilon": str(2 * request.epsilon if wish.n_public else request.epsilon),
        "protects": protects(request, source),
        "data": described,
        "columns": dict(origin.columns),
        "items": len(request.public.universe),
        "universe_given": request.public.universe.given,
        "stages": pipeline.describe(),
        "shares": {stage: str(share) for stage, share in shares.items()},
        "ledger_remaining_afterwards": None if remaining is None else str(remaining),
    }
    if as_json:
        print_json(facts)
        return
    out = console()
    universe = request.public.universe
    source_of_items = "named by --items" if universe.given else "taken from the data; --items would name them"
    most = f", of which at most {request.k} can exist" if request.k < request.requested else ""
    out.print(
        f"[bold]Dry run:[/] k = {request.requested}{most}, ε = {amount(request.epsilon)}; nothing was drawn or charged."
    )
    out.print(f"[bold]Data:[/] {text(described)}")
    columns = _columns_text(origin)
    if columns:
        out.print(f"[bold]Columns:[/] {text(columns)}")
    out.print(f"[bold]Protects:[/] {text(protects(request, source))}")
    if request.public.n is not None:
        out.print(
            f"[bold]With the number of transactions published:[/] ε = {amount(2 * request.epsilon)} in that sense"
        )
    out.print(f"[bold]Items:[/] {len(universe):,}, {source_of_items}\n")
    rows = table("stage", "component", "share of ε")
    for stage, description in pipeline.describe().items():
        rows.add_row(stage, text(description), amount(shares[stage]) if stage in shares else "")
    out.print(rows)
    out.print("\nWhat a stage leaves of its share goes to the next one.")
    if remaining is not None:
        out.print(f"[bold]Ledger:[/] ε = {amount(remaining)} would remain for {text(wish.dataset)}.")


def _columns_text(origin: Origin) -> str:
    """Which column is used as what; empty where there are no columns."""
    used = [f"{role} = {column}" for role, column in origin.columns]
    if origin.layout == "one-hot":
        used.append(f"every {'other ' if used else ''}column is an item")
    return ", ".join(used)
