"""How the pages look: one style sheet, and the few lines of script that remember light or dark."""

from importlib.resources import files

_STATIC = files("tallystick.doors.web") / "static"
CSS = (_STATIC / "tally.css").read_text(encoding="utf-8")
HEAD = f"<style>{CSS}</style><script>{(_STATIC / 'tally.js').read_text(encoding='utf-8')}</script>"
"""For the head of every page; constant, so that nothing of anybody's data is in it."""
