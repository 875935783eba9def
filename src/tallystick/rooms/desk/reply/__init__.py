"""Replies: drafted, queued in the verdict's transaction, checked again before sending, never sent twice."""
