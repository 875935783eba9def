"""One module per page; each has `register(house)`, which registers its routes and returns its paths."""
