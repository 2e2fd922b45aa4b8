"""How workers are obtained. Each executor turns a queue of slices into events; see `supervisor` for the shared loop."""
