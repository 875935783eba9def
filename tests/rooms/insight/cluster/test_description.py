import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.cluster.description import TERMS, labels_of, terms_of


@pytest.mark.promise("insight.cluster-labels")
def test_a_group_is_named_by_the_words_that_tell_it_from_the_others() -> None:
    terms = terms_of(
        {
            0: [
                "Please help, my direct debit failed again",
                "the direct debit was taken twice",
                "a direct debit bounced",
            ],
            1: ["please help, I cannot sign in to the app", "sign in fails", "after the update I can't sign in"],
        }
    )
    assert terms[0][0] == "direct debit"
    assert terms[1][0] == "sign in"
    assert not {"please", "help", "the", "again"} & {word for group in terms.values() for word in group}


@pytest.mark.promise("insight.cluster-labels")
def test_forms_of_a_word_count_together_and_placeholders_count_for_nothing() -> None:
    said = ["refunds are late [email:3f2a9c4d1b]", "my refund [email:3f2a9c4d1b]", "refunded nothing, refund me"]
    terms = terms_of({0: said, 1: ["meter reading", "meter readings"]})
    assert terms[0][0] == "refund"
    assert not any("3f2a" in term or "email" in term for term in terms[0])


@pytest.mark.promise("insight.cluster-labels")
def test_groups_with_the_same_first_terms_get_different_labels() -> None:
    labels = labels_of({0: ("card", "bank", "fee", "atm"), 1: ("card", "bank", "fee", "chip"), 2: ()})
    assert labels[0] == "card, bank, fee"
    assert labels[1] == "card, bank, chip"
    assert labels[2] == ""


@given(texts=st.dictionaries(st.integers(0, 4), st.lists(st.text(max_size=40), min_size=1, max_size=5), min_size=1))
def test_whatever_people_write_there_are_few_terms_and_no_error(texts: dict[int, list[str]]) -> None:
    terms = terms_of(texts)
    assert terms.keys() == texts.keys()
    assert all(len(group) <= TERMS for group in terms.values())
    assert labels_of(terms).keys() == texts.keys()
