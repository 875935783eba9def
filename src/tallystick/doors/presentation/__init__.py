"""Presentation shared by the doors: tool names and refusals for external models, held calls for people."""
