"""Parameters of several ranks brought to their average: averagers and utils."""
