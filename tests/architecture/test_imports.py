"""The dependency direction of DESIGN.md section 5, where hooks may live, and the size and names of files."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import assay

SOURCE = Path(assay.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

LINE = ["core", "models", "masking", "faithfulness", "explainers", "evaluation", "experiments", "reports"]
MAY = {part: set(LINE[:i]) for i, part in enumerate(LINE)}
MAY |= {part: set(LINE) | {"datasets", "statistics", "training"} for part in ("cli", "web")}
MAY |= {"datasets": {"core"}, "statistics": {"core"}, "training": {"core", "models", "datasets"}}
for part in ("evaluation", "experiments", "reports"):  # right of both lines
    MAY[part] |= {"datasets", "statistics"}
MAY["experiments"] |= {"training"}
ALSO = {  # folders that may do more than the part they lie in
    "explainers/learned": {"training", "datasets"},
    "evaluation/roar": {"training"},
    "evaluation/simulability": {"training"},
}
ONLY_IN = {  # third parties that may be imported in one place only
    "ray": ("experiments/engines/ray.py",),
    "matplotlib": ("reports/",),
    "seaborn": ("reports/",),
    "plotly": ("reports/",),
    "fastapi": ("web/",),
    "flask": ("web/",),
    "cyclopts": ("cli/",),
    "peft": ("models/load.py",),
    "captum": (),
    "pickle": (),
}
NO_TORCH = ("core/", "datasets/", "statistics/", "faithfulness/", "reports/")  # numpy only
HOOKS = "models/hooks.py"
INSIDES = {
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook",
    "register_module_forward_hook", "AttentionInterface", "AttentionMaskInterface", "set_attn_implementation",
    "_can_set_attn_implementation", "masking_utils", "modeling_layers",
}  # fmt: skip


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path):
    """Every module that a file imports, also inside functions, with relative imports resolved."""
    package = ["assay", *path.relative_to(SOURCE).parent.parts]
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [f"{module}.{alias.name}" for alias in node.names]
    return found


def parts_used(path):
    """The parts of Assay (first folder) that a file imports; "" is the package's own front door."""
    wanted = [m for m in imports(path) if m != "assay.__version__"]
    inside = [m.split(".") for m in wanted if m.split(".")[0] == "assay"]
    folders = {p.name for p in SOURCE.iterdir() if p.is_dir()}
    return {m[1] if len(m) > 1 and m[1] in folders else "" for m in inside}


def test_left_never_imports_right():
    wrong = []
    for path in FILES:
        name = name_of(path)
        if "/" not in name:
            continue  # the front door opens every room
        part, folder = name.split("/")[0], "/".join(name.split("/")[:2])
        assert part in MAY, f"{part} has no place in the dependency direction; write it down here and in DESIGN.md"
        allowed = MAY[part] | {part} | ALSO.get(folder, set()) | ({""} if part in ("cli", "web") else set())
        wrong += [f"{name} imports {used or 'the front door'}" for used in parts_used(path) - allowed]
    assert wrong == []


def test_the_rules_say_what_the_design_says():
    """The chain of section 5, both ways, so that a slip in the table above is seen."""
    for left, right in pairwise(LINE):
        assert left in MAY[right]
        assert right not in MAY[left]
    assert MAY["core"] == set()
    assert all("cli" not in allowed and "web" not in allowed for allowed in MAY.values())
    assert not {"models", "masking", "explainers"} & (MAY["datasets"] | MAY["statistics"])
    assert "explainers" not in MAY["training"]


def test_the_walk_sees_imports(monkeypatch):
    """The test can fail: an import from right to left is found wherever it hides."""
    bad = SOURCE / "core" / "nothing_like_it.py"
    sources = {
        "from assay.models import load": "models",
        "import assay.explainers.explain": "explainers",
        "from ..masking import game": "masking",
        "def f():\n    from assay.cli.main import main": "cli",
        "from assay import explain": "",
        "import assay": "",
    }
    for source, part in sources.items():
        monkeypatch.setattr(Path, "read_text", lambda self, encoding=None, source=source: source)
        assert parts_used(bad) >= {part}


def test_third_parties_have_their_place():
    wrong = []
    for path in FILES:
        name, used = name_of(path), {m.split(".")[0] for m in imports(path)}
        strangers = [p for p, places in ONLY_IN.items() if p in used and not any(name.startswith(x) for x in places)]
        strangers += sorted(used & {"torch", "transformers"}) if name.startswith(NO_TORCH) else []
        wrong += [f"{name} imports {package}" for package in strangers]
    assert wrong == []


def test_only_hooks_touches_the_insides():
    """Hooks and transformers' internals are named in one file; the others go through its context managers."""
    wrong = []
    for path in (p for p in FILES if name_of(p) != HOOKS):
        nodes = list(ast.walk(tree_of(path)))
        names = {n.attr for n in nodes if isinstance(n, ast.Attribute)} | {
            n.id for n in nodes if isinstance(n, ast.Name)
        }
        names |= {part for module in imports(path) for part in module.split(".")}
        wrong += [f"{name_of(path)} uses {name}" for name in sorted(names & INSIDES)]
        wrong += [f"{name_of(path)} uses {m}" for m in imports(path) if m.startswith("transformers.models.")]
    assert wrong == []


def test_hooks_does_touch_them():
    text = (SOURCE / HOOKS).read_text(encoding="utf-8")
    assert "register_forward_hook" in text
    assert "AttentionInterface.register" in text


def test_files_are_small_and_well_named():
    long = [name_of(p) for p in FILES if len(p.read_text(encoding="utf-8").splitlines()) >= 400]
    vague = {"utils", "util", "helpers", "helper", "misc", "common"}
    named = [name_of(p) for p in FILES if vague & set(name_of(p).removesuffix(".py").replace("/", "_").split("_"))]
    assert (long, named) == ([], [])


def test_house_rules():
    """A module says what it is; no class is called Base; nothing prints outside the command line."""
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
