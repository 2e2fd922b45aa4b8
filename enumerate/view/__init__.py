"""Pictures of runs and tours, as text and SVG. Nothing here searches or writes."""
