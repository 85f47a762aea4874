"""Objects on the wire besides searches: one module for each kind of command, since making a class takes 0.5 ms."""
