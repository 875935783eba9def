"""All that reads facts off the narration, in the order in which they are tried."""

from collections.abc import Iterator

from tallystick.rooms.studio.continuity.ages import ages
from tallystick.rooms.studio.continuity.alive import deaths
from tallystick.rooms.studio.continuity.beside import beside
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.birthdays import birthdays
from tallystick.rooms.studio.continuity.body import bodies
from tallystick.rooms.studio.continuity.descriptions import descriptions
from tallystick.rooms.studio.continuity.events import events
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.last_hours import last_hours
from tallystick.rooms.studio.continuity.looks import looks
from tallystick.rooms.studio.continuity.loose_deaths import loose_deaths
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.places import places
from tallystick.rooms.studio.continuity.roots import roots
from tallystick.rooms.studio.continuity.ties import ties
from tallystick.rooms.studio.continuity.vouched import vouched
from tallystick.rooms.studio.continuity.whereabouts import whereabouts
from tallystick.rooms.studio.continuity.years import years

_OF_PEOPLE = (looks, descriptions, ages, years, vouched, bodies)
_OF_PLACES = (places, roots, ties, beside, whereabouts)
_OF_DAYS = (events, birthdays, deaths, loose_deaths, last_hours)
READERS = (*_OF_PEOPLE, *_OF_PLACES, *_OF_DAYS)


def read_by_rules(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """What the rules read in a file."""
    return (fact for read in READERS for fact in read(narration, binder))
