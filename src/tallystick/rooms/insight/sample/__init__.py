"""Sample data: two months of support tickets of an invented company."""
