"""Repository specifications: what is source, what is a test, how changes land, how an environment is made.

Facts about one repository live in its TOML file, never in code.
"""

from stalebench.spec.loading import load, names, parse, to_toml
from stalebench.spec.model import Kind, Limits, Recipe, Spec

__all__ = ["Kind", "Limits", "Recipe", "Spec", "load", "names", "parse", "to_toml"]
