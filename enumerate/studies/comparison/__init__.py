"""The strategies compared: real runs, and the tables and charts that are made of them."""
