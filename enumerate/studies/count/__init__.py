"""All tours of a board, counted without listing them."""
