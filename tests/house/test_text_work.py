"""Text work is done in `text/` alone: no second stemmer, sentence splitter, stop-word list, BM25 or reader of documents.

Each rule reads the syntax trees of the package. `MOST` says how many modules of a part may still break a rule; it only
shrinks. (A class of signs with `.`, `!` and `?` in it may be of a format and no splitter; it is counted, too, unless a
comma or a sign of addresses stands in it.)
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.house.sources import modules

TEXT = "src/tallystick/text/"
LIBRARIES = {"charset_normalizer", "markdown_it", "pypdf", "snowballstemmer", "syntok"}
SUFFIXES = {"s", "es", "ed", "ing", "ies", "ly", "ied"}
FEWEST_SUFFIXES = 3
FUNCTION_WORDS = {"a", "the", "and", "of", "to", "is", "was", "with", "for", "that", "from", "they", "what", "will"}
FEWEST_WORDS = 8
SIGN_CLASS = re.compile(r"\[[^\]]*\.[^\]]*\]")
OTHER_SIGNS = set(",@#$%&=")
"""A class of signs with one of these in it bounds a clause or an address; a sentence does not end there."""
WORD_XML = "wordprocessingml/2006/main"


MOST: dict[str, int] = {
    "gate splitter": 1,  # takes references in brackets out of a reply, sentence by sentence
    "providers splitter": 1,
    "rooms/desk splitter": 1,  # the rest of a sentence behind a quotation
    "rooms/insight splitter": 1,  # takes the signs that end a sentence out of names
    "rooms/studio splitter": 2,  # keys of cards, and where speech ends
}


@pytest.mark.promise("house.text-work")
def test_text_work_is_done_in_text_alone() -> None:
    found = [
        (f"{part} {rule}", path)
        for path, tree in modules()
        if not path.startswith(TEXT)
        for part in ["/".join(path.split("/")[2:4]) if path.startswith("src/tallystick/rooms/") else path.split("/")[2]]
        for rule in broken_rules(tree)
    ]
    count = Counter(where for where, _ in found)
    more = [where for where in count if count[where] > MOST.get(where, 0)]
    assert not [each for each in found if each[0] in more], "use tallystick.text"


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("from snowballstemmer import stemmer", "library"),
        ("def late():\n    import syntok.segmenter", "library"),
        ("_ENDINGS = ('ing', 'ies', 'ed', 's')", "stemmer"),
        ("_ENDINGS = (('ing', ''), ('ied', 'y'), ('ed', ''))", "stemmer"),
        ("def stem(word):\n    return word.removesuffix('ing').removesuffix('ed').removesuffix('s')", "stemmer"),
        ("_END = re.compile(r'(?<=[.!?])\\s+')", "splitter"),
        ("re.split(r'[^.?!\\n]+', text)", "splitter"),
        ("STOP = {'a', 'the', 'and', 'of', 'to', 'is', 'was', 'with'}", "stop words"),
        ("STOP = frozenset('a the and of to is was with for'.split())", "stop words"),
        ("K1, B = 1.2, 0.75", "bm25"),
        ("_W = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'", "docx"),
    ],
)
def test_each_rule_sees_what_breaks_it(code: str, rule: str) -> None:
    assert broken_rules(ast.parse(code)) == {rule}


@pytest.mark.parametrize(
    "code",
    [
        "'''The [.!?] of a docstring, and a the and of to is was with for it.'''",
        "message = 'What is asked of the room, and to what end, that will they tell with the answer from it.'",
        "NAMES = ('ring', 'sing', 's')",
        "_PATH = re.compile(r'[\\w./-]+')",
        "_CLAUSE = re.compile(r'[^,;:.!?]+')",
        "_LOCAL = re.compile(r'[\\w.!#$%&*+/=?^-]{1,64}')",
    ],
)
def test_other_text_breaks_no_rule(code: str) -> None:
    assert broken_rules(ast.parse(code)) == set()


def broken_rules(tree: ast.Module) -> set[str]:
    """The rules that a module breaks."""
    nodes = list(_without_docstrings(tree))
    removed = {ending for node in nodes for ending in _endings(node)}
    found = {rule for node in nodes for rule in _rules(node)}
    return found | {"stemmer"} if len(removed & SUFFIXES) >= FEWEST_SUFFIXES else found


def _rules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        if LIBRARIES & {name.partition(".")[0] for name in names}:
            yield "library"
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        strings = set(_strings(node))
        if len(strings & SUFFIXES) >= FEWEST_SUFFIXES:
            yield "stemmer"
        if len(strings & FUNCTION_WORDS) >= FEWEST_WORDS:
            yield "stop words"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "K1":
        yield "bm25"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _rules_of_text(node.value)


def _rules_of_text(text: str) -> Iterator[str]:
    if any({"!", "?"} <= set(found) and not OTHER_SIGNS & set(found) for found in SIGN_CLASS.findall(text)):
        yield "splitter"
    if WORD_XML in text:
        yield "docx"
    words = text.split()
    # A list of words has no signs and hardly a repeat; a sentence has both.
    if len(FUNCTION_WORDS.intersection(words)) >= FEWEST_WORDS and len(set(words)) == len(words) and "." not in text:
        yield "stop words"


def _endings(node: ast.AST) -> Iterator[str]:
    """What a call of `endswith` or `removesuffix` asks for, by itself or in a loop."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for given in node.args if node.func.attr in {"endswith", "removesuffix"} else ():
            yield from _strings(given) if isinstance(given, ast.Tuple) else _strings(ast.Tuple(elts=[given]))
    elif isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
        yield from _strings(node.iter)


def _strings(node: ast.Tuple | ast.List | ast.Set) -> Iterator[str]:
    for element in node.elts:
        first = element.elts[0] if isinstance(element, ast.Tuple) and element.elts else element
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def _without_docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return (node for node in ast.walk(tree) if id(node) not in docstrings)
