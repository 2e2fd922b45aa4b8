"""Words to config to exit code."""
