"""What torch.func is made of."""
