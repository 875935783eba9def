"""One file per revision, in order. A released revision is never changed."""
