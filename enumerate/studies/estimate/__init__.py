"""How many tours there are, by random descents."""
