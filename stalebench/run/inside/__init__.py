"""What runs on the Python of the code under test: only the standard library, pytest and Django.

Written for Python 3.8 and newer. Nothing here may import stalebench: `main.py` is started by its path and
loads its neighbours under a name of their own, so that no file of a checkout can stand in for them.
"""
