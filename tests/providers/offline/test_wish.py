"""What is read out of a request."""

import pytest

from tallystick.providers.offline.wish import read_wish


@pytest.mark.promise("offline.cards")
def test_the_name_of_a_file_is_no_order() -> None:
    assert "story" not in read_wish("Check the names.\nStory/Scenes/one.md").orders
    assert {"store", "check"} <= read_wish("Please store it. Check the names.").orders
