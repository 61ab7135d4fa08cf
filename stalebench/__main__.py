"""`python -m stalebench`."""

from stalebench.cli import main

if __name__ == "__main__":
    main()
