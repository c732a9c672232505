"""The direction of dependencies, where hooks and third parties may be used, and the size and names of files."""

from __future__ import annotations

import ast
from functools import cache
from itertools import pairwise
from pathlib import Path

import assay

SOURCE = Path(assay.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# A package may import those to its left. `datasets` and `statistics` stand beside the line, right of `core`.
LAYERS = [
    "core", "models", "masking", "faithfulness", "explainers", "evaluation", "training", "fitting", "experiments",
    "reports", "studies", "human", "api", "cli",
]  # fmt: skip
BESIDE = {"datasets", "statistics"}
ALLOWED = {package: set(LAYERS[:i]) for i, package in enumerate(LAYERS)}
ALLOWED |= {package: {"core"} for package in BESIDE}
for package in LAYERS[LAYERS.index("evaluation") :]:
    ALLOWED[package] |= BESIDE
ALLOWED["models"] |= {"datasets"}  # inputs become Examples there
ALLOWED["explainers"] |= {"datasets"}
ALLOWED["training"] -= {"faithfulness", "explainers", "evaluation"}  # a model is trained without being explained
ALLOWED["web"] = set(ALLOWED["cli"])  # beside the command line, which starts it
ALLOWED["cli"] |= {"web"}
FRONT_DOOR = ("cli", "web")  # these may also `import assay`
ONLY_IN = {  # third-party packages and where they may be imported
    "ray": ("experiments/engines/ray.py",),
    "matplotlib": ("reports/", "core/plot.py"),
    "seaborn": ("reports/",),
    "plotly": ("reports/",),
    "argon2": ("web/",),
    "fastapi": ("web/",),
    "itsdangerous": ("web/",),
    "sqlalchemy": ("web/",),
    "starlette": ("web/",),
    "uvicorn": ("web/",),
    "cyclopts": ("cli/",),
    "peft": ("models/from_folder.py",),
    "optuna": ("fitting/search.py",),
    "captum": (),
    "pickle": (),
}
NO_TORCH = ("core/", "datasets/", "statistics/", "faithfulness/", "reports/")  # numpy only
HOOKS = ("models/hooks.py", "models/attention_hooks.py")
INTERNALS = {
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook",
    "register_module_forward_hook", "AttentionInterface", "AttentionMaskInterface", "set_attn_implementation",
    "_can_set_attn_implementation", "masking_utils", "modeling_layers",
}  # fmt: skip


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def tree_of(path):
    return _parsed(path.read_text(encoding="utf-8"))


@cache
def _parsed(source):
    return ast.parse(source)


def imports(path):
    """The full name of everything that a file imports, also inside functions, with relative imports resolved."""
    package = ["assay", *path.relative_to(SOURCE).parent.parts]
    names = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{module}.{alias.name}" for alias in node.names]
    return names


def packages_used(path):
    """The packages of Assay (first folder) that a file imports; "" is `assay` itself."""
    modules = [name.split(".") for name in imports(path) if name != "assay.__version__"]
    packages = {p.name for p in SOURCE.iterdir() if p.is_dir()}
    return {m[1] if len(m) > 1 and m[1] in packages else "" for m in modules if m[0] == "assay"}


def private_imports(path):
    """The private modules and names of Assay that a file imports from outside the package that holds them."""
    package = ("assay", *path.relative_to(SOURCE).parent.parts)
    wrong = []
    for name in imports(path):
        parts = name.split(".")
        private = next((i for i, part in enumerate(parts) if part.startswith("_") and not part.endswith("__")), None)
        if parts[0] != "assay" or private is None:
            continue
        holder = Path(SOURCE.parent, *parts[:private])
        owner = tuple(parts[:private] if holder.is_dir() else parts[: private - 1])
        if package[: len(owner)] != owner:
            wrong.append(name)
    return wrong


def test_packages_import_only_from_their_left():
    wrong = []
    for path in FILES:
        name = name_of(path)
        if "/" not in name:
            continue  # assay/__init__.py may import everything
        package = name.split("/")[0]
        assert package in ALLOWED, f"{package} has no place in LAYERS; add it here and in docs/architecture.md"
        allowed = ALLOWED[package] | {package} | ({""} if package in FRONT_DOOR else set())
        wrong += [f"{name} imports {used or 'assay itself'}" for used in packages_used(path) - allowed]
    assert wrong == []


def test_the_layers_are_those_of_the_design():
    """The order in both directions, so that a slip in the tables above is noticed."""
    for left, right in pairwise(package for package in LAYERS if package != "training"):
        assert left in ALLOWED[right]
        assert right not in ALLOWED[left]
    assert ALLOWED["core"] == set()
    assert ALLOWED["training"] == {"core", "models", "masking", "datasets", "statistics"}
    assert all(
        "training" in ALLOWED[package] for package in ("fitting", "experiments", "reports", "studies", "api", "cli")
    )
    assert all("training" not in ALLOWED[package] for package in ("explainers", "evaluation"))
    assert all("cli" not in allowed for allowed in ALLOWED.values())
    assert [package for package, allowed in ALLOWED.items() if "web" in allowed] == ["cli"]
    assert not {"models", "masking", "explainers"} & (ALLOWED["datasets"] | ALLOWED["statistics"])


def test_no_package_imports_private_names_of_another():
    wrong = {(name_of(path), name.rpartition(".")[0]) for path in FILES for name in private_imports(path)}
    assert wrong == set()


def test_every_kind_of_import_is_seen(monkeypatch):
    """The checks can fail: a wrong import is seen in any form and place."""
    path = SOURCE / "core" / "no_such_file.py"
    sources = {
        "from assay.models import load": "models",
        "import assay.explainers.session": "explainers",
        "from ..masking import game": "masking",
        "def f():\n    from assay.cli.main import main": "cli",
        "from assay import explain": "",
        "import assay": "",
    }
    for source, package in sources.items():
        monkeypatch.setattr(Path, "read_text", lambda self, encoding=None, source=source: source)
        assert packages_used(path) >= {package}


def test_private_imports_are_seen(monkeypatch):
    sources = {
        "from assay.masking.removal._by_token import ByToken": (False, True),  # a private module
        "from assay.masking.removal import _by_token": (False, True),
        "from assay.masking.removal.pad import _name": (False, True),  # a private name of a public module
        "from .._removals import name": (True, True),  # from a package above: not private to anyone inside it
        "from assay import __version__": (True, True),
        "from torch._C import name": (True, True),  # other libraries have a test of their own
    }
    for source, allowed in sources.items():
        monkeypatch.setattr(Path, "read_text", lambda self, encoding=None, source=source: source)
        paths = (SOURCE / "masking" / "game.py", SOURCE / "masking" / "removal" / "pad.py")
        assert tuple(not private_imports(path) for path in paths) == allowed, source


def test_third_party_packages_are_imported_where_they_belong():
    wrong = []
    for path in FILES:
        name, used = name_of(path), {m.split(".")[0] for m in imports(path)}
        misplaced = [p for p, places in ONLY_IN.items() if p in used and not any(name.startswith(x) for x in places)]
        misplaced += sorted(used & {"torch", "transformers"}) if name.startswith(NO_TORCH) else []
        wrong += [f"{name} imports {package}" for package in misplaced]
    assert wrong == []


def test_everything_is_printed_by_the_console_that_drops_control_characters():
    wrong = [
        name_of(path)
        for path in FILES
        if any(isinstance(n, ast.ImportFrom) and n.module == "rich.console" for n in ast.walk(tree_of(path)))
    ]
    assert wrong == ["core/console.py"]


def test_only_two_files_use_the_internals_of_transformers():
    """Hooks and transformers' internals are used in two files; all others use their context managers."""
    wrong = []
    for path in (p for p in FILES if name_of(p) not in HOOKS):
        nodes = list(ast.walk(tree_of(path)))
        names = {n.attr for n in nodes if isinstance(n, ast.Attribute)} | {
            n.id for n in nodes if isinstance(n, ast.Name)
        }
        names |= {part for module in imports(path) for part in module.split(".")}
        wrong += [f"{name_of(path)} uses {name}" for name in sorted(names & INTERNALS)]
        wrong += [f"{name_of(path)} uses {m}" for m in imports(path) if m.startswith("transformers.models.")]
    assert wrong == []


def test_these_files_do_use_them():
    text = "".join((SOURCE / name).read_text(encoding="utf-8") for name in HOOKS)
    assert "register_forward_hook" in text
    assert "AttentionInterface.register" in text


def test_files_are_small_and_well_named():
    long = [name_of(p) for p in FILES if len(p.read_text(encoding="utf-8").splitlines()) >= 400]
    vague = {"utils", "util", "helpers", "helper", "misc", "common"}
    unclear = [name_of(p) for p in FILES if vague & set(name_of(p).removesuffix(".py").replace("/", "_").split("_"))]
    assert (long, unclear) == ([], [])


def test_modules_have_docstrings_no_class_is_called_base_and_only_the_command_line_prints():
    wrong = []
    for path in FILES:
        name, tree = name_of(path), tree_of(path)
        wrong += [] if ast.get_docstring(tree) else [f"{name} has no docstring"]
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name.startswith("Base"):
                wrong.append(f"{name} has a class {node.name}")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                wrong += [] if name.startswith("cli/") else [f"{name} prints"]
    assert wrong == []
