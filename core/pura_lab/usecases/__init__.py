"""What the lab does for its commands."""
