"""Imports manuscripts: every format is read into one neutral form, which becomes files of the workspace."""
