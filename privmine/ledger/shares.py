"""The budgets of one dataset: of the people in it, of those who came later, and of the accounts that share them.

Whom does a release cost something? A release of all rows costs everybody; a release of the rows of one part costs those
people alone, and nobody else (parallel composition). So each part has its own sum, and a charge for all is added to
every sum. What an account was granted and has not spent is reserved in every sum, because it may be spent on all.
Hence an account can never spend more than the dataset has: the grant was refused, or its ε is set aside.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from attrs import define, field

from privmine.errors import UnknownNameError
from privmine.ledger.entries import Amounts, DatasetBudget


@define
class Shares:
    """What is left to whom.

    Attributes:
        everybody: by part the budget of its people; those of the start are the part without a name.
        accounts: by account what it was granted and has spent.
    """

    everybody: dict[str, DatasetBudget]
    accounts: dict[str, DatasetBudget] = field(factory=dict)

    @classmethod
    def of(cls, budget: DatasetBudget) -> Shares:
        """A dataset whose people are all of the start."""
        return cls({"": budget})

    @property
    def first(self) -> DatasetBudget:
        """The budget of those who are in it from the start."""
        return self.everybody[""]

    def __iter__(self) -> Iterator[DatasetBudget]:
        yield from self.everybody.values()
        yield from self.accounts.values()

    def payers(self, account: str = "", part: str = "") -> list[DatasetBudget]:
        """The budgets that must cover a charge: that of the account, or those of the people.

        What an account has left is reserved with the people already, so that its own budget alone decides.
        """
        if part and part not in self.everybody:
            raise UnknownNameError(
                f"part of {self.first.name!r}",
                part,
                [name for name in self.everybody if name],
                hint="Add it with `privmine budget grow`.",
            )
        if account:
            return [self._account(account)]
        return [self.everybody[part]] if part else list(self.everybody.values())

    def tightest(self, account: str = "", part: str = "") -> DatasetBudget:
        """The budget among them that has the least left."""
        return min(
            self.payers(account, part), key=lambda budget: (budget.remaining_epsilon, budget.remaining_delta or 0)
        )

    def charged(self, amounts: Amounts, account: str = "", part: str = "") -> Shares:
        """With one charge more."""
        everybody = {
            name: budget.charged(amounts) if part in ("", name) else budget for name, budget in self.everybody.items()
        }
        accounts = dict(self.accounts)
        if account:
            accounts[account] = self._account(account).charged(amounts)
        return _with_reserves(everybody, accounts)

    def granted(self, account: str, amounts: Amounts) -> Shares:
        """With a new account."""
        return _with_reserves(
            self.everybody, {**self.accounts, account: self.first.with_total(amounts, account=account)}
        )

    def revoked(self, account: str) -> Shares:
        """With an account that has nothing left: what it did not spend is the dataset's again."""
        return _with_reserves(self.everybody, {**self.accounts, account: self._account(account).emptied()})

    def renewed(self, amounts: Amounts, until: date) -> Shares:
        """In a new period: what was spent stays spent, and what was not has lapsed, that of accounts as well."""
        return _with_reserves({name: budget.renewed(amounts, until) for name, budget in self.everybody.items()}, {})

    def grown(self, part: str, amounts: Amounts) -> Shares:
        """With new people, who are in no earlier release."""
        return _with_reserves({**self.everybody, part: self.first.with_total(amounts, part=part)}, self.accounts)

    @property
    def overdrawn(self) -> DatasetBudget | None:
        """A budget of which more is spent and granted than there was, if there is one."""
        return next((budget for budget in self if budget.is_overdrawn), None)

    def _account(self, name: str) -> DatasetBudget:
        try:
            return self.accounts[name]
        except KeyError:
            raise UnknownNameError(
                f"account of {self.first.name!r}",
                name,
                self.accounts,
                hint="Give it a part of the budget with `privmine budget grant` or `Ledger.grant`.",
            ) from None


def _with_reserves(everybody: dict[str, DatasetBudget], accounts: dict[str, DatasetBudget]) -> Shares:
    return Shares({name: budget.sharing(accounts.values()) for name, budget in everybody.items()}, accounts)
