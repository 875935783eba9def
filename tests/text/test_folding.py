"""Folding removes how a text was typed, and nothing else."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.folding import (
    comparable,
    compose,
    fold_case,
    is_unspaced,
    squeeze,
    straighten,
    straighten_apostrophes,
    unify_line_ends,
    without_accents,
)


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        (unify_line_ends, "a\r\nb\rc\n", "a\nb\nc\n"),
        (compose, "e\u0301 \u212a", "é \u212a"),
        (straighten, "“a” ‘b’ c—d… `e` ﬁn soft\u00adhyphen", "\"a\" 'b' c–d... 'e' fin softhyphen"),
        (straighten, "`a`", "'a'"),
        (straighten_apostrophes, "don’t “x”", "don't “x”"),
        (squeeze, " a \u00a0b\n\tc ", "a b c"),
        (fold_case, "STRASSE Straße", "strasse strasse"),
        (without_accents, "Café Łódź", "Cafe Łodz"),
        (comparable, "ＰＡＹ\u200bPal", "paypal"),
    ],
)
def test_each_function_removes_one_difference(function, text, expected):
    assert function(text) == expected


def test_ligatures_stay_where_they_are_asked_for():
    assert straighten("“ﬁn\u00ad”", ligatures=False) == '"ﬁn\u00ad"'


def test_scripts_without_spaces_are_known():
    assert [is_unspaced(sign) for sign in "aé你ไ"] == [False, False, True, True]


@given(st.text(max_size=100))
def test_folding_twice_is_folding_once(text):
    for function in (unify_line_ends, compose, straighten, squeeze, fold_case, straighten_apostrophes):
        assert function(function(text)) == function(text)


@given(st.text(max_size=100))
def test_comparable_is_compatibility_form_without_case_and_invisible_characters(text):
    plain = unicodedata.normalize("NFKC", text).casefold()
    assert comparable(text) == "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
