"""Repository specifications: what is source, what is a test, how changes land, how an environment is made.

Facts about one repository live in its TOML file, never in code.
"""

from stalebench.spec.derive import derive
from stalebench.spec.loading import known, load, names, parse, to_toml
from stalebench.spec.model import Kind, Limits, Recipe, Spec

__all__ = ["Kind", "Limits", "Recipe", "Spec", "derive", "known", "load", "names", "parse", "to_toml"]
