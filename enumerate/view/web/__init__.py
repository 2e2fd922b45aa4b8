"""Pages in the browser, served on this machine alone: the explorer of runs, and the report as one file."""
