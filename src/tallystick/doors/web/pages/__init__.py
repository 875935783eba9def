"""One module per page; each has `register(context)`, which registers its routes and returns its paths."""
