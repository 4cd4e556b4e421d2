"""Keys, models and profiles: a table of what is stored, and a form for whatever is done to it."""
