"""Write docs/reference.md, the reference of all public names, from their docstrings.

python docs/make_reference.py
"""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).with_name("reference.md")
TITLE = """# Reference

Signature, parameters and attributes of every public name, written from the docstrings by
`python docs/make_reference.py`; `help(enhg.HypergraphClustering)` shows the same with examples.
"""
SECTIONS = {
    "Learning": (
        "enhg",
        ["HypergraphClustering", "HypergraphClassifier", "count_clusters", "ClusterCount",
         "clustering_accuracy"],
    ),
    "Structures": (
        "enhg",
        ["ElasticNetHypergraph", "HyperedgeRule", "L1Hypergraph", "SemanticCorrelationHypergraph",
         "KNNHypergraph", "GaussianGraph", "LaplacianEigenmapGraph", "L1Graph",
         "SparseSubspaceGraph", "LowRankGraph"],
    ),
    "Hypergraphs and graphs": ("enhg", ["Hypergraph", "Graph"]),
    "Representation": (
        "enhg",
        ["self_representation", "Representation", "elastic_net_path", "ElasticNetPath",
         "low_rank_representation", "LowRankRepresentation"],
    ),
    "Models and errors": ("enhg", ["save_model", "load_model", "InputError"]),
    "Record of `predict_with_scores`": ("enhg.learning._base", ["Prediction"]),
    "Record of `spectrum_`": ("enhg.learning.spectral", ["Spectrum"]),
    "Record of `attach`": ("enhg.structures._representation_hypergraph", ["Attachment"]),
    "Modularity: `enhg.modularity`": (
        "enhg.modularity", ["modularity", "maximize_modularity", "partition_by_modularity"],
    ),
    "Preprocessing: `enhg.preprocessing`": ("enhg.preprocessing", None),
    "Choice of the preprocessing: `enhg.structures.choice`": (
        "enhg.structures.choice", ["choose_preprocessing", "preprocessing_scores"],
    ),
    "Plots: `enhg.plotting`": ("enhg.plotting", None),
    "Data sets: `enhg.datasets`": ("enhg.datasets", None),
    "Features of photographs: `enhg.features`": ("enhg.features", None),
    "Files: `enhg.io`": ("enhg.io", None),
    "Other packages: `enhg.interchange`": ("enhg.interchange", None),
}  # fmt: skip


def page() -> str:
    """The text of the page."""
    parts = [TITLE]
    for title, (module_name, names) in SECTIONS.items():
        module = import_module(module_name)
        parts.append(f"## {title}\n")
        for name in names if names is not None else sorted(module.__all__):
            value = getattr(module, name)
            if callable(value):
                parts.append(entry(name, value))
    return "\n".join(parts)


def entry(name: str, value: object) -> str:
    """Heading, signature and docstring of a class or function, and the methods of a class."""
    blocks = [signature(name, value), description(value)]
    if inspect.isclass(value):
        for attribute in public_properties(value):
            text = description(getattr(value, attribute))
            blocks += ["", indent(f".{attribute}"), indent(text)]
        for attribute in public_methods(value):
            method = getattr(value, attribute)
            heading = indent(signature(f".{attribute}", method))
            blocks += ["", heading, indent(description(method))]
    body = "\n".join(blocks).rstrip()
    return f"### `{name}`\n```text\n{body}\n```\n"


def public_properties(kind: type) -> list[str]:
    """Names of the documented properties, in alphabetical order, fitted attributes excepted."""
    return sorted(
        name
        for name, value in inspect.getmembers(kind)
        if isinstance(value, property | cached_property)
        and not name.startswith("_")
        and not name.endswith("_")
    )


def public_methods(kind: type) -> list[str]:
    """Names of the documented methods that the package defines, in alphabetical order."""
    return sorted(
        name
        for name, value in inspect.getmembers(kind, callable)
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith("enhg")
        and name not in ("to_state", "from_state")
    )


def signature(name: str, value: object) -> str:
    """Name and parameters, without types and without `self`."""
    try:
        parameters = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    except ValueError:
        return name
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in parameters
        if parameter.name not in ("self", "cls")
    ]
    return f"{name}{inspect.Signature(plain)}"


def description(value: object) -> str:
    """The docstring without its examples."""
    text = inspect.getdoc(value) or ""
    return indent(re.split(r"\n+(?:Examples\n-+\n|>>> )", text)[0])


def indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
