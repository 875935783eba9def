"""One module a page. Each has `register(house)`, which makes its routes and gives the paths that are its own."""
