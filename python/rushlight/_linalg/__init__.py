"""torch.linalg by topic: factors, solving, norms and products."""
