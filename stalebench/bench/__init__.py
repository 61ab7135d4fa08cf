"""Measurements that the project keeps, each a module to run: `python -m stalebench.bench.NAME --help`."""
