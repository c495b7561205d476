"""Collects the pages of `make site` in `dist/pages`: the documents, and the reference from docstrings and proto files.

The documents keep their places, so their links to each other stay as they are. A linked picture is copied, a linked source
file becomes a page, and a linked proto file leads to its page of the reference. The Python reference has a page per public
module, and one for the public names of each room of the package. Zensical fills them from `dist/python`: the package, with
the modules that its build generates, and with links in its docstrings.
"""

import ast
import re
import shutil
import sys
from itertools import chain
from os.path import relpath
from pathlib import Path

import protocol

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
PAGES = DIST / "pages"
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("clients/*/README.md")]
# Code, which stays as it is, or the path in a link.
CODE_OR_PATH = re.compile(r"^```.*?^```|`[^`]*`|(?<=\]\()([^)#:]+)(?=[)#])", re.M | re.S)


def write(page: str, text: str | bytes) -> None:
    """Writes a page, or a picture."""
    path = PAGES / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def resolved(document: Path, link: str) -> str:
    """A link of a document, for the site. Makes the page or the picture that it leads to."""
    target = (document.parent / link).resolve()
    if not target.exists():
        sys.exit(f"{document.relative_to(ROOT)}: {link} does not exist")
    name = target.relative_to(ROOT).as_posix()
    if target in DOCUMENTS:
        return link
    if target.suffix in [".gif", ".png", ".svg"]:
        write(name, target.read_bytes())
        return link
    if target.is_relative_to(ROOT / "proto"):
        page = f"proto/{target.stem}.md" if target.suffix else "docs/protocol.md"
    else:
        page = f"{name}.md"
        text = "\n".join(sorted(path.name for path in target.iterdir())) if target.is_dir() else target.read_text().rstrip()
        fence = f"~~~~~~ {target.suffix[1:] or 'text'}\n{text}\n~~~~~~"
        write(page, f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n{fence}\n")
    return relpath(PAGES / page, PAGES / document.relative_to(ROOT).parent)


def python_reference() -> None:
    """Writes the pages of the Python package, and the copy of it that they show."""
    sys.path.append(str(ROOT / "clients/python"))
    import hatch_build

    package = DIST / "python/tetrion"
    source = ROOT / "clients/python/src/tetrion"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("_pb", "_native*", "__pycache__"))
    hatch_build.generate(ROOT / "proto", package / "_pb")
    rooms: dict[str, list[str]] = {}
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tetrion._"):
            room = str(node.module).split(".")[1].replace("_pb", "_messages")
            rooms.setdefault(room, []).extend(alias.name for alias in node.names if not alias.asname)
    for room, names in rooms.items():
        about = str(ast.get_docstring(ast.parse((package / room / "__init__.py").read_text())))
        write(f"python/{room[1:]}.md", "\n\n".join([about, *(f"::: tetrion.{name}" for name in names)]))
    options = "options: { show_root_heading: false, show_root_toc_entry: false"
    write("python/tetrion.md", f"# tetrion\n\n::: tetrion\n    {options}, members: false }}\n")
    for path in package.glob("[!_]*.py"):
        module = f"tetrion.{path.stem}"
        write(f"python/{path.stem}.md", f"# {module}\n\n::: {module}\n    {options} }}\n")
    # Public names in docstrings become links, and those of methods too; other parts of a class lead to the class.
    texts = {path: path.read_text() for path in package.rglob("*.py")}
    classes = [node for text in texts.values() for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    methods = {f"{kind.name}.{part.name}" for kind in classes for part in kind.body if isinstance(part, ast.FunctionDef)}
    public = re.compile(rf"`(({'|'.join(chain.from_iterable(rooms.values()))})(?:\.\w+)*)`")
    for path, text in texts.items():
        path.write_text(public.sub(lambda name: f"[{name[0]}][tetrion.{name[1] if name[1] in methods else name[2]}]", text))


def main() -> None:
    """Writes all pages, and refuses one that no reader would find."""
    for folder in ["pages", "python"]:
        shutil.rmtree(DIST / folder, ignore_errors=True)
    python_reference()
    for name, text in protocol.pages(ROOT / "proto"):
        write(f"proto/{name}.md", text)
    found = {path.relative_to(PAGES).as_posix() for path in PAGES.rglob("*.md")}
    for document in DOCUMENTS:
        name = document.relative_to(ROOT).as_posix()
        found.add(name)
        write(name, CODE_OR_PATH.sub(lambda m, at=document: resolved(at, m[1]) if m[1] else m[0], document.read_text()))
    for name in ["iframe-worker.js", "wide.css"]:
        write(name, Path(__file__).with_name(name).read_bytes())
    config = Path(__file__).with_name("zensical.toml")
    shutil.copy(config, DIST)
    named = re.findall(r'"([^"]*\.md)"', config.read_text())
    if different := found.symmetric_difference(named):
        sys.exit(f"{config.relative_to(ROOT)} names other pages than there are: {', '.join(sorted(different))}")


if __name__ == "__main__":
    main()
