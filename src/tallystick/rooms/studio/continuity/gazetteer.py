"""A little geography: whether one real place can lie in another. What is not listed can lie anywhere."""

_ENGLAND = (
    "bedfordshire berkshire buckinghamshire cambridgeshire cheshire cornwall cumberland cumbria derbyshire devon devonshire "
    "dorset dorsetshire durham essex gloucestershire hampshire herefordshire hertfordshire huntingdonshire kent lancashire "
    "leicestershire lincolnshire middlesex norfolk northamptonshire northumberland nottinghamshire oxfordshire rutland shropshire "
    "somerset somersetshire staffordshire suffolk surrey sussex warwickshire westmorland wiltshire worcestershire yorkshire"
).split()
_TOWNS = "london bath bristol oxford cambridge york liverpool manchester birmingham brighton dover portsmouth plymouth".split()
_COUNTRIES: dict[str, str] = {
    **dict.fromkeys((*_ENGLAND, *_TOWNS), "england"),
    **dict.fromkeys("edinburgh glasgow aberdeen inverness perth argyll fife skye".split(), "scotland"),
    **dict.fromkeys("dublin cork galway limerick belfast".split(), "ireland"),
    **dict.fromkeys("cardiff swansea".split(), "wales"),
    **dict.fromkeys(
        "paris lyons lyon marseilles marseille bordeaux calais normandy brittany provence nice".split(), "france"
    ),
    **dict.fromkeys(
        "berlin munich hamburg leipzig dresden cologne frankfurt bavaria saxony prussia ingolstadt".split(), "germany"
    ),
    **dict.fromkeys("rome venice florence naples milan genoa turin sicily tuscany verona".split(), "italy"),
    **dict.fromkeys("geneva zurich basle berne lausanne".split(), "switzerland"),
    **dict.fromkeys("vienna salzburg".split(), "austria"),
    **dict.fromkeys("madrid barcelona seville".split(), "spain"),
    **dict.fromkeys("lisbon".split(), "portugal"),
    **dict.fromkeys("moscow petersburg".split(), "russia"),
    **dict.fromkeys(
        "boston chicago philadelphia massachusetts ohio texas california virginia kentucky".split(), "america"
    ),
}
_STATES = frozenset({*_COUNTRIES.values(), "britain", "great britain", "europe", "asia", "africa", "the continent"})
_WIDE = frozenset({"europe", "asia", "africa", "britain", "great britain", "continent"})
_OF_COUNTIES = frozenset(_ENGLAND)


def can_contain(one: str, other: str) -> bool:
    """Whether one of two places can lie in the other, as far as is known.

    Two places that are both unlisted are taken to lie apart: novels put a house into one county, not into two.
    """
    if one in _WIDE or other in _WIDE:
        return True
    if one in _STATES or other in _STATES:
        if one in _STATES and other in _STATES:
            return False
        state, inner = (one, other) if one in _STATES else (other, one)
        return _COUNTRIES.get(inner, state) == state
    # A town that is no county may lie in any county.
    return (one in _OF_COUNTIES) != (other in _OF_COUNTIES) and not (one in _COUNTRIES and other in _COUNTRIES)
