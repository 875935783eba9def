"""The style sheet of the pages, and the script that remembers light or dark mode."""

from importlib.resources import files

_STATIC = files("tallystick.doors.web") / "static"
CSS = (_STATIC / "tally.css").read_text(encoding="utf-8")
HEAD = f"<style>{CSS}</style><script>{(_STATIC / 'tally.js').read_text(encoding='utf-8')}</script>"
"""For the head of every page; constant, so it contains no user data."""
