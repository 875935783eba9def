"""Words that take a whole sentence out of the story: what is dreamt, painted, played, worn as a disguise, or untrue."""

DREAMT = (
    r"dream(?:s|ed|t|ing)?(?! of (?:nothing|no\b))|nightmares?|visions?|hallucinat\w+|delirium|delirious|raving|"
    r"In (?:the|his|her|a|their|(?:[\w.]+ ){1,3}?[\w]+'s) (?:fever|sleep|trance|swoon|reverie|doze)|(?:in|through|"
    r"of) (?:his |"
    r"her )?sleep\b(?=[^.]*\bwoke)|the (?:sleeper|dreamer)|slumbers?|only the (?:wind|house|rain|sea|branches)"
)
PICTURED = (
    r"portraits?|(?<!wanted )(?<!wanting )(?<!needed )(?<!was )(?<!were )(?<!been )paintings?|painted (?=[A-Z]|him\b|"
    r"her\b|a\b|the\b)|(?:the|a|this|"
    r"that) painter|in oils|(?:up)?on (?:the )?canvas|likeness|engraving|daguerreotype|photographs?|"
    r"(?<!as in a )pictures?|statues?|miniature|sketch(?:es)?|effig(?:y|ies)|waxwork|cameo|stained glass|"
    r"as (?:a |the )?model|sculptor|(?:the|an) artist|family group|magic-?lantern|lantern-slide|newsreel|enamel|"
    r"tapestry|fresco|mosaic|plaque|"
    r"embroider(?:ed|y)|silhouette|caricatur\w+|cartoons?|woodcut|frontispiece|(?:drawn|drew|sketched|"
    r"carved|modelled|depicted|represented|portrayed|shown) (?:[A-Z][\w.]* )*(?:[A-Z]\w+|him|her) (?:with|as)"
)
PLAYED = (
    r"masks?|masked|(?<!could )(?<!could not )disguise\w*|wigs?|perukes?|periwigs?|horsehair|dye[ds]?|dyeing|bleached|"
    r"(?:of|in) a bottle|tinted|"
    r"costumes?|management|actor|actress|[Oo]n (?:the )?(?:stage|television|screen)|in the (?:first|second|third|"
    r"fourth|fifth|last) act|"
    r"[Ii]n (?:the|a|his|her|[A-Z]\w+'s) (?:\w+ )?(?:film|novel|opera|comedy|tragedy|farce|serial)|"
    r"played an? (?:\w+ )?[a-z]+ (?:born|who|with|of)|stage lights|pantomime|the (?:part|role) of|handbills?|"
    r"colou?r-?blind|ballads?|legends?|fairy|namesake|impostor|(?<!up the )ghosts?|apparition"
)
FALSE = (
    r"falsehoods?|(?:a|such|[Tt]he) lie|(?:tell\w*|told|no|of|all|such|but|the|his|her) lies|"
    r"(?<!was )(?<!were )(?<!being )lied|"
    r"lying (?:about|once)|untrue|untruths?|false(?:ly)?|forged|fibs?|fibbed|truth in it|nothing of the (?:kind|sort)|"
    r"wrongly|(?:was|were|be|been|is|it|quite|him|her) wrong|(?<!not )(?<!are )(?<!have )(?<!be )mistaken|"
    r"(?<!no )(?<!not )mistakes?|mistook|(?<!never )(?<!not )deceiv\w+|invent(?:ed|ion)|first that came into (?:his|"
    r"her) head|to try (?:him|her|them)\b|[Tt]o (?:throw|put) (?:[\w']+ ){0,4}off|put (?:[\w']+ ){0,4}off the (?:scent|"
    r"track)|(?:not (?:one|a word|a syllable)|none|neither|nothing|hardly a word|no part)\b[^.;]{0,40} (?:was|were|"
    r"being|is) (?:true|so(?=\s*[.,;]))|(?:not|far from|anything but|never) (?:\w+ )?(?:true|the (?:truth|case))"
)
CONFIRMED = (
    r"\b(?<!not )(?<!never )(?<!far )(?<!or )(?<!hardly )(?:(?:was|were|be|"
    r"being)(?:, [^,]{2,20},)? (?:for once )?(?:\w+ly |quite )?(?:right|correct|"
    r"accurate)|correctly|truly|accurately|truthfully|with perfect (?:justice|truth|accuracy)|(?:spoke|speaking|"
    r"told (?:him |her |them )?|was|being) (?:no more than |only |but )?the (?:plain |simple |exact )?truth|(?:did|"
    r"does) not lie|no (?:disputing|denying|mistaking|gainsaying)|as indeed|nor was (?:he|she|it) mistaken)\b|"
    r"\b(?:[Nn]o(?:body|"
    r" ?one)|[Ff]ew(?: people)?) (?:would|could)(?: ever)? have (?:guessed|supposed|suspected|thought|known|imagined|"
    r"believed|dreamed) (?:that )?"
)
"""The narrator vouches for what somebody says."""
