"""English names of months and weekdays; those of the standard library depend on the locale."""

_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS, WEEKDAYS = tuple(_MONTHS.split()), tuple(_WEEKDAYS.split())
MONTH_NUMBERS = {name: number for number, month in enumerate(MONTHS, 1) for name in (month, month[:3])}
MONTH_NUMBERS["sept"] = 9
"""Name or abbreviation → number, from 1."""
WEEKDAY_NUMBERS = {name: number for number, day in enumerate(WEEKDAYS, 1) for name in (day, day[:3])}
WEEKDAY_NUMBERS |= {"tues": 2, "thurs": 4}
"""Name or abbreviation → number; Monday is 1."""
