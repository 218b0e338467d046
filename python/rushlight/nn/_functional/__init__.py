"""The parts of rushlight.nn.functional, a file for each family."""
