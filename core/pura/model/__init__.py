"""Local models, read safely: tokens, devices and the evidence pass. Torch lives here."""
