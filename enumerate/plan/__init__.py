"""Config to jobs: which start squares and prefixes are searched, how large they are, and what a run will take."""
