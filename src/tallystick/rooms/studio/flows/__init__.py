"""The studio's long work, written against the durable port: plain functions whose steps are remembered."""
