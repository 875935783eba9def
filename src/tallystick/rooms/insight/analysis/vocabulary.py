"""The words by which questions are understood."""

import re
from collections.abc import Mapping

from tallystick.rooms.insight.figures.words import stem

WANTS: Mapping[str, str] = {
    "forecast": r"forecast|predict|next (?:week|month|year|quarter)|will (?:there|we|it|they|the)\b|in future",
    "time": r"how (?:long|fast|quick)|time to|resol\w*|turnaround|(?:handling|solution|response|waiting) time|"
    r"take[ns]? to|tak\w+ (?:the )?long\w*|longest|shortest|slowest|fastest|quickest",
    "reassign": r"re-?assign\w*|hand(?:ed)? (?:on|over|off)|handovers?|hand-?offs?|bounc\w+|transfer(?:s|red)? between|"
    r"ping-?pong|rerouted",
    "quality": r"data quality|missing|incomplete|duplicates?|empty fields?|how (?:complete|clean)",
    "complexity": r"complex\w*|complicated|difficult\w*",
    "customers": r"customers? (?:write|contact|come back|return)\w*|repeat\w*|returning|same customers?|"
    r"(?:which|who|how many) (?:\w+ )?customers?|again and again",
    "trend": r"trend\w*|rising|risen|rise|falling|fallen|fall|increas\w+|decreas\w+|grow\w*|declin\w+|over time|"
    r"develop\w*|spik\w+|peak\w*|per (?:day|week|month)|(?:dai|week|month)ly|each (?:day|week|month)|"
    r"(?:go|going|gone|went) (?:up|down)",
    "compare": r"compar\w*|chang\w+|differ\w*|versus|vs\.?|shift\w*|than|against|between",
    "share": r"shares?|percent\w*|%|proportions?|fractions?|what part|how (?:large|big)",
    "count": r"how (?:many|often|much)|numbers?|counts?|volumes?|totals?|amount",
    "top": r"top|most|main|major|common\w*|frequent\w*|biggest|largest|leading|which|rank\w*|breakdown|distribut\w*|"
    r"split|per|by|each",
    "why": r"why|reasons?|causes?|complain\w*|says?|saying|mention\w*|tell|examples?|quotes?|show|describe|what about|"
    r"happen\w*|wrong|problems? with|issues? with",
    "overview": r"summar\w*|overview|overall|in general|what do (?:the|these|our) (?:tickets|customers|people)",
}  # fmt: skip
"""What can be wanted, and by which words it is told."""
WANT_PATTERNS = {want: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for want, words in WANTS.items()}
FIELD_WORDS: Mapping[str, str] = {
    "department": r"departments?|teams?|queues?|groups?|units?",
    "product": r"products?",
    "category": r"categor\w+|types?|kinds?",
    "priority": r"priorit\w+|urgen\w+|severit\w+",
    "status": r"status\w*|states?",
    "weekday": r"weekdays?|days? of the week|which days?|what days?",
    "hour": r"hours? of the day|time of day|which hours?|what hours?|what time",
    "week": r"weeks?|weekly",
    "month": r"months?|monthly",
    "day": r"days?|daily",
    "theme": r"themes?|topics?|clusters?|subjects?|issues?|problems?|complain\w*|pain points?",
    "customer": r"customers?|users?|clients?",
}
FIELD_PATTERNS = {
    field: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for field, words in FIELD_WORDS.items()
}
ELSEWHERE: Mapping[str, str] = {
    "how satisfied customers are": r"satisf\w*|csat|nps|happ(?:y|iness|ier)|ratings?|stars",
    "money": r"revenue|costs?|profit\w*|money|expens\w+|savings?|budget\w*|salar\w+",
    "when somebody first answered": r"first (?:response|reply|answer)",
    "who worked on them": r"agents?|employees?|staff|colleagues?|workers?|who (?:solved|resolved|answered|handled)",
    "where customers live or who they are": r"countr\w+|cit(?:y|ies)|regions?|languages?|gender|ages?|demograph\w*",
    "who left": r"churn\w*|cancelled their (?:account|contract)s?|retention",
}
"""What tickets do not say, unless a column of the file does."""
ELSEWHERE_PATTERNS = {
    what: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for what, words in ELSEWHERE.items()
}
_TALK = (
    "ticket tickets message messages request requests case cases data dataset datasets file customer customers "
    "people user users give tell show find list explain describe me please number amount there related concerning "
    "regarding mention mentioned mentions contain containing contains said written write writes contact contacting "
    "come came coming month week day year half first second last time times average median mean typical usually "
    "currently recently lately really actually one two three four five ten things thing something anything kind "
    "sort lot want wants need know think seem seems see compared received receive receives happening take takes taken "
    "longest shortest gone up down more less often use have having deal handle"
)
SMALL_TALK = frozenset(stem(word) for word in _TALK.split())
"""Words that every question about tickets may hold, and that say nothing of what it is about."""
NUMBER = re.compile(r"\btop\s+(\d{1,2})\b|\b(\d{1,2})\s+(?:most|biggest|largest|main|top)\b", re.IGNORECASE)
