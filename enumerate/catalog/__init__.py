"""What is there, read back: as arrays, verified, or one tour for each class."""
