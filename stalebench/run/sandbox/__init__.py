"""What runs between stalebench and untrusted code: needs the standard library only, and little of it."""
