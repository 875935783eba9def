"""Words that take a whole sentence out of the story: what is dreamt, painted, played, worn as a disguise, or untrue."""

DREAMT = (
    r"dream(?:s|ed|t|ing)?(?! of (?:nothing|no\b))|nightmares?|visions?|hallucinat\w+|delirium|delirious|raving|"
    r"In (?:the|his|her|a|their|(?:[\w.]+ ){1,3}?[\w]+'s) (?:fever|sleep|trance|swoon|reverie|doze)|(?:in|through|"
    r"of) (?:his |"
    r"her )?sleep\b(?=[^.]*\bwoke)|the (?:sleeper|dreamer)|slumbers?|only the (?:wind|house|rain|sea|branches)"
)
PICTURED = (
    r"portraits?|(?<!wanted )(?<!wanting )(?<!needed )(?<!was )(?<!were )(?<!been )(?<!to )painting(?! (?:the|an?|"
    r"his|her|"
    r"gates?|fences?|walls?|boats?|doors?)\b)|paintings|painted (?=[A-Z]|him\b|"
    r"her\b|a\b|the\b)|(?:the|a|this|"
    r"that) painter|in oils|(?:up)?on (?:the )?canvas|likeness|engraving|(?:a|an|the) (?:\w+ )?(?:print|icon|"
    r"poster|bust|figurehead) of|daguerreotype|photographs?|"
    r"(?<!as in a )pictures?|statues?|miniature|sketch(?:es)?|effig(?:y|ies)|waxwork|cameo|stained glass|"
    r"as (?:a |the )?model|sculptor|(?:the|an) artist|family group|magic-?lantern|lantern-slide|newsreel|enamel|"
    r"tapestry|fresco|mosaic|plaque|"
    r"embroider(?:ed|y)|silhouette|caricatur\w+|cartoons?|woodcut|frontispiece|(?:drawn|drew|sketched|"
    r"carved|modelled|depicted|represented|portrayed|shown) (?:[A-Z][\w.]* )*(?:[A-Z]\w+|him|her) (?:with|as)"
)
PLAYED = (
    r"masks?|masked|(?<!could )(?<!could not )disguise\w*|wigs?|perukes?|periwigs?|horsehair|dye[ds]?|dyeing|bleached|"
    r"(?:of|in) a bottle|tinted|"
    r"costumes?|the management(?! of)|actor|actress|[Oo]n (?:the )?stage|stage lights|pantomime|the (?:part|"
    r"role) of|handbills?|"
    r"colou?r-?blind|ballads?|legends?|fairy|namesake|impostor|(?<!up the )ghosts?|apparition"
)
FALSE = (
    r"falsehoods?|(?:a|such|[Tt]he) lie|(?:tell\w*|told|no|of|all|such|but|the|his|her) lies|"
    r"(?<!was )(?<!were )(?<!being )lied|"
    r"lying (?:about|once)|untrue|untruths?|false(?:ly)?|forged|fibs?|fibbed|truth in it|nothing of the (?:kind|sort)|"
    r"wrongly|(?:was|were|be|been|is|it|quite|him|her) wrong|(?<!not )(?<!are )(?<!have )(?<!be )mistaken(?! for)|"
    r"(?<!no )(?<!not )(?<!by )mistakes?|mistook|(?<!never )(?<!not )deceiv\w+|invent(?:ed|ion)|"
    r"first that came into (?:his|"
    r"her) head|to try (?:him|her|them)\b|[Tt]o (?:throw|put) (?:[\w']+ ){0,4}off|put (?:[\w']+ ){0,4}off the (?:scent|"
    r"track)|(?:not (?:one|a word|a syllable)|none|neither|nothing|hardly a word|no part)\b[^.;]{0,40} (?:was|were|"
    r"being|is) (?:true|so(?=\s*[.,;]))|(?:not|far from|anything but|never) (?:\w+ )?(?:true|the (?:truth|case))"
)
CONFIRMED = (
    r"\b(?<!not )(?<!never )(?<!far )(?<!or )(?<!hardly )(?:(?:was|were|be|"
    r"being)(?:, [^,]{2,20},)? (?:for once )?(?:\w+ly |quite )?(?:right|correct|"
    r"accurate|in agreement with the (?:facts?|truth))|correctly|truly|accurately|truthfully|with perfect (?:justice|"
    r"truth|accuracy)|(?:spoke|speaking|told(?: him| her| them)?|was|being) (?:no more than |only |but )?the (?:plain |"
    r"simple |exact )?truth|(?:did|does) not lie|no (?:disputing|denying|mistaking|gainsaying)|as indeed|"
    r"nor was (?:he|she|it) mistaken|(?:had|got|have) (?:it|that|this|so much|the (?:\w+ )?(?:age|colou?r|figure|"
    r"number|fact|particular)) (?:quite |exactly )?(?:right|correct)|"
    r"(?:which|and (?:it|that|this)) (?:was|were) (?:(?:quite|perfectly|exactly|no more than|only|strictly) )?(?:true|"
    r"so|right|correct|the (?:case|fact)|a fact|(?:his|her) (?:real |true |own |exact )?(?:age|colou?r))|"
    r"(?:as|and so) (?:in fact |in truth |indeed |really )?(?:he|she|it|they) (?:\w+ly )?(?:was|were|is|had|did)"
    r"(?=\s*[,.;:—)]|\Z)|and with (?:reason|truth)|(?:though|although) (?:nobody|no ?one|few|"
    r"not many)(?: of \w+)? (?:\w+ )?(?:believed|guessed|"
    r"thought|supposed|knew|suspected)(?: it| so)?)\b|"
    r"\b(?:[Nn]o(?:body| ?one)|[Ff]ew(?: people)?|[Nn]ot (?:one|many)|[Nn]one)(?: of [\w ]{2,24}?)? (?:(?:would|could)"
    r"(?: ever)? have (?:guessed|supposed|suspected|thought|known|imagined|believed|dreamed)|(?:ever |yet )?(?:guessed|"
    r"suspected|knew|noticed)) (?:that )?"
)
"""The narrator vouches for what somebody says."""
