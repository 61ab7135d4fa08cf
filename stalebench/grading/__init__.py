"""Grading: patches alone and together, for any source of patches and under each condition."""
