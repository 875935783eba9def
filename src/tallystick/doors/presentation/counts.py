"""Numbers of things, as a person would say them."""


def counted(number: int, one: str, many: str = "") -> str:
    """`no files`, `1 file`, `2,000 files`.

    Args:
        number: How many.
        one: The word for one of them.
        many: The word for several; with an `s` if not given.
    """
    return f"{f'{number:,}' if number else 'no'} {one if number == 1 else many or f'{one}s'}"
