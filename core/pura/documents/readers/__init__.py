"""A module a family of formats, a function a format; the rows of ``FORMATS`` name them."""
