"""Which file of the package imports which: layers whose imports go down only, and no circles within a layer."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src/tetrion"

# From the lowest layer up. A file imports files of its own layer and of those below.
LAYERS = {
    "values": ["errors", "names", "arguments", "addresses", "draws", "font", "scenes", "tls", "versions"],
    "messages": ["tensors", "requests", "evaluation", "placements", "models", "answers", "games", "summary", "progress"],
    "pictures": ["pictures", "frames", "replay", "viewer"],
    "connection": ["server", "connection", "keywords"],
    "sessions": ["journal", "link", "calls", "stream", "session", "watching"],
    "recordings": ["episode_log", "replayer", "recording", "recorder"],
    "evaluations": ["results", "expected_games", "evaluation_run", "evaluation_recordings", "sharding"],
    "clients": ["client", "servers", "ray"],
    "searches": ["search", "cem", "genetic", "training"],
    "environments": ["spaces", "flat", "rendering", "remote", "env", "vector_env", "keypress", "record_games", "sb3"],
    "package": ["__init__", "__main__"],
}
LAYER_OF = {name: number for number, names in enumerate(LAYERS.values()) for name in names}


def imports(source, files):
    """The files of the package that a file imports anywhere: in functions and under TYPE_CHECKING, too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            # `from tetrion import tls` imports a file, `from tetrion import Tls` a name of the package itself.
            named = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in named:
            top, file, *_ = [*name.split("."), ""]
            if top == "tetrion" and file != "_pb":
                found.add(file if file in files else "__init__")
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
    files = {path.stem: path.read_text() for path in PACKAGE.glob("*.py")}
    return {name: imports(source, files) for name, source in files.items()}


def test_imports_go_round_in_no_circle():
    assert " imports ".join(circle(read_package())) == ""


def test_imports_go_down():
    graph = read_package()
    assert sorted(graph) == sorted(LAYER_OF), "every file has a place in LAYERS"
    wrong = [f"{name} imports {other}" for name in graph for other in graph[name] if LAYER_OF[other] > LAYER_OF[name]]
    assert not wrong


def test_hidden_imports_are_found():
    files = {"a", "b", "c", "d"}
    assert imports("import tetrion.a\nfrom tetrion import b, Name", files) == {"a", "b", "__init__"}
    assert imports("def f():\n    from tetrion.c import x", files) == {"c"}
    assert imports("if TYPE_CHECKING:\n    from tetrion.d import X", files) == {"d"}
    assert imports("from tetrion._pb import rules_pb2\nimport numpy", files) == set()
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) in (
        ["a", "b", "c", "a"],
        ["b", "c", "a", "b"],
        ["c", "a", "b", "c"],
    )
