"""Format counts with singular and plural."""


def counted(number: int, one: str, many: str = "") -> str:
    """Format a count: `no files`, `1 file`, `2,000 files`.

    Args:
        number: The count.
        one: The singular.
        many: The plural; the singular with an `s` if not given.
    """
    return f"{f'{number:,}' if number else 'no'} {one if number == 1 else many or f'{one}s'}"
