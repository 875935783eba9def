"""BM25 by its formula."""

from math import log

import pytest

from tallystick.text.bm25 import Bm25, idf, idf_of, saturation


def test_rare_words_weigh_more_and_no_word_weighs_less_than_nothing():
    found = idf_of([["a", "b"], ["a"], ["a", "a"]])
    assert found == {"a": idf(3, 3), "b": idf(1, 3)}
    assert found["b"] > found["a"] > 0
    assert idf(1, 3) == pytest.approx(log(1 + 2.5 / 1.5))


def test_further_mentions_count_less_and_long_texts_too():
    once, twice, thrice = (saturation(times, 10, 10) for times in (1, 2, 3))
    assert once < twice < thrice < 2.2
    assert twice - once > thrice - twice
    assert saturation(1, 20, 10) < once
    assert saturation(1, 20, 10, b=0.0) == saturation(1, 10, 10, b=0.0)
    assert saturation(0, 10, 10) == 0.0


def test_scores_are_the_sum_over_the_words_of_a_query():
    ranked = Bm25([["refund", "order"], ["order", "order", "late"], ["weather"]])
    scores = ranked.scores(["refund", "order"])
    assert set(scores) == {0, 1}
    mean = 2.0
    assert scores[0] == pytest.approx(idf(1, 3) * saturation(1, 2, mean) + idf(2, 3) * saturation(1, 2, mean))
    assert scores[0] > scores[1]
    assert ranked.scores({"order": 2.0})[1] == pytest.approx(2 * idf(2, 3) * saturation(2, 3, mean))
    assert ranked.idf("unheard") > ranked.idf("refund")
    assert Bm25([]).scores(["a"]) == {}
    assert Bm25([{"title": 2.5}]).scores(["title"])[0] == pytest.approx(idf(1, 1) * saturation(2.5, 2.5, 2.5))
