"""What takes a deed back: another of the name, a ghost, a letter, a time before, a mere if."""

import re

OTHER_ONE = re.compile(
    r"\b(?:young|younger|little|another|second|the new|(?:schooner|brig|ship|barque|sloop|cutter|yacht|steamer|boat|"
    r"barge|mare|filly|cow|engine),?|ghost of|spirit of|late|(?:also|likewise|too|same name),? (?:called|"
    r"named)|by the name of|of the name of)\s+\Z",
    re.IGNORECASE,
)
ANOTHER = re.compile(
    r"\s+the\s+(?:younger|elder|second|third|lesser)\b|,\s+(?:his|her|the)\s+(?:\w+\s+)?(?:son|nephew|grandson|cousin|"
    r"namesake)"
)
GHOSTLY = re.compile(
    r"\b(?:ghost\w*|(?<!good )(?<!high )(?<!low )(?<!excellent )(?<!great )(?<!best )(?<!better )(?<!poor )(?<!of )spir"
    r"its?|spectre|specter|apparition|phantom|vampire|un-?dead|undead|risen\s+(?:from|again)|resurrect\w*|revived?|"
    r"back to life|dead as (?:he|she) was|the (?:drug|spell|potion|enchantment) (?:took hold|let go|wore off)|"
    r"for an? (?:heartbeat|moment|second|instant|breath),? (?:the|an?|that|it)\b[^;]{2,40}? was (?=(?-i:[A-Z]))|"
    r"aloud,? (?:in|to) (?:the|an|his|her) empty|to the empty \w+|"
    r"reanimat\w*|from the dead|afterlife|heaven|medium|s[eé]ance|(?:by|of) (?:the|his|her) (?:last )?will|"
    r"(?:came|spoke|appeared) to (?:him|her|them|me|(?-i:[A-Z])\w+) in (?:his|her|their|my) sleep|"
    r"(?:named|christened|called) the (?:baby|child|boy|girl|puppy|dog|kitten|cat|calf|foal|boat|ship|infant|mare|"
    r"colt)|grave(?=\s*[.,;]|\s+(?:in|at|of|was|and|by|beside|under))|"
    r"family vault|tomb|coffin|bier|shroud|portraits?|in oils|on canvas|canvas|frame|framed|engraving|likeness|bust|"
    r"statue|daguerreotype|photographs?|picture|locket|mind's eye|under (?:the|a) sheet|old letters|bundle of|"
    r"in (?:\w+ )?ink|and (?:(?:he|she|they|I) )?(?:a?woke|wakened)|in (?:bronze|marble|stone|plaster)|"
    r"(?:letter|note|line|postscript|will|diary|verses|entry)s?\b[^;]{0,30}? in (?:(?-i:[A-Z])[\w.]* )*[\w']+(?:'s|s') "
    r"(?:own )?(?:hand|writing|handwriting)|what (?:(?-i:[A-Z])[\w.]* )+had (?:written|said|told|left)|"
    r"(?:said|wrote|complained|promised|begged|asked) in it|in (?:(?!with|and|to|at|for|by)[\w'-]+ ){1,7}?(?:letters?|"
    r"diary|"
    r"journal|will|note-?book|memoirs?|log|manuscript|verses|poems?|pages?)|in\s+(?:his|her|the|a|their)\s+(?:head|"
    r"ears|heart|minds?|thoughts|memory|imagination)|(?:before|till|until) (?:his|her|the) (?:death|"
    r"funeral|accident|murder|end)|before (?:he|she) (?:died|was)|last time|the late|(?<!at )once|always|used to|"
    r"namesake|feet first|in the (?:churchyard|graveyard)|seemed to|could (?:still|almost|nearly)|almost|"
    r"the way (?=(?-i:[A-Z])|he\b|she\b)|(?:was|been) the (?:summer|winter|spring|autumn|year|day|time|night|morning) |"
    r"whenever|"
    r"every (?:day|night|morning|evening|year|Sunday)|as (?:he|she) had|thought of (?!\w+ing|it\b|this\b|that\b|"
    r"them\b)|(?:spoke|talked|told) of (?=(?-i:[A-Z])|him\b|her\b|the (?:dead|late))|"
    r"(?:day|night|week|month|year|morning|evening|hour|summer|winter|spring)s?\s+(?:before|earlier|previous))\b",
    re.IGNORECASE,
)
EARLIER = re.compile(
    r"\b(?:would(?!\s+(?:not\b|(?:take|have|hear)\s+no))|had(?!\s+(?:(?:an?|no|his|her|the|some|another|two|three|"
    r"enough|better|to)\b|"
    r"toothache|headache|gout|lumbago|hiccups|words\b|[^;:]{2,50}?\sand\s+was\s+(?:now\s+)?\w+ing\b))|been)\b|'d\b"
)
"""Before the deed: what is told there lies further back. After it, it may be anything."""
WRITES = re.compile(
    r"\bwrote\b|\b(?:letters?|notes?|diary|journal|will|papers?|lines?|verses|memoirs?|scrap|page|postscript)\b[^;]*?"
    r"\b(?:in|by)\s+which\s+\Z"
)
ONLY_IF = re.compile(r"\W*(?:If|Unless|Suppos\w+|Should|Were|Had)\b[^¤]*\b(?:would|might|could)\b", re.DOTALL)
