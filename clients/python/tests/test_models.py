"""Networks and tables beside a weighted sum: the server's games, choice by choice, from NumPy."""

import itertools

import numpy as np
import pytest

import tetrion

FEATURES = ["landing_height", "eroded_piece_cells", "row_transitions", "holes", "cumulative_wells", "max_height"]
RULES = {"width": 6, "height": 8}
TABLES = tetrion.NTuple(
    [
        tetrion.TuplePattern("steps", [0, 1, 2], clip=2),
        tetrion.TuplePattern("heights", [5, 0], clip=8),
        tetrion.TuplePattern("steps", [4, 3, 2], clip=2, shares=0),
        tetrion.TuplePattern("cells", [0, 1, 6, 7, 47]),
    ],
    width=6,
)
# Whole columns and rows both ways, parts of them, and cells that are no run.
LINES = tetrion.NTuple(
    [
        tetrion.TuplePattern("cells", range(42, -1, -6)),
        tetrion.TuplePattern("cells", range(5, 48, 6), shares=0),
        tetrion.TuplePattern("cells", range(6, 12)),
        tetrion.TuplePattern("cells", range(17, 11, -1), shares=2),
        tetrion.TuplePattern("cells", [10, 11, 12]),
        tetrion.TuplePattern("cells", [0, 7, 14, 3]),
        tetrion.TuplePattern("heights", [1, 2, 3], clip=3),
    ],
    width=6,
)
MODELS = [
    (tetrion.Mlp([7]), 1.0),
    (tetrion.Mlp([16, 9], "leaky_relu"), 1.0),
    (tetrion.Mlp([3, 4, 5, 6], "hard_tanh"), 1.0),
    (tetrion.Mlp([12, 8], "softsign"), 1.0),
    (tetrion.Mlp([5, 5, 5], "hard_swish"), 0.5),
    (tetrion.Mlp([8, 6], "tanh"), 0.5),
    (tetrion.Mlp([9]), 1e37),  # Some outputs overflow, others do not.
    (TABLES, 1.0),
    (TABLES, 2e38),
    (LINES, 1.0),
    (tetrion.Mlp([16], "leaky_relu", LINES), 1.0),
    (tetrion.Mlp([5, 3], "hard_swish", TABLES), 0.5),
    (tetrion.Mlp([4], tables=TABLES), 5e37),
]


def rows_of(model, scale, num_rows=1):
    """Weight vectors, small ones of the features and larger ones of the model."""
    random = np.random.default_rng(7)
    weights = random.normal(size=(num_rows, len(FEATURES)))
    parameters = random.uniform(-scale, scale, (num_rows, model.num_parameters(len(FEATURES))))
    return np.concatenate([weights, parameters], axis=1)


def play(client, seeds, max_pieces, choose):
    """Plays a game for each seed, side by side; returns the lines and the pieces of each."""
    config = {"rules": RULES, "features": FEATURES, "env_seeds": seeds, "autoreset_mode": "disabled"}
    fields = {"observations": ["current"], "infos": ["lines", "pieces"], "action_mask": False}
    session = client.create_session(len(seeds), **config, **fields, snapshot_every=0)
    lines, pieces = np.zeros((2, len(seeds)), np.int64)
    with session, session.stream() as stream:
        games = np.arange(len(seeds))
        stream.reset()
        for _ in range(max_pieces):
            found = stream.enumerate_placements(games, afterstates=True)
            stepped = stream.step(found.actions[choose(found)], games)
            lines[games], pieces[games] = stepped.infos["lines"], stepped.infos["pieces"]
            games = games[~stepped.terminated]
            if not games.size:
                break
    return lines, pieces


@pytest.mark.parametrize(("model", "scale"), MODELS)
@pytest.mark.parametrize("terminal_value", ["avoid", "score"])
def test_numpy_makes_the_servers_choices(client, model, scale, terminal_value):
    (row,) = rows_of(model, scale)
    options = {"weights": row, "features": FEATURES, "model": model, "terminal_value": terminal_value}
    server = client.evaluate(**options, rules=RULES, seeds=tetrion.DrawnSeeds(1, 48), max_pieces=60)

    def choose(found):
        return found.best_rows(found.scores(row, model, terminal_value=terminal_value))

    lines, pieces = play(client, server.seeds.tolist(), 60, choose)
    # Games end where their choices lead them: after another choice they would end elsewhere.
    assert pieces.tolist() == server.pieces.tolist()
    assert lines.tolist() == server.lines.tolist()
    assert (pieces < 60).sum() > 8


def test_a_policy_plays_as_its_row(client):
    for model in (tetrion.Mlp([4, 3]), TABLES, tetrion.Mlp([4, 3], tables=TABLES)):
        rows = rows_of(model, 1.0, 2)
        played = {"seeds": tetrion.DrawnSeeds(1, 16), "rules": RULES, "max_pieces": 200}
        for search in (None, tetrion.Search(placements=2)):
            policy = tetrion.Policy(weights=rows[1], features=FEATURES, model=model, search=search)
            options = {"weights": rows, "features": FEATURES, "model": model, "search": search}
            both = client.evaluate(policy, **options, **played).lines.reshape(3, 16)
            assert both[1].tolist() == both[2].tolist() != both[0].tolist()
        (echo,) = client.evaluate(policy, **played).started.policies
        assert (echo.policy.model, echo.policy.weights, echo.policy.features) == (model, (), tuple(FEATURES))


def test_a_network_of_zeros_plays_as_the_controller(client):
    row = [*client.get_policy("bcts").weights, *[0.0] * tetrion.Mlp([32]).num_parameters(8)]
    options = {"weights": row, "features": "bcts8", "model": tetrion.Mlp([32])}
    games = client.evaluate("bcts", **options, seeds=tetrion.DrawnSeeds(1, 8), max_pieces=500).lines.reshape(2, 8)
    assert games[0].tolist() == games[1].tolist()


def test_tanh_is_close_to_the_real_one(client):
    found = client.enumerate_placements(tetrion.Drawing([], "I"), features=["holes", "max_height"])
    for x in np.concatenate([np.linspace(-9, 9, 1001), [0.0, 1e-30, -1e-30, 1e30, -1e30]]):
        # One unit that is x whatever it sees, and an output that is the unit.
        output = tetrion.Mlp([1], "tanh").outputs(found, [0, 0, x, 1, 0])[0]
        assert abs(output - np.tanh(x)) < 4.2e-7


def test_a_network_of_arrays_is_one_in_numpy(client):
    random = np.random.default_rng(5)
    # Square, so that its shape does not show the order of its dimensions.
    sizes = [6, 6, 6, 1]
    matrices = [random.normal(size=shape).astype(np.float32) for shape in itertools.pairwise(sizes)]
    biases = [random.normal(size=size).astype(np.float32) for size in sizes[1:]]
    found = client.enumerate_placements(tetrion.Drawing(["##.###"], "T"), rules=RULES, features=FEATURES)
    x = found.features
    for matrix, bias in zip(matrices[:-1], biases[:-1], strict=True):
        x = np.tanh(x @ matrix + bias)
    expected = (x @ matrices[-1] + biases[-1])[:, 0]
    for order, turn in (("inputs_units", np.array), ("units_inputs", np.transpose)):
        layers = [(turn(matrix), bias) for matrix, bias in zip(matrices, biases, strict=True)]
        model, weights = tetrion.Mlp.from_arrays(layers, order=order, activation="tanh")
        assert model == tetrion.Mlp([6, 6], "tanh")
        np.testing.assert_allclose(found.scores(weights, model), expected, atol=1e-5)
    games = client.evaluate(weights=weights, features=FEATURES, model=model, seeds=[1], rules=RULES, max_pieces=20)
    assert games.pieces[0] > 0


def test_arrays_that_are_no_network_are_refused():
    def layers(*shapes):
        return [(np.zeros(matrix), np.zeros(bias)) for matrix, bias in shapes]

    for given, said in (
        (
            layers(((8, 4), 4), ((1, 4), 1)),
            r"layers\[1\]\[0\] has the shape \(1, 4\), .*; with order='units_inputs' it fits",
        ),
        (
            layers(((4, 8), 4), ((4, 1), 1)),
            r"layers\[0\]\[0\] has the shape \(4, 8\), .*; with order='units_inputs' it fits",
        ),
        (layers(((8, 4), 4), ((5, 1), 1)), r"layers\[1\]\[0\] has the shape \(5, 1\), expected \(4, 1\) in the order"),
        (layers(((8, 4), 4), ((4, 2), 2)), "layers are 8 -> 4 -> 2, expected at least one hidden layer, and one unit"),
        (layers(((8, 1), 1)), "layers are 8 -> 1, expected at least one hidden layer"),
        ([], "layers are empty"),
        (layers(((8,), 4)), r"layers\[0\] has the shapes \(8,\) and \(4,\), expected a matrix and a vector"),
        ([np.zeros((3, 4))], r"layers\[0\] has 3 arrays, expected a matrix and its biases"),
        (None, "layers is None, expected a list of pairs"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            tetrion.Mlp.from_arrays(given, order="inputs_units")
    with pytest.raises(TypeError, match="order"):
        tetrion.Mlp.from_arrays(layers(((8, 8), 8), ((8, 1), 1)))
    with pytest.raises(
        tetrion.InvalidArgumentError, match=r"module is 3, expected a torch\.nn\.Sequential of Linear layers"
    ):
        tetrion.Mlp.from_torch(3)


def test_parameters_are_counted():
    # (9 + 1) * 32 + 33, and two layers.
    assert tetrion.Mlp([32]).num_parameters(9) == 353
    assert tetrion.Mlp([3, 2]).num_parameters(6) == 21 + 8 + 3
    assert TABLES.num_parameters(6) == 5**3 + 9**2 + 2**5
    assert tetrion.Mlp([3, 2], tables=TABLES).num_parameters(6) == 21 + 8 + 3 + (5**3 + 9**2 + 2**5) * 3


def test_sizes_that_are_no_integers_are_refused():
    assert tetrion.Mlp([32.0]).num_parameters(9.0) == 353
    for hidden, num_features in (([1.5], 9), (["2"], 9), ([True], 9), (32, 9), ([32], "9"), ([32], 1.5)):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^(hidden|num_features)"):
            tetrion.Mlp(hidden).num_parameters(num_features)


def test_what_is_no_model_is_refused(client):
    row = rows_of(tetrion.Mlp([2]), 1.0)[0]
    played = {"seeds": [1], "rules": RULES, "max_pieces": 1, "features": FEATURES}
    for make, said in (
        (lambda: tetrion.Mlp([2], tables=[0]), r"tables is \[0\], expected an NTuple, or None"),
        (lambda: tetrion.Mlp("32"), "hidden is '32', expected the units of each hidden layer"),
        (lambda: tetrion.Mlp([2], "sigmoid"), "activation is 'sigmoid'.*expected one of relu, leaky_relu"),
        (lambda: tetrion.TuplePattern("rows", [0]), "kind is 'rows', .*steps, heights"),
        (lambda: tetrion.TuplePattern("cells", 0), "positions is 0, expected a list such as"),
        (lambda: tetrion.NTuple(None), "tuples is None, expected a list of TuplePatterns"),
        (lambda: tetrion.NTuple([3]), r"tuples\[0\] is 3, expected a TuplePattern"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            make()
    for options, said in (
        ({"model": tetrion.Mlp([2]), "features": None}, "model is given without weights, expected weights; a policy has"),
        ({"weights": row, "model": [2]}, r"model is \[2\], expected an Mlp or an NTuple, such as Mlp\(\[32\]\)"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            client.evaluate(**{**played, **options})
    for model, said in (
        (tetrion.Mlp([3]), r"weights.weights: has 23 columns, expected 6 features \+ 25 parameters = 31"),
        (tetrion.Mlp([0]), r"weights.mlp.hidden\[0\]: is 0, expected 1 to 256 units"),
        (
            tetrion.NTuple([tetrion.TuplePattern("steps", [5], 1)]),
            r"tuples\[0\].positions\[0\]: is 5, expected 0 to 4 on 6 x 8",
        ),
        (
            tetrion.Mlp([256], tables=tetrion.NTuple([tetrion.TuplePattern("cells", range(15))])),
            r"weights.n_tuple.tuples: have tables of 32768 entries of 256 numbers, .* expected at most 4194304 in all",
        ),
    ):
        with pytest.raises(tetrion.InvalidRequestError, match=said):
            client.evaluate(**played, weights=row, model=model)


def test_numpy_needs_what_the_model_sees(client):
    drawing = tetrion.Drawing(["......"], "T")
    found = client.enumerate_placements(drawing, rules=RULES, features=FEATURES)
    with pytest.raises(tetrion.InvalidArgumentError, match="placements have no afterstates"):
        found.scores(rows_of(TABLES, 1.0)[0], TABLES)
    reader = tetrion.Mlp([2], tables=TABLES)
    with pytest.raises(tetrion.InvalidArgumentError, match="placements have no afterstates"):
        found.scores(rows_of(reader, 1.0)[0], reader)
    with pytest.raises(
        tetrion.InvalidArgumentError, match=r"weights are 6 weights, expected 6 features \+ 17 parameters = 23"
    ):
        found.scores(np.zeros(6), tetrion.Mlp([2]))
    bare = client.enumerate_placements(drawing, rules=RULES)
    with pytest.raises(tetrion.InvalidArgumentError, match="placements have no features"):
        tetrion.Mlp([2]).outputs(bare, np.zeros(17))
    with pytest.raises(tetrion.InvalidArgumentError, match="parameters are 16 numbers, expected 17"):
        tetrion.Mlp([2]).outputs(found, np.zeros(16))
