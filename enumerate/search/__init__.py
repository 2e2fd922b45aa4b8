"""The ways to search for tours, one module each: a job and its cursor in, batches of tours out."""
