"""How many, and how fast: exact counts, estimates, and the comparison of strategies."""
