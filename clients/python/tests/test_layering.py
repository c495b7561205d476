"""Which folder of the package imports which: each is a layer whose imports go down only, and files form no circles."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src/tetrion"

# From the lowest layer up: the private folders, and the public files at the top of the package.
LAYERS = [
    ["errors", "records", "_files"],
    ["_checks"],
    ["_messages"],
    ["_transport"],
    ["_sessions"],
    ["_watching"],
    ["_recordings"],
    ["_evaluations"],
    ["_clients"],
    ["_training"],
    ["_envs"],
    ["_datasets"],
    ["sb3", "dm_env", "pettingzoo", "ray", "tasks", "dataset", "lab"],
    ["__init__", "__main__", "_program"],
]
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}


def imports(source, files):
    """The files of the package that a file imports anywhere: in functions and under TYPE_CHECKING, too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            # `from tetrion._transport import tls` imports a file, `from tetrion import Tls` a name of the package itself.
            named = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in named:
            top, *path = name.split(".")
            if top == "tetrion" and path[:1] not in (["_pb"], ["_native"]):
                known = [".".join(path[:length]) for length in (1, 2) if ".".join(path[:length]) in files]
                found.add(known[-1] if known else "__init__")
    return found


def circle(graph):
    """The files of a circle, the first of them again at the end; nothing if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each imports the one before it.
        return list(reversed(error.args[1]))
    return []


def read_package():
    paths = [*PACKAGE.glob("*.py"), *(path for path in PACKAGE.glob("_*/*.py") if path.parent.name != "_pb")]
    files = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path.read_text() for path in paths}
    return {name: imports(source, files) for name, source in files.items() if not name.endswith(".__init__")}


def test_imports_go_round_in_no_circle():
    assert " imports ".join(circle(read_package())) == ""


def test_imports_go_down():
    graph = read_package()
    layers = {name: name.partition(".")[0] for name in graph}
    assert sorted(set(layers.values())) == sorted(LAYER_OF), "every folder has a place in LAYERS"
    wrong = [
        f"{name} imports {other}"
        for name in graph
        for other in graph[name]
        if LAYER_OF[layers[other]] > LAYER_OF[layers[name]]
    ]
    assert not wrong


def test_hidden_imports_are_found():
    files = {"a", "b", "c", "d", "_e.f"}
    assert imports("import tetrion.a\nfrom tetrion import b, Name", files) == {"a", "b", "__init__"}
    assert imports("from tetrion._e import f\nfrom tetrion._e.f import g", files) == {"_e.f"}
    assert imports("def f():\n    from tetrion.c import x", files) == {"c"}
    assert imports("if TYPE_CHECKING:\n    from tetrion.d import X", files) == {"d"}
    assert imports("from tetrion._pb import messages as pb\nimport numpy", files) == set()
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) in (
        ["a", "b", "c", "a"],
        ["b", "c", "a", "b"],
        ["c", "a", "b", "c"],
    )
