"""stalebench: pairs of changes that pass alone and fail together, mined, graded and counted."""
