"""A little geography: whether one real place can lie in another. What is not listed can lie anywhere."""

from tallystick.rooms.studio.continuity.vocabulary import words

_ENGLAND = words(
    "bedfordshire berkshire buckinghamshire cambridgeshire cheshire cornwall cumberland cumbria derbyshire devon "
    "devonshire dorset dorsetshire durham essex gloucestershire hampshire herefordshire hertfordshire huntingdonshire "
    "kent lancashire leicestershire lincolnshire middlesex norfolk northamptonshire northumberland nottinghamshire "
    "oxfordshire rutland shropshire somerset somersetshire staffordshire suffolk surrey sussex warwickshire "
    "westmorland wiltshire worcestershire yorkshire"
)
_TOWNS = words(
    "london bath bristol oxford cambridge york liverpool manchester birmingham brighton dover portsmouth plymouth"
)
_COUNTRIES: dict[str, str] = {
    **dict.fromkeys((*_ENGLAND, *_TOWNS), "england"),
    **dict.fromkeys(words("edinburgh glasgow aberdeen inverness perth argyll fife skye"), "scotland"),
    **dict.fromkeys(words("dublin cork galway limerick belfast"), "ireland"),
    **dict.fromkeys(words("cardiff swansea"), "wales"),
    **dict.fromkeys(
        words("paris lyons lyon marseilles marseille bordeaux calais normandy brittany provence nice"), "france"
    ),
    **dict.fromkeys(
        words("berlin munich hamburg leipzig dresden cologne frankfurt bavaria saxony prussia ingolstadt"), "germany"
    ),
    **dict.fromkeys(words("rome venice florence naples milan genoa turin sicily tuscany verona"), "italy"),
    **dict.fromkeys(words("geneva zurich basle berne lausanne"), "switzerland"),
    **dict.fromkeys(words("vienna salzburg"), "austria"),
    **dict.fromkeys(words("madrid barcelona seville"), "spain"),
    **dict.fromkeys(words("lisbon"), "portugal"),
    **dict.fromkeys(words("moscow petersburg"), "russia"),
    **dict.fromkeys(
        words("boston chicago philadelphia massachusetts ohio texas california virginia kentucky"), "america"
    ),
}
_CITIES = frozenset(
    words("""
    aberdeen aix albany algiers amsterdam antwerp archangel athens avignon bangor barnstaple bergen berwick biarritz
    bilbao blois bologna bombay bordeaux boulogne brescia bremen brest bruges brussels bucharest budapest buda cadiz
    cairo calcutta canterbury carlisle cherbourg chester chichester christiania colchester constantinople copenhagen
    cordova corunna coventry cracow damascus danzig delft delhi derry devonport dieppe dijon dorchester doncaster
    douai dumfries dundee dunkirk durham ely exeter falmouth ferrara folkestone geneva ghent gibraltar gloucester
    gothenburg granada grenoble grimsby haarlem halifax harwich havre hull ipswich jerusalem kilkenny konigsberg
    leeds leghorn leicester leyden lichfield liege lille limoges lisbon lucca lucerne lubeck lyme madras maidstone
    mainz malaga malta mantua marseilles mecklenburg metz modena montpellier montreal nantes newcastle nottingham
    norwich nuremberg odessa oporto orleans ostend padua palermo parma pavia penzance perugia pisa plymouth poitiers
    potsdam prague quebec ragusa ramsgate ravenna reims rennes riga rochelle rotterdam rouen salamanca salisbury
    scarborough sheffield shrewsbury smyrna southampton stettin stockholm strasbourg stuttgart sunderland syracuse
    tangier taunton toledo torquay toulon toulouse tournai trent trieste tripoli truro tunis ulm upsala utrecht
    valencia valladolid versailles vicenza wakefield warsaw waterford weimar weymouth whitby winchester worcester
    wurzburg yarmouth zaragoza
    """)
)
"""Towns that nothing more is known of here than that they are towns."""
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


def is_city(name: str) -> bool:
    """Whether it is the name of a real town, if no person bears it."""
    return name in _CITIES


def is_listed(place: str) -> bool:
    """Whether it is a real place that is known here: `Herefordshire` is no slip for `Hertfordshire`."""
    return place in _COUNTRIES or place in _STATES
