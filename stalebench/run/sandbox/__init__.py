"""What runs between stalebench and untrusted code: imports the standard library only, and as little of it as it can."""
