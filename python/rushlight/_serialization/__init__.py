"""The parts of rushlight.serialization: archive, pickles, devices, files. None is public."""
