"""Memory's pages."""
