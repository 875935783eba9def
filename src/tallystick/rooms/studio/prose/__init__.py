"""Prose, measured: sentences and paragraphs, speech, rhythm, repetition, voice."""
