"""What runs in the sandbox beside an agent: needs the standard library only."""
