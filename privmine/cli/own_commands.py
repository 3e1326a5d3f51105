"""privmine's own commands: name, import path and a line of help, so that listing them imports none."""

from __future__ import annotations

OWN_COMMANDS = (
    (
        "mine",
        "privmine.cli.mine_command:mine",
        "Release the most frequent itemsets of DATA under differential privacy.",
    ),
    (
        "columns",
        "privmine.cli.columns_command:columns",
        "Show the names of the columns of FILE, so that you can name them in --transaction, --item and --unit.",
    ),
    (
        "plan",
        "privmine.cli.plan_command:plan",
        "Show what a release would find and how exact it would be, before anything is spent.",
    ),
    ("show", "privmine.cli.show_command:show", "Show RELEASE again, or save it as another kind of file."),
    (
        "rules",
        "privmine.cli.rules_command:rules",
        "Show the association rules of RELEASE, a file that `privmine mine` saved.",
    ),
    ("plot", "privmine.cli.plot_command:plot", "Draw RELEASE: supports, items that go together, or rules."),
    ("diff", "privmine.cli.diff_command:diff", "Tell what changed from FIRST to SECOND, two releases."),
    (
        "report",
        "privmine.cli.report_command:report",
        "Write a report of RELEASEs for managers and privacy officers, as one page that needs no network.",
    ),
    (
        "disclose",
        "privmine.cli.disclose_command:disclose",
        "Write a draft about RELEASE for the registry of differential privacy deployments.",
    ),
    (
        "convert",
        "privmine.cli.convert_command:convert",
        "Copy the transactions of DATA to OUT, in another format or layout.",
    ),
    (
        "plugins",
        "privmine.cli.plugins_command:plugins",
        "List everything that is known by name, where it comes from, and plugins that failed to load.",
    ),
    (
        "budget",
        "privmine.cli.budget_command:budget",
        "Keep the privacy budget of your datasets in a ledger.",
    ),
    ("sign", "privmine.cli.sign_command:sign", "Sign RELEASE, so that others can tell that it is unchanged."),
    ("verify", "privmine.cli.sign_command:verify", "Tell whether RELEASE is unchanged since its signer signed it."),
    (
        "audit",
        "privmine.cli.audit_command:audit",
        "Look for violations of privacy in pipelines and components; without arguments, in all that are registered.",
    ),
    (
        "new",
        "privmine.cli.new_command:new",
        "Write a plugin distribution called NAME: a working component, its tests, a README and a CI workflow.",
    ),
    (
        "datasets",
        "privmine.cli.datasets_command:datasets",
        "List the datasets that are known by name, describe one, or check that it is there.",
    ),
    (
        "experiment",
        "privmine.cli.experiment_command:experiment",
        "Measure pipelines against exact data, as described in an experiment file.",
    ),
)
