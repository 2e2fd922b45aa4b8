"""The strategies compared: real runs, and tables and charts of their results."""
