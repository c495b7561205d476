"""Results as data: what their messages say, None for what is absent."""

import pickle

import pytest

import tetrion
from tetrion._pb.records import RECORDS


def test_every_record_is_public():
    assert {kind.__name__ for kind in RECORDS.values()} == set(dir(tetrion.records))
    for kind in RECORDS.values():
        assert kind.__module__ in ("tetrion", "tetrion.records")
        assert getattr(tetrion.records, kind.__name__) is kind


def test_the_server_as_data(client):
    info, catalog = client.server_info(), client.catalog()
    assert info.server_version == tetrion.__version__
    presets = {preset.name: preset.rules for preset in catalog.rules_presets}
    assert presets["simplified"]["randomizer"] == "uniform"
    assert presets["simplified"]["scoring"]["lines"] == [1.0, 2.0, 3.0, 4.0]
    assert "garbage" not in presets["simplified"]
    assert info.limits.sessions.default_ttl == 600.0
    fields = {field.name: (field.dtype, field.dims) for field in catalog.observation_fields}
    assert (fields["board"], fields["current"]) == (("uint8", ("height", "width")), ("int8", ()))
    stages = {feature.name: feature.stage for feature in catalog.features}
    assert (stages["landing_height"], stages["holes"]) == ("landing", "after_clearing")
    policies = {policy.name: policy for policy in catalog.policies}
    assert policies["bcts"].search == tetrion.Search(lookahead=0)
    assert (policies["bcts"].terminal_value, policies["bcts"].feature_set) == ("avoid", "bcts8")
    searching = policies["tetrion-10x10-expectation"].search
    assert isinstance(searching, tetrion.Search)
    assert searching.lookahead is None
    assert (policies["random"].search, policies["random"].terminal_value) == (None, None)
    assert policies["monte_carlo"].parameters == ("monte_carlo.playouts",)
    for facts in (info, catalog):
        assert pickle.loads(pickle.dumps(facts)) == facts
        assert b"tetrion._" not in pickle.dumps(facts)


@pytest.mark.parametrize("preset", ["simplified", "lab", "survey", "genetic", "leiden", "guideline", "nes", "melax"])
def test_rules_that_are_read_can_be_written(client, preset):
    with client.create_session(rules=preset) as session, client.create_session(rules=session.rules) as again:
        assert again.rules == session.rules == session.config.rules
        assert session.rules["preset"] == preset


def test_the_fields_of_a_session_as_data(client):
    fields = {"observations": ["board", "queue", "heights"], "infos": ["lines", "end"]}
    with client.create_session(2, rules={"width": 6, "height": 12, "preview": 2}, **fields) as session:
        specs = [(spec.name, spec.dtype, spec.shape, spec.low, spec.high, spec.kind) for spec in session.observation_specs]
        assert specs == [
            ("board", "uint8", (12, 6), 0.0, 1.0, "flag"),
            ("queue", "int8", (2,), -1.0, 6.0, "category"),
            ("heights", "uint8", (6,), 0.0, 12.0, "number"),
        ]
        assert [(spec.name, spec.dtype, spec.low, spec.high) for spec in session.info_specs] == [
            ("lines", "int64", 0.0, None),
            ("end", "uint8", 1.0, 6.0),
        ]
        observed = session.reset()
        for spec in (*session.observation_specs, *session.info_specs):
            array = {**observed.observations, **observed.infos}[spec.name]
            assert (array.dtype, array.shape) == (spec.dtype, (2, *spec.shape))


def test_a_session_as_data(client):
    fields = {"observations": ["current", "features"], "infos": ["lines"], "features": ["holes", "max_height"]}
    with client.create_session(3, seed=7, max_episode_steps=10, **fields) as session:
        config = session.config
        assert (config.num_envs, config.seed, config.max_episode_steps, config.action_mask_format) == (3, 7, 10, "bits")
        with client.create_session(3, env_seeds=[1, 2, 3]) as seeded:
            assert seeded.config.seed is None
        assert config.observation_fields == ("current", "features")
        assert config.features == ("holes", "max_height")
        assert (config.autoreset_mode, config.invalid_action_policy) == ("next_step", "reject")
        assert session.rules_version == client.server_info().rules_version
        assert session.ttl == 3600.0
        assert session.address == client.address


def test_one_game_has_no_interval(client):
    (policy,) = client.evaluate("bcts", seeds=[1], max_pieces=10).summary.policies
    assert policy.lines.std is None
    assert policy.lines.ci95_low is None
    assert policy.pieces == tetrion.Statistics(mean=10.0, std=None, ci95_low=None, ci95_high=None, min=10.0, max=10.0)
