"""One module a format, each with a function ``read`` (:class:`..values.Reader`)."""
