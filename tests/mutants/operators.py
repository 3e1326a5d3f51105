"""All mutants of a module: each is its source with one small change.

mutmut makes most changes; those that it has no operator for, and that matter for privacy, are made here.
What no test should pin down is left alone: text and what is formatted into it, annotations, asserts (they only
narrow types) and `strict=`, decorators, `__repr__` and `__str__`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst
import libcst.matchers as m
from attrs import frozen
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation import mutators as mutmut

#: Functions whose arguments are forgotten or that are taken for each other.
_TWINS = {
    "min": "max",
    "any": "all",
    "minimum": "maximum",
    "argmin": "argmax",
    "floor": "ceil",
    "l1": "linf",
    "zeros": "ones",
    "append": "extend",
    "union": "intersection",
}
TWINS = _TWINS | {other: one for one, other in _TWINS.items()}
#: Calls that may be forgotten, leaving one of their arguments.
FORGETTABLE = {"min", "max", "minimum", "maximum", "abs", "sorted", "reversed", "round", "ceil", "nextafter", "copy"}


@frozen
class Mutant:
    """A changed source.

    Attributes:
        where: the function that was changed, such as "Curator.measure"; "" outside of all functions.
        line: the number of its first changed line.
        change: the changed lines before and after, for people.
        source: the whole module after the change.
    """

    where: str
    line: int
    change: str
    source: str


def mutants_of(source: str) -> Iterator[Mutant]:
    """All mutants, in the order of the source."""
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    module, positions = wrapper.module, wrapper.resolve(PositionProvider)
    codes = [module.code_for_node(statement) for statement in module.body]
    head = source.partition("".join(codes))[0]
    seen = {source}
    for place, statement in enumerate(module.body):
        finder = _Finder(positions)
        statement.visit(finder)
        before, after = head + "".join(codes[:place]), "".join(codes[place + 1 :])
        for where, line, node, changed in finder.found:
            # Only the statement at hand is rendered anew: to render the whole module each time is slow.
            replaced = changed if node is statement else statement.deep_replace(node, changed)
            code = module.code_for_node(replaced)
            mutated = before + code + after
            if mutated not in seen and _is_python(mutated):
                seen.add(mutated)
                yield Mutant(where, line, _change(codes[place], code), mutated)


def _is_python(source: str) -> bool:
    """Whether it compiles: an argument that became its twin may be there twice."""
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _change(before: str, after: str) -> str:
    """The lines that differ, without what is the same before and after them."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return " → ".join(" ".join(line.strip() for line in lines) for lines in (old, new))


class _Finder(cst.CSTVisitor):
    """Walks through a module and collects (where, line, node, what replaces it)."""

    def __init__(self, positions: Any) -> None:
        super().__init__()
        self.found: list[tuple[str, int, cst.CSTNode, cst.CSTNode]] = []
        self._positions = positions
        self._path: list[str] = []
        self._bound: list[set[str]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, _UNTOUCHED) or m.matches(node, _NAMES_OF_TYPES | _ASSERTION):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            if node.name.value in ("__repr__", "__str__"):
                return False
            self._path.append(node.name.value)
            if isinstance(node, cst.FunctionDef):
                self._bound.append({parameter.name.value for parameter in _parameters(node)})
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                self._collect(node, operator(node))
        self._collect(node, self._forgotten_rebinding(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef) and original_node.name.value not in (
            "__repr__",
            "__str__",
        ):
            self._path.pop()
            if isinstance(original_node, cst.FunctionDef):
                self._bound.pop()

    def _collect(self, node: cst.CSTNode, replacements: Iterable[cst.CSTNode]) -> None:
        for changed in replacements:
            self.found.append((".".join(self._path), self._positions[node].start.line, node, changed))

    def _forgotten_rebinding(self, node: cst.CSTNode) -> Iterable[cst.CSTNode]:
        """`x = f(x)` forgotten where x has a value already; otherwise the name would just be missing."""
        if not isinstance(node, cst.SimpleStatementLine) or not self._bound:
            return
        statement = node.body[0]
        if isinstance(statement, cst.Assign):
            names = {name.value for target in statement.targets for name in m.findall(target.target, m.Name())}
            if names <= self._bound[-1] or m.findall(statement.targets[0].target, m.Subscript() | m.Attribute()):
                yield _PASS
            self._bound[-1] |= names


def _parameters(function: cst.FunctionDef) -> list[cst.Param]:
    return [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params]


_PASS = cst.SimpleStatementLine([cst.Pass()])


def forgotten_statement(node: cst.SimpleStatementLine) -> Iterable[cst.CSTNode]:
    """A call, or an update, that is left out."""
    statement = node.body[0]
    if isinstance(statement, cst.AugAssign) or m.matches(statement, m.Expr(m.Call())):
        yield _PASS


def forgotten_guard(node: cst.If) -> Iterable[cst.CSTNode]:
    """A condition that never holds."""
    yield node.with_changes(test=cst.Name("False"))


def forgotten_operand(node: cst.BooleanOperation) -> Iterable[cst.CSTNode]:
    """`a and b` without a or without b."""
    yield node.left.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield node.right.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def smaller_number(node: cst.Integer) -> Iterable[cst.CSTNode]:
    """One less; mutmut makes one more."""
    if node.evaluated_value > 0:
        yield node.with_changes(value=repr(node.evaluated_value - 1))


def forgotten_sign(node: cst.UnaryOperation) -> Iterable[cst.CSTNode]:
    """−x as x."""
    if isinstance(node.operator, cst.Minus):
        yield node.expression


def taken_for_its_twin(node: cst.Name) -> Iterable[cst.CSTNode]:
    """min as max, L1 as L∞ and so on."""
    if node.value in TWINS:
        yield node.with_changes(value=TWINS[node.value])


def forgotten_call(node: cst.Call) -> Iterable[cst.CSTNode]:
    """max(0, x) as 0 and as x."""
    name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    if isinstance(name, cst.Name) and name.value in FORGETTABLE:
        for argument in node.args:
            if not argument.keyword and not argument.star:
                yield argument.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def forgotten_argument(node: cst.Call) -> Iterable[cst.CSTNode]:
    """A keyword that is left out, or None where a variable should be handed on."""
    for place, argument in enumerate(node.args):
        others = [*node.args[:place], *node.args[place + 1 :]]
        if m.matches(argument, _ASSERTION):
            continue
        if argument.keyword:
            yield node.with_changes(args=others)
        elif not argument.star and isinstance(argument.value, cst.Name | cst.Attribute) and not _needs_values(node):
            none = argument.with_changes(value=cst.Name("None"))
            yield node.with_changes(args=[*node.args[:place], none, *node.args[place + 1 :]])


def _needs_values(call: cst.Call) -> bool:
    """Whether a call certainly fails with None: builtins, numpy and exact numbers."""
    root = call.func
    while isinstance(root, cst.Attribute):
        root = root.value
    return isinstance(root, cst.Name) and (hasattr(builtins, root.value) or root.value in {"np", "Decimal", "Fraction"})


def another_word(node: cst.SimpleString) -> Iterable[cst.CSTNode]:
    """A string of one word is a name; what has a blank, or three quotes, is wording."""
    if node.value[0] in "\"'" and " " not in node.value and len(node.quote) == 1 and len(node.value) > 2:
        yield node.with_changes(value=f"{node.value[:-1]}XX{node.value[-1]}")


def never_repeated(node: cst.For) -> Iterable[cst.CSTNode]:
    """A loop that ends after its first round."""
    body = cst.ensure_type(node.body, cst.IndentedBlock)
    yield node.with_changes(body=body.with_changes(body=[*body.body, cst.SimpleStatementLine([cst.Break()])]))


_UNTOUCHED = (
    cst.Annotation,
    cst.Assert,
    cst.Decorator,
    cst.FormattedString,
    cst.ConcatenatedString,
    cst.Import,
    cst.ImportFrom,
)

#: __all__, __slots__ and aliases of types.
_NAMES_OF_TYPES = m.AnnAssign(annotation=m.Annotation(m.Name("TypeAlias"))) | m.Assign(
    targets=[m.AssignTarget(m.Name("__all__") | m.Name("__slots__"))]
)
#: `zip(…, strict=True)` asserts what is so.
_ASSERTION = m.Arg(keyword=m.Name("strict"))

OPERATORS: list[tuple[Any, Callable[[Any], Iterable[cst.CSTNode]]]] = [
    (cst.BaseNumber, mutmut.operator_number),
    (cst.Name, mutmut.operator_name),
    (cst.AugAssign, mutmut.operator_augmented_assignment),
    (cst.UnaryOperation, mutmut.operator_remove_unary_ops),
    (cst.Call, mutmut.operator_symmetric_string_methods_swap),
    (cst.CSTNode, mutmut.operator_keywords),
    (cst.BinaryOperation | cst.UnaryOperation | cst.ComparisonTarget | cst.AugAssign, mutmut.operator_swap_op),
    (cst.IfExp, mutmut.operator_if_exp),
    (cst.SimpleStatementLine, forgotten_statement),
    (cst.If, forgotten_guard),
    (cst.BooleanOperation, forgotten_operand),
    (cst.Integer, smaller_number),
    (cst.UnaryOperation, forgotten_sign),
    (cst.Name, taken_for_its_twin),
    (cst.Call, forgotten_call),
    (cst.Call, forgotten_argument),
    (cst.SimpleString, another_word),
    (cst.For, never_repeated),
]
