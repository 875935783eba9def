"""Words, stop words and stems."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.stems import MAX_WORD, stem, stems
from tallystick.text.words import (
    QUERY_STOP_WORDS,
    REQUEST_WORDS,
    STOP_WORDS,
    content_words,
    identifier_words,
    vocabulary,
    word_spans,
    words,
)


def test_apostrophes_and_decimal_signs_belong_to_a_word():
    assert words("Don’t pay 3.50, or 1,000. It's O'Brien_2 'quoted'") == [
        "don't", "pay", "3.50", "or", "1,000", "it's", "o'brien", "2", "quoted",
    ]  # fmt: skip


@given(st.text(max_size=200))
def test_word_spans_are_the_words_as_written(text):
    found = list(word_spans(text))
    assert [word.folded for word in found] == words(text)
    assert all(text[word.start : word.end] == word.written for word in found)


@given(st.text(max_size=200))
def test_the_vocabulary_is_the_set_of_words(text):
    assert vocabulary(text) == set(words(text))


def test_identifiers_are_split_into_words():
    assert identifier_words("orderId order_id HTTPServer") == ["order", "id", "order", "id", "httpserver"]


def test_content_words_leave_out_function_words_and_in_a_query_requests():
    assert content_words("Please tell me about the refund of 5 a") == ["please", "tell", "refund", "5"]
    assert content_words("Please tell me about the refund", query=True) == ["refund"]


def test_the_stop_words_are_folded_and_listed_once():
    assert not STOP_WORDS & REQUEST_WORDS
    assert QUERY_STOP_WORDS == STOP_WORDS | REQUEST_WORDS
    assert all(words(word) == [word] for word in QUERY_STOP_WORDS)


@pytest.mark.parametrize(
    "forms",
    [
        "walk walks walked walking", "refund refunds refunded refunding", "policy policies", "cancel cancelled",
        "go went gone goes", "child children", "pay paid paying", "ship shipping shipped", "mike mike's",
    ],
)  # fmt: skip
def test_the_forms_of_a_word_have_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


def test_other_scripts_and_long_runs_keep_an_index_small():
    assert stems("你好吗 straße x") == ["你好", "好吗", "strass", "x"]
    assert len(stem("k" * 500)) == MAX_WORD
    assert stems("the refund", stop_words=False) == ["refund"]


def test_threads_do_not_disturb_each_other():
    forms = [f"{first}{second}walking" for first in "bcdfghjklm" for second in "aeiou"] * 40
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(stem, forms))
    assert found == [form.removesuffix("ing") for form in forms]
