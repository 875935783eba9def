"""The prompt registry: how tools are worded for models, in three layers."""
