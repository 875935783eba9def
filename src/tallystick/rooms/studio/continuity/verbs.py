"""The verbs of deeds, of speech, and of what may be said of the dead as well."""

from tallystick.rooms.studio.continuity.vocabulary import words

SPEAKS = words("""
    said asked replied cried answered whispered shouted muttered murmured exclaimed remarked added responded
    repeated called declared observed interrupted inquired demanded growled snapped sighed laughed continued
    began protested agreed insisted suggested admitted announced explained stammered screamed roared retorted
    ejaculated returned told says asks replies answers whispers cries shouts mutters
""")
IRREGULAR = words("""
    came went sat stood rose ran took put held gave threw caught strode leapt sprang knelt swung bent shook led
    lit blew flung thrust spat spoke struck fought hit drew cut wrote kept saw made began broke bit bound chose
    clung crept dealt drank drove ate fed flew forgot hung heard hid laid leaned leant left met overtook paid
    rang read rode sang sent shot shrank shut slept slid slipped sought sold bought brought spread stole stuck
    swam swept swore taught tore told trod undid found spilt burnt beat overheard bade cast hurt knit bred clad
    fled forbade hewed lent rid slit spun strewed swelled upset wove lost understood woke wept withdrew wrung
    dug got let won said slung spent grew wore bore ground sped strove swept wound woke burst arose betook bestrode
    built slunk split strung undertook unwound outran overran overslept partook rebuilt repaid reread retold rewrote
    spelt spoilt stung withheld beheld awoke quit shone sawed undid mowed
""")
PRESENT_TENSE = words("""
    smiles nods shrugs laughs walks runs sits stands turns comes enters goes looks takes opens closes pours
    drinks rises tells says gives puts holds pulls pushes drops lifts lights reads writes eats waits leans
    reaches throws catches hands picks knocks calls stops steps leads follows climbs bends kneels sighs shakes
    points stares listens buys pays drives
""")
STATES = words("""
    died seemed appeared loved hated liked wanted needed believed owned lived belonged deserved preferred feared
    hoped trusted remained used buried killed murdered drowned named called aged proved meant happened existed
    resembled mattered dreamed expired perished passed ceased haunted reminded represented suffered interested
    concerned decided married looked supposed enjoyed admired despised respected possessed counted missed
    mourned hanged intended lacked earned worked served inherited founded shared favoured resided dwelt
""")
"""What can be said of the dead as well, or looks like something done and is not."""
