"""The recipe of a data set: everything that decides its content, as JSON for the metadata of the file.

A recipe that was read from a file is equal to the one that was written, so both lead to the same bytes. Recipes come from
files of anyone: each value is checked like an argument of a caller.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict

from tetrion._checks import arguments
from tetrion._clients.client import Client
from tetrion._messages.policies import Policy, checked_policies, policy_from, policy_message
from tetrion._messages.requests import FeaturesLike, RulesLike, selected_features
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._recordings.recording import Recording
from tetrion.errors import InvalidAnswerError, InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Readers load the metadata of a file as a whole, and a recipe contains its recordings.
_MAX_RECORDED_BYTES = 16 << 20

_GAMES, _SEED, _MAX_PIECES = 100, 1, 1000


class GamesOptions(TypedDict, total=False):
    """The games of a data set: keyword arguments of `write` and `write_minari`.

    Attributes:
        recordings: Games that were played already, under the same rules. Default: the policy plays.
        games: Number of games that the policy plays. Default: 100.
        seed: The number from which their seeds are drawn, as in `DrawnSeeds`. Default: 1.
        rules: A preset's name, or fields of the message `Rules` by name; by default `simplified`.
        max_pieces: Cuts a game after this many pieces. Default: 1,000.
        observations: The observation fields, one column each. Default: the server's choice, such as `board` and `current`.
    """

    recordings: Sequence[Recording] | None
    games: int | None
    seed: int | None
    rules: RulesLike
    max_pieces: int | None
    observations: Sequence[str] | None


@dataclass(frozen=True)
class Recipe:
    """The recipe of a data set.

    Attributes:
        rules: The rules, every field filled in.
        policy: The message of the policy, in protobuf's JSON; None if recordings have no judge.
        games: Number of games that the policy plays; None for recordings.
        seed: The number from which the seeds of these games are drawn; None for recordings.
        max_pieces: Number of pieces after which these games are cut; None for recordings.
        recordings: The recordings in binary form, as base64; None if the policy plays.
        features: The name of a feature set, or names of features; None for the features of the policy.
        observations: The observation fields; None for the server's choice.
    """

    rules: RulesFields
    policy: dict[str, Any] | None
    games: int | None
    seed: int | None
    max_pieces: int | None
    recordings: list[str] | None
    features: str | list[str] | None
    observations: list[str] | None

    def played_by(self) -> Policy | None:
        """The policy that plays, or the judge of recordings.

        Raises:
            InvalidArgumentError: It is no policy.
        """
        if self.policy is None:
            return None
        try:
            return policy_from(pb.Policy.from_json(json.dumps(self.policy)), self.rules.get("width", 0))
        except (ValueError, InvalidAnswerError) as error:
            raise InvalidArgumentError("recipe.policy", f"cannot be read: {error}") from None

    def recorded(self) -> list[Recording] | None:
        """The recordings; None if the policy plays.

        Raises:
            InvalidArgumentError: One of them is no recording.
        """
        if self.recordings is None:
            return None
        try:
            return [Recording.from_bytes(base64.b64decode(data, validate=True)) for data in self.recordings]
        except binascii.Error as error:
            raise InvalidArgumentError("recipe.recordings", f"are not base64: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """The recipe as JSON. The seed is a string, as in all JSON of this project."""
        return {**asdict(self), "seed": None if self.seed is None else str(self.seed)}


def recipe_of(
    client: Client, policy: str | Policy | None, features: FeaturesLike = None, **options: Unpack[GamesOptions]
) -> Recipe:
    """The recipe for arguments of a caller.

    Raises:
        InvalidArgumentError: An argument has the wrong type or is out of range, is missing, or has no effect.
    """
    recordings = options.get("recordings")
    if recordings is not None:
        for name in ("games", "seed", "rules", "max_pieces"):
            if options.get(name) is not None:
                raise InvalidArgumentError(
                    name, "is given with recordings, which are games already, expected one of the two"
                )
        games = seed = max_pieces = None
        listed = _checked_recordings(recordings)
        recorded = [base64.b64encode(each.to_bytes()).decode() for each in listed]
        rules = listed[0].rules
    else:
        recorded = None
        games = _or(options.get("games"), _GAMES)
        seed = _or(options.get("seed"), _SEED)
        max_pieces = _or(options.get("max_pieces"), _MAX_PIECES)
        with client.create_session(rules=options.get("rules")) as session:
            rules = session.rules
    selected = selected_features(features)
    observations = options.get("observations")
    return _checked(
        client,
        Recipe(
            rules=rules,
            policy=None if policy is None else json.loads(policy_message(_one(policy)).to_json()),
            games=games,
            seed=seed,
            max_pieces=max_pieces,
            recordings=recorded,
            features=list(selected) if isinstance(selected, tuple) else selected,
            observations=None if observations is None else arguments.names("observations", observations, "board"),
        ),
    )


def recipe_from(client: Client, text: bytes) -> Recipe:
    """The recipe in the metadata of a file.

    Raises:
        InvalidArgumentError: It is no recipe.
    """
    try:
        found = json.loads(text)["recipe"]
        known = {field.name: found[field.name] for field in fields(Recipe)}
        if isinstance(known["seed"], str):
            known["seed"] = int(known["seed"])
        recipe = Recipe(**known)
        if recipe.recordings is not None:
            _checked_recordings(recipe.recorded())
        recipe.played_by()
        return _checked(client, recipe)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError("file", f"has a recipe that cannot be read: {error!r}") from None


def _checked(client: Client, recipe: Recipe) -> Recipe:
    """The recipe, with Python's integers for those of numpy and for floats. Refuses a wrong one before a game is played."""
    if (model := recipe.rules.get("action_model")) != "placement":
        problem = f"is {model!r}, expected 'placement': a step of a data set places a piece"
        raise InvalidArgumentError("rules.action_model", problem)
    with client.create_session(rules=recipe.rules, observations=recipe.observations) as session:
        for spec in session._message.observation_specs:
            if 0 in spec.shape:
                raise InvalidArgumentError("observations", f"have {spec.name!r}, which is empty under these rules")
        session.reset()
        session.enumerate_placements(features=selected_features(recipe.features))
    if recipe.recordings is not None:
        return recipe
    if recipe.policy is None:
        raise InvalidArgumentError("policy", "is not given, nor are recordings, expected one of the two")
    limits = client.server_info().limits.evaluations
    return replace(
        recipe,
        games=arguments.integer("games", recipe.games, 1, limits.max_games),
        seed=arguments.integer("seed", recipe.seed, 0, arguments.U64),
        max_pieces=arguments.integer("max_pieces", recipe.max_pieces, 1, limits.max_recorded_steps),
    )


def _checked_recordings(recordings: Any) -> list[Recording]:
    """The recordings, if one session can play all of them."""
    listed = arguments.items("recordings", recordings, "a list of recordings")
    if not listed:
        raise InvalidArgumentError("recordings", "is an empty list, expected at least one recording")
    size = 0
    for place, recording in enumerate(listed):
        field = f"recordings[{place}]"
        if not isinstance(recording, Recording):
            raise arguments.wrong(field, recording, "a tetrion.Recording, such as Recording.load('game.json')")
        first, message = listed[0]._message, recording._message
        if recording.start is not None:
            raise InvalidArgumentError(f"{field}.start", "is a position, expected games from an empty playfield")
        if not recording.actions.size:
            raise InvalidArgumentError(f"{field}.actions", "are none, expected at least one step")
        for name in ("rules", "invalid_action_policy", "invalid_action_reward"):
            if getattr(message, name) != getattr(first, name):
                raise InvalidArgumentError(f"{field}.{name}", "differ from recordings[0], expected the same in one data set")
        if (difference := recording.check()) is not None:
            raise InvalidArgumentError(field, f"is not the game that it describes: {difference}")
        size += len(message.encode())
    if size > _MAX_RECORDED_BYTES:
        problem = f"have {size} bytes, expected at most {_MAX_RECORDED_BYTES} in one data set; write several"
        raise InvalidArgumentError("recordings", problem)
    return listed


def _one(policy: str | Policy) -> Policy:
    if not isinstance(policy, (str, Policy)):
        raise arguments.wrong("policy", policy, "the name of a policy, or a Policy")
    return checked_policies(policy)[0]


def _or(value: Any, default: int) -> Any:
    return default if value is None else value
