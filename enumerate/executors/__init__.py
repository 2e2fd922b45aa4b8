"""How workers are obtained. Each executor turns a queue of tasks into events; see `supervisor` for the shared loop."""
