"""The parts of rushlight.optim.lr_scheduler."""
