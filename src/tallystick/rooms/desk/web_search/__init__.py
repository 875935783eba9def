"""The way to a search engine outside: off unless the settings name one, and only to that one.

Only the engine is asked, never a page it names; of what it finds, only hosts on the list are given on.
"""
