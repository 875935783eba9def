"""Search of the configured log files, newest entries first."""
