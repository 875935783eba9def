"""The sample that comes with insight: the support tickets of a company that does not exist, over two months."""
