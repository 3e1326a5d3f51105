"""One run of an experiment: from a cell to its row."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import define, field

from privmine.evaluation.metrics import measures
from privmine.evaluation.recipes import Recipe
from privmine.evaluation.result_rows import Row, columns
from privmine.evaluation.seeds import Cell, seed_of
from privmine.evaluation.stage_recorder import StageRecorder
from privmine.evaluation.truth import Truth
from privmine.pipeline import Pipeline


@define
class CellRunner:
    """A dataset with its truth and the pipelines to try on it; each process has its own.

    Attributes:
        truth: the exact data.
        recipes: the pipelines by name.
        definitions: their digests.
    """

    truth: Truth
    recipes: Mapping[str, Recipe]
    definitions: Mapping[str, str]
    _recorder: StageRecorder = field(factory=StageRecorder, init=False)
    _pipelines: dict[str, Pipeline] = field(factory=dict, init=False)
    _truths: dict[str, tuple[Truth, int]] = field(factory=dict, init=False)

    def _frequent(self, theta: str) -> tuple[Truth, int]:
        """The truth of a frequency, mined once, and how many itemsets have it."""
        if theta not in self._truths:
            self._truths[theta] = self.truth.of_frequency(Fraction(theta))
        return self._truths[theta]

    def run(self, cell: Cell) -> Row:
        """Do one run in simulation, and measure it against the truth."""
        recipe, pipeline = self.recipes[cell.pipeline], self._pipelines.get(cell.pipeline)
        if pipeline is None:
            pipeline = self._pipelines[cell.pipeline] = recipe.make()
        self._recorder.taken()  # What a run that failed has left.
        seed = seed_of(cell)
        theta = recipe.theta
        release = pipeline.run(
            self.truth.transactions,
            cell.k if theta is None else None,
            cell.epsilon,
            delta=recipe.delta,
            theta=theta,
            k_max=None if theta is None else cell.k,
            simulate=True,
            seed=seed,
            observers=[self._recorder],
        )
        truth, k = (self.truth, cell.k) if theta is None else self._frequent(theta)
        released = truth.indices(found.items for found in release)
        # Where items are private, bases are of those that a run found, under numbers of their own.
        basis = None if self.truth.transactions.universe.private else self._recorder.basis
        return dict.fromkeys(columns()) | {
            "data": cell.data,
            "pipeline": cell.pipeline,
            "k": cell.k,
            "epsilon": cell.epsilon,
            "repeat": cell.repeat,
            "seed": seed,
            "database": self.truth.database,
            "definition": self.definitions[cell.pipeline],
            **measures(truth, k, released, [found.count for found in release], basis),
            **self._recorder.taken(),
        }
