"""privmine's own commands: name, import path and a line of help, so that listing them imports none."""

from __future__ import annotations

OWN_COMMANDS = (
    ("mine", "privmine.cli.mine:mine", "Release the most frequent itemsets of DATA under differential privacy."),
    (
        "plan",
        "privmine.cli.plan:plan",
        "Tell how exact a release would be and what it would spend on what, before anything is spent.",
    ),
    (
        "rules",
        "privmine.cli.rules:rules",
        "Show the association rules of RELEASE, a .csv, .json or .parquet file that `privmine mine` saved.",
    ),
    (
        "convert",
        "privmine.cli.convert:convert",
        "Copy the transactions of DATA to OUT, in another format or layout.",
    ),
    (
        "plugins",
        "privmine.cli.plugins:plugins",
        "List all that is known by name and where it comes from, and plugins that failed to load.",
    ),
    (
        "budget",
        "privmine.cli.budget:budget",
        "Keep the privacy budget of your datasets over their whole life, in a ledger file.",
    ),
    (
        "audit",
        "privmine.cli.audit:audit",
        "Look for violations of privacy in pipelines and components; without arguments, in all that are registered.",
    ),
    (
        "new",
        "privmine.cli.new:new",
        "Write a plugin distribution called NAME: a component that works, its tests, a README and a CI workflow.",
    ),
    (
        "datasets",
        "privmine.cli.datasets:datasets",
        "List the datasets that are known by name, describe one, or see that it is there.",
    ),
    (
        "experiment",
        "privmine.cli.experiment:experiment",
        "Measure pipelines against exact data, as an experiment file says.",
    ),
)
