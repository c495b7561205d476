"""`Policy` and `Search`, which describe how an agent plays, and the only code that converts them to messages and back.

A policy contains only what its caller has set; the server fills in the rest. A setting without effect is refused, so that a
published result is never of another policy than the one that played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._checks.failures import reads_answer
from tetrion._messages.models import Mlp, NTuple, TuplePattern
from tetrion._messages.requests import (
    FeaturesLike,
    enum_name,
    enum_value,
    features_from,
    features_message,
    selected_features,
    word,
)
from tetrion._messages.tensors import from_numpy, to_numpy
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

Model: TypeAlias = "Mlp | NTuple"

# The policies with playouts, by `as_coded` of their message.
_MONTE_CARLO = ("monte_carlo", "monte_carlo_coded")


@dataclass(frozen=True, kw_only=True)
class Beam:
    """A search that follows many sequences of placements of the known pieces at once.

    Known are the current piece, the shown ones and the held one. All sequences end after the same number of pieces; the
    first placement of the best one is played. The terms are multiples of the largest weight by size, -1000 to 1000. The
    server refuses numbers that are out of range; 0 for `width`, `pieces` or `sample_pieces` means the default.

    Attributes:
        width: Playfields that go on after each piece, the best ones, 1 to 512. Default 16.
        perfect_clear_places: Further playfields that go on because a perfect clear may follow, 0 to 512.
        pieces: Most pieces to place, the current one included, 1 to 8. Default 8.
        samples: Continuations of the known pieces to draw, 0 to 1024.
        sample_pieces: Pieces of each continuation, 1 to 8. Default 4.
        attack: Value of a line sent.
        back_to_back: Value of a difficult clear as the last clear of a sequence.
        perfect_clear: Value of a perfect clear that may follow at once; less in proportion to the missing pieces.
        t_slot: Value of each row that a T at hand would fill in a spin slot.
        t_kept: Value of a T at hand without such a slot.
    """

    width: int = 16
    perfect_clear_places: int = 0
    pieces: int = 8
    samples: int = 0
    sample_pieces: int = 4
    attack: float = 0.0
    back_to_back: float = 0.0
    perfect_clear: float = 0.0
    t_slot: float = 0.0
    t_kept: float = 0.0

    def __post_init__(self) -> None:
        """Checks the type of each value.

        Raises:
            InvalidArgumentError: A value has the wrong type.
        """
        for setting in fields(self):
            check: Any = arguments.integer if isinstance(setting.default, int) else arguments.number
            checked = check(f"search.beam.{setting.name}", getattr(self, setting.name))
            object.__setattr__(self, setting.name, checked)


@dataclass(frozen=True, kw_only=True)
class Search:
    """How a policy uses the pieces after the current one.

    `Search()` considers the next piece: a hidden one by the exact mean over the seven. The server fills in missing values
    and refuses numbers that are out of range.

    `beam` and `lookahead` are other methods, and exclude all other fields. `Search(beam=Beam(width=32))` follows many
    sequences of placements at once, the strongest way to play modern Tetris. `lookahead`, the oldest, adds up the scores of
    the intermediate playfields, which counts some features several times. `Search(lookahead=0)` makes a controller greedy
    that normally searches.

    Attributes:
        pieces: Number of next pieces to consider, 1 or 2; the first of two must be shown. Default 1.
        placements: Number of placements to consider for each piece but the last, 1 to 128. Default 8.
        lost_piece: Value of a piece that cannot be placed, as a multiple of the largest weight, -1e6 to 0. Default -100.
        discount: Discount per piece, 0 to 1. Default 1.
        terms: Terms of a placement that count if another piece follows: `landing` (the default), `all` or `none`.
        caution: Number of standard deviations to subtract from the mean over a hidden piece, 0 to 10. Default 0.
        lookahead: Number of shown pieces over which scores are added up; 0: none.
        beam: Settings of a beam search.
    """

    pieces: int | None = None
    placements: int | None = None
    lost_piece: float | None = None
    discount: float | None = None
    terms: str | None = None
    caution: float | None = None
    lookahead: int | None = None
    beam: Beam | None = None

    def __post_init__(self) -> None:
        """Checks the type of each value.

        Raises:
            InvalidArgumentError: A value has the wrong type, or `lookahead` or `beam` is combined with another field.
        """
        for name in ("pieces", "placements"):
            self._check(name, lambda field, value: arguments.integer(field, value, 1))
        self._check("lookahead", arguments.integer)
        for name in ("lost_piece", "discount", "caution"):
            self._check(name, arguments.number)
        self._check("terms", lambda field, value: enum_name(pb.ExpectationTerms, value, field))
        if self.beam is not None and not isinstance(self.beam, Beam):
            raise arguments.wrong("search.beam", self.beam, "a tetrion.Beam, such as Beam(width=32)")
        given = [field.name for field in fields(self) if getattr(self, field.name) is not None]
        for method in ("lookahead", "beam"):
            others = [name for name in given if name != method]
            if method in given and others:
                raise InvalidArgumentError(f"search.{method}", f"is given with {others[0]}, expected one of the two")

    def _check(self, name: str, check: Any) -> None:
        value = getattr(self, name)
        if value is not None:
            object.__setattr__(self, name, check(f"search.{name}", value))


@dataclass(frozen=True)
class Policy:
    """How an agent plays: a policy of the server by its name, weights of features, or a formula.

        Policy("dt-10")
        Policy("dt-10", search=Search(pieces=1))
        Policy(weights=[-1.0, 4.0], features=["holes", "lines_cleared"], terminal_value="score")
        Policy(formula="-4.5*holes - max(0, max_height - 12)^2", search=Search(lookahead=1))
        Policy("monte_carlo", playouts=10)

    `Client.catalog().policies` lists the names and the settings that each policy takes; `Client.get_policy(name)` returns a
    policy with its weights.

    Attributes:
        name: Name of a policy of the server.
        search: How the policy uses the next pieces. None: like the named policy; weights and formulas are greedy.
        terminal_value: Value of a game-ending placement: `avoid`, minus infinity; or `score`, as for any other placement.
            None: the named policy's own; weights and formulas avoid it.
        playouts: Random games per placement, for `monte_carlo` and `monte_carlo_coded`.
        weights: Instead of a name: one signed weight per feature, then the parameters of the model. Empty in
            `EvaluationStarted`, which does not repeat them.
        features: Features of the weights: the name of a feature set, or a list of features.
        model: An `Mlp` or an `NTuple` that adds to the weighted sum.
        formula: Instead of a name: a score for a placement, as text; docs/formulas.md describes the language. Empty in
            `EvaluationStarted`, which does not repeat it.
        label: Name of the policy in results and recordings, for people.
    """

    name: str = ""
    _: KW_ONLY
    search: Search | None = None
    terminal_value: str | None = None
    playouts: int | None = None
    weights: Sequence[float] | npt.NDArray[Any] | None = None
    features: FeaturesLike = None
    model: Model | None = None
    formula: str | None = None
    label: str = ""

    def __post_init__(self) -> None:
        """Checks the type of each value, and that no setting is without effect.

        Raises:
            InvalidArgumentError: A value has the wrong type, or does not fit the others.
        """

        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("name", arguments.string("name", self.name, "the name of a policy"))
        put("label", arguments.string("label", self.label))
        put("terminal_value", checked_terminal_value(self.terminal_value))
        put("features", selected_features(self.features))
        check_model(self.model)
        check_search(self.search)
        if self.playouts is not None:
            put("playouts", arguments.integer("playouts", self.playouts, 1))
        is_echo = isinstance(self.weights, tuple) and not self.weights
        if self.weights is not None and not is_echo:
            weights = arguments.weights("weights", self.weights)
            if weights.ndim != 1:
                raise arguments.wrong("weights", self.weights, "one row; evaluate(weights=...) takes many")
            put("weights", tuple(weights.tolist()))
        if self.formula is not None:
            put("formula", arguments.string("formula", self.formula, "a formula, such as '-holes - max_height^2'"))
        if self.name and self.weights is not None:
            raise InvalidArgumentError("weights", f"are given with the name {self.name!r}, expected one of the two")
        if self.formula is not None and (self.name or self.weights is not None):
            given = f"the name {self.name!r}" if self.name else "weights"
            raise InvalidArgumentError("formula", f"is given with {given}, expected one of the two")
        if not self.name and self.weights is None and self.formula is None:
            raise InvalidArgumentError("name", "is not given, nor are weights or a formula, expected one of the three")
        given = f"the name {self.name!r}" if self.name else "weights" if self.weights is not None else "a formula"
        if self.playouts is not None and self.name not in _MONTE_CARLO:
            raise InvalidArgumentError("playouts", f"is given with {given}, expected one of {', '.join(_MONTE_CARLO)}")
        for field in ("features", "model"):
            if getattr(self, field) is not None and self.weights is None:
                problem = f"is given with {given}, expected weights instead of the {'name' if self.name else 'formula'}"
                raise InvalidArgumentError(field, problem)
        if self.weights is not None and self.features is None:
            raise InvalidArgumentError("features", "is not given, expected what the weights are for, such as 'bcts8'")


PoliciesLike: TypeAlias = "str | Policy | Sequence[str | Policy]"


def checked_terminal_value(terminal_value: Any) -> str | None:
    """Checks for `avoid`, `score` or None."""
    return None if terminal_value is None else enum_name(pb.TerminalValue, terminal_value, "terminal_value")


def check_model(model: Any) -> None:
    """Refuses anything but models and None.

    Raises:
        InvalidArgumentError: The value is neither a model nor None.
    """
    if model is not None and not isinstance(model, (Mlp, NTuple)):
        raise arguments.wrong("model", model, "an Mlp or an NTuple, such as Mlp([32])")


def check_search(search: Any) -> None:
    """Refuses anything but searches and None.

    Raises:
        InvalidArgumentError: The value is neither a `Search` nor None.
    """
    if search is not None and not isinstance(search, Search):
        raise arguments.wrong("search", search, "a tetrion.Search, such as Search() or Search(lookahead=1)")


_POLICIES = (
    "names of policies such as 'bcts', or Policies such as Policy(formula='-holes'); a player in Python plays in an "
    "environment, where reset(seed=...) deals the pieces of a game"
)


def checked_policies(policies: Any) -> list[Policy]:
    """One policy or several, some of them possibly by name.

    Raises:
        InvalidArgumentError: A policy is neither a name nor a `Policy`.
    """
    if isinstance(policies, (str, Policy)):
        policies = [policies]
    listed = arguments.items("policies", policies, _POLICIES)
    return [checked_policy(policy, f"policies[{place}]") for place, policy in enumerate(listed)]


def checked_policy(policy: Any, field: str = "policy") -> Policy:
    """A policy, possibly by its name.

    Raises:
        InvalidArgumentError: It is neither a name nor a `Policy`.
    """
    if isinstance(policy, Policy):
        return policy
    return Policy(arguments.string(field, policy, _POLICIES if callable(policy) else "the name of a policy, or a Policy"))


def policy_message(policy: Policy) -> pb.Policy:
    """The message of a policy."""
    kind: dict[str, Any] = {"name": policy.name}
    if policy.weights is not None:
        weights = arguments.weights("weights", policy.weights)
        kind = {"weights": _weights(weights, policy.features, policy.model)}
    elif policy.formula is not None:
        kind = {"formula": pb.Formula(text=policy.formula)}
    elif policy.playouts is not None:
        as_coded = policy.name == _MONTE_CARLO[True]
        kind = {"monte_carlo": pb.MonteCarlo(playouts=policy.playouts, as_coded=as_coded)}
    return pb.Policy(
        label=policy.label,
        search=search_message(policy.search),
        terminal_value=encode_terminal_value(policy.terminal_value),
        **kind,
    )


def weights_message(
    weights: npt.ArrayLike, features: FeaturesLike, model: Model | None, search: Search | None, terminal_value: str | None
) -> pb.Policy:
    """The message of policies that differ only in their weights, one row per policy."""
    rows = np.atleast_2d(arguments.weights("weights", weights))
    return pb.Policy(
        weights=_weights(rows, features, model),
        search=search_message(search),
        terminal_value=encode_terminal_value(terminal_value),
    )


def _weights(weights: npt.NDArray[np.float64], features: FeaturesLike, model: Model | None) -> pb.Weights:
    return pb.Weights(features=features_message(features), weights=from_numpy(weights), **model_fields(model))


def encode_terminal_value(terminal_value: str | None) -> Any:
    """The value of the enum; None for the server's default."""
    return enum_value(pb.TerminalValue, terminal_value, "terminal_value") if terminal_value is not None else None


def search_message(search: Search | None) -> pb.Search | None:
    """The message of a search; None for the server's default."""
    if search is None:
        return None
    if search.lookahead is not None:
        if search.lookahead == 0:
            return pb.Search(greedy=pb.Greedy())
        return pb.Search(lookahead=pb.Lookahead(pieces=search.lookahead))
    if search.beam is not None:
        return pb.Search(beam=pb.Beam(**asdict(search.beam)))
    terms = search.terms
    return pb.Search(
        expectation=pb.Expectation(
            pieces=search.pieces,
            placements=search.placements,
            lost_piece=search.lost_piece,
            discount=search.discount,
            terms=None if terms is None else enum_value(pb.ExpectationTerms, terms, "terms"),
            caution=search.caution,
        )
    )


def model_fields(model: Model | None) -> dict[str, Any]:
    """The message fields that hold a policy's model."""
    if model is None:
        return {}
    tables = model.tables if isinstance(model, Mlp) else model
    message: dict[str, Any] = {}
    if isinstance(model, Mlp):
        activation = enum_value(pb.Activation, model.activation, "activation")
        message["mlp"] = pb.Mlp(hidden=model.hidden, activation=activation)
    if tables is not None:
        message["n_tuple"] = pb.NTuple(
            tuples=[
                pb.TuplePattern(
                    kind=enum_value(pb.TupleKind, pattern.kind, "kind"),
                    positions=pattern.positions,
                    clip=pattern.clip,
                    shares=pattern.shares,
                )
                for pattern in tables.tuples
            ]
        )
    return message


@reads_answer
def policy_from(message: pb.Policy, width: int) -> Policy:
    """The policy of a message in which the server has filled in every default.

    Args:
        message: The message. If it lacks numbers, as in `EvaluationStarted`, its weights become an empty tuple.
        width: Width of the playfield for the model.
    """
    shared: dict[str, Any] = {
        "search": search_from(message.search) if message.has("search") else None,
        "terminal_value": terminal_value_from(message.terminal_value),
        "label": message.label,
    }
    if message.has("monte_carlo"):
        return Policy(_MONTE_CARLO[message.monte_carlo.as_coded], playouts=message.monte_carlo.playouts, **shared)
    if message.has("formula"):
        return Policy(formula=message.formula.text, **shared)
    if message.has("weights"):
        own = message.weights
        shared["weights"] = to_numpy(own.weights).ravel() if own.has("weights") else ()
        return Policy(features=features_from(own.features), model=model_from(own, width), **shared)
    return Policy(message.name, **shared)


def model_from(message: Any, width: int) -> Model | None:
    """The model of a message, if any."""
    tables = None
    if message.has("n_tuple"):
        patterns = [
            TuplePattern(
                word(pb.TupleKind, pattern.kind),
                tuple(pattern.positions),
                pattern.clip,
                pattern.shares if pattern.has("shares") else None,
            )
            for pattern in message.n_tuple.tuples
        ]
        tables = NTuple(patterns, width)
    if not message.has("mlp"):
        return tables
    activation = word(pb.Activation, message.mlp.activation)
    return Mlp(tuple(message.mlp.hidden), activation, tables)


def search_from(message: pb.Search) -> Search:
    """The search of a message."""
    method = message.which("method")
    if method == "beam":
        settings = {setting.name: getattr(message.beam, setting.name) for setting in fields(Beam)}
        return Search(beam=Beam(**settings))
    if method != "expectation":
        return Search(lookahead=message.lookahead.pieces)
    own = message.expectation
    return Search(
        pieces=own.pieces or None,
        placements=own.placements or None,
        lost_piece=own.lost_piece if own.has("lost_piece") else None,
        discount=own.discount if own.has("discount") else None,
        terms=word(pb.ExpectationTerms, own.terms) if own.terms else None,
        caution=own.caution,
    )


def terminal_value_from(value: int) -> str | None:
    """The name of the value of the enum; None for the server's default."""
    return word(pb.TerminalValue, value) if value else None
