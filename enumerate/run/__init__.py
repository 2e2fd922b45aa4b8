"""The conductor: opens a run, hands out its slices, concludes it; and the worker."""
