"""The words that rules look for: numbers, titles, given names, words for people, body and colour."""

import re


def words(text: str) -> tuple[str, ...]:
    """The words of a list."""
    return tuple(text.split())


ONES = words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINAL_ONES = words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
)
_ORDINAL_TENS = words("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth")
_PLAIN = {word: value for value, word in enumerate(ONES, 1)} | {word: 10 * value for value, word in enumerate(TENS, 2)}
_ORDINAL = {word: value for value, word in enumerate(_ORDINAL_ONES, 1)} | {
    word: 10 * value for value, word in enumerate(_ORDINAL_TENS, 2)
}
_ones, _tens = "|".join(ONES), "|".join(TENS)
NUMBER = (
    rf"(?:(?:{_tens})[- ](?:{'|'.join(ONES[:9])})|(?:{'|'.join(ONES[:9])})[- ]and[- ](?:{_tens})|(?:{_tens})|"
    rf"(?:{_ones})|"
    r"a hundred|[0-9]{1,3})"
)
"""A whole number in words or figures."""
ORDINAL = (
    rf"(?:(?:{_tens})[- ](?:{'|'.join(_ORDINAL_ONES[:9])})|{'|'.join(_ORDINAL_TENS)}|{'|'.join(_ORDINAL_ONES)}|"
    r"[0-9]{1,3}(?:st|nd|rd|th))"
)

COUNTED = frozenset({*ONES[1:], *TENS, "hundred", "#"})
"""Words that a number above one can be written with, as `Prose.with_words` takes them."""
COUNTED_OFF = frozenset({*_ORDINAL_ONES, *_ORDINAL_TENS, "#"})


def number_of(text: str) -> int | None:
    """The number that words or figures stand for."""
    plain = text.lower().replace("-", " ").strip()
    if plain.isascii() and plain.isdigit():
        return int(plain)
    if plain == "a hundred":
        return 100
    total = 0
    for word in plain.replace(" and ", " ").split():
        value = _PLAIN.get(word)
        if value is None:
            return None
        total += value
    return total or None


def ordinal_of(text: str) -> int | None:
    """`21st`, `twenty-first` → 21."""
    plain = text.lower().replace("-", " ").strip()
    if found := re.fullmatch(r"([0-9]{1,3})(?:st|nd|rd|th)?", plain):
        return int(found.group(1))
    *tens, last = plain.split()
    value = _ORDINAL.get(last)
    return None if value is None else value + sum(_PLAIN.get(word, 0) for word in tens)


MALE_TITLES = frozenset(
    words(
        "mr sir lord master monsieur m king prince count duke baron uncle father brother don herr signor senor squire "
        "earl marquis emperor abbe"
    )
)
FEMALE_TITLES = frozenset(
    words(
        "mrs miss ms lady madame madam mme mademoiselle mlle queen princess countess duchess baroness aunt sister "
        "mother donna frau signora empress dame"
    )
)
OTHER_TITLES = frozenset(
    words(
        "dr doctor captain capt colonel col major general gen professor prof inspector sergeant sgt lieutenant lieut "
        "lt rev reverend judge commander admiral corporal constable detective agent officer justice bishop cardinal "
        "nurse"
    )
)
TITLES = MALE_TITLES | FEMALE_TITLES | OTHER_TITLES

MALE_NAMES = frozenset(
    words("""
    adam adrian alan albert alec alex alexander alfred allan ambrose andrew anthony archibald arthur august ben benjamin
    bernard bertram bill bob charles charlie christopher clarence claude clement cyril dan daniel david dennis dick
    donald douglas duncan edgar edmund edward edwin eric ernest eugene evan felix ferdinand francis frank fred frederick
    geoffrey george gerald gilbert giles godfrey gregory guy harold harry henry herbert hector horace hubert hugh hugo
    humphrey ian isaac jack jacob james jasper jeremy jerome jim joe john jon jonathan joseph joshua julian justin karl
    kenneth laurence lawrence leo leonard leopold lewis lionel louis luke malcolm mark martin matthew maurice max
    michael miles mortimer nathaniel ned neil nicholas nick noel norman oliver oscar owen patrick paul percy peter
    philip phillip piers quentin ralph randolph raymond reginald richard rob robert robin roderick roger roland ronald
    rufus rupert samuel sam sebastian sidney sydney silas simon stanley stephen steven theodore thomas timothy toby tom
    tomas victor vincent walter wilfred will william tobias emil anton viktor ivan boris allen alvin amos angus austin
    barry basil brian bruce byron carl cecil chester clifford colin conrad craig cuthbert darren dean derek dexter
    dominic dorian dylan earl elliot elmer elvin emmett ethan finn floyd gabriel gareth garth gavin glen graham grant
    hal hans harvey heathcliff hiram howard ivor jason jeff jeffrey jerry jesse joel josiah jude keith kevin kurt lance
    larry lars leon leroy lloyd logan luther lyle magnus marcus marvin melvin merlin micah milo morgan morris murray
    nathan nelson nigel noah omar orson otto perry phil preston quincy ramon randal reuben rex rodney ross rowan roy
    russell ryan saul scott sean seth shane shaun sheldon terence tony travis trevor tristan tyler vernon wallace warren
    wayne wesley willard willie winston zachary mikhail nikolai pavel sergei dmitri jan jens karel klaus lukas matthias
    marek stefan
    """)
)
FEMALE_NAMES = frozenset(
    words("""
    ada adela adele adelaide agatha agnes alice alison amanda amelia amy anastasia angela ann anna annabel anne annie
    arabella audrey barbara beatrice bella bertha bess bessie betsy betty blanche bridget camilla caroline catharine
    catherine cecilia cecily celia charlotte christine clara clarissa constance cora cordelia daisy deborah diana dora
    doris dorothea dorothy edith eleanor elena eliza elizabeth ella ellen elsie emily emma esther ethel eva eve eveline
    evelyn fanny felicity flora florence frances georgiana geraldine gertrude grace greta gwendolen hannah harriet helen
    helena henrietta hester hilda ida irene isabel isabella ivy jane janet jean jenny jessica jessie joan joanna
    josephine judith julia juliet justine karen kate katherine kathleen kitty laura lavinia leah lena letitia lily
    lizzie lizzy louisa louise lucinda lucy lydia mabel madeline maggie mara margaret maria marian marianne marie marion
    martha mary matilda maud may mildred millicent minnie miranda molly monica muriel nancy nell nelly nora olive olivia
    pamela patience patricia paula penelope phoebe polly priscilla prudence rachel rebecca rosa rosalind rose rosamond
    rosemary ruth sally sarah selina sibyl sophia sophie stella susan susannah sylvia teresa theresa ursula valerie vera
    victoria viola violet virginia vivian winifred ilse ingrid sofia nina anya alexandra alma althea anita antonia april
    ariel astrid aurora ava becky bernice beth betsey beverly bonnie brenda carla carmen carol carrie cassandra cathy
    charity cheryl chloe cindy claire claudia colleen connie corinne crystal cynthia dana daphne dawn delia delilah
    denise dolores donna eileen elaine elinor ellie eloise elsa elspeth enid erica erin ernestine esme estelle eugenia
    eunice faith fay fiona francesca freda frieda gail gemma gina ginger gladys glenda gloria gretchen gwen hattie hazel
    heather heidi hettie hope imogen ines inez iris isolde jackie jacqueline jan janice jill jodie joy joyce judy june
    karin kay kelly kim kirsten kristin lana lara laurel lauren leila leonora leslie linda lisa lois lola lorna lorraine
    lottie lorelei lulu mae magda maisie mamie marcia margery margot marianna marilla marina marjorie marlene marta
    maureen mavis maxine melanie melissa mercy meredith mia millie mimi mina minna mollie mona moira myra myrtle nadia
    naomi natalie nellie nettie nicola norah norma odette olga pansy paulina pearl peggy philippa phyllis portia ramona
    regina rhoda rita roberta roxana roxanne ruby sabina sabrina sandra sasha selma serena shirley sigrid sonia stacy
    susanna suzanne sybil tabitha tamara tess tessa thea thelma tilda tina trudy una vanessa verity veronica wanda wendy
    wilma yvette yvonne zelda zoe
    """)
)

MEN = words(
    "man boy gentleman father brother son husband uncle nephew grandfather king lord fellow lad groom waiter butler "
    "priest monk grandson stepfather widower bridegroom sailor footman baronet sire"
)
WOMEN = words(
    "woman girl lady mother sister daughter wife aunt niece grandmother queen maid governess nurse nun widow bride "
    "stepmother granddaughter lass housekeeper mistress heroine actress"
)
ANYONE = words(
    "child stranger servant friend cousin doctor captain officer colonel person creature baby infant visitor guest "
    "soldier clerk lawyer physician surgeon teacher student companion figure passenger driver guard prisoner speaker "
    "neighbour neighbor master host twin sibling kinsman kinswoman orphan beggar pedlar tramp namesake"
)
TRADES = words(
    "curate vicar parson rector bishop sergeant constable inspector policeman landlady landlord innkeeper cook barber "
    "coachman cabman carter carrier groom porter ostler postman farmer miller baker butcher saddler tailor cobbler "
    "smith blacksmith gardener sexton verger midwife magistrate judge juryman witness coroner bailiff agent painter "
    "artist sculptor photographer editor printer schoolmaster schoolmistress tutor pupil scholar sister-in-law "
    "brother-in-law duke duchess earl count countess baron prince princess admiral general major lieutenant corporal "
    "mate pilot fisherman shepherd ploughman labourer workman shopman grocer draper chemist apothecary banker "
    "merchant dealer pedlar gipsy gypsy thief burglar robber murderer suspect messenger errand-boy newsboy "
    "parlourmaid housemaid chambermaid maidservant barmaid barman publican waitress dressmaker seamstress milliner "
    "laundress washerwoman drunkard swindler lodger tenant employer partner colleague schoolfellow comrade rival enemy "
    "lover suitor sweetheart fiance fiancee traveller rider horseman warder gaoler jailer sentry sentinel pirate "
    "biographer poet player dancer singer rajah sultan villager townsman countryman foreigner newcomer intruder "
    "drover dentist organist sweep tinker waggoner hawker fiddler preacher minister deacon warden steward beadle usher "
    "secretary broker brewer weaver mason carpenter plumber glazier cooper chandler jeweller bookseller librarian "
    "musician engineer gunner skipper purser guide courier surveyor marquis marchioness viscount viscountess abbess "
    "abbot prioress prior friar hermit pilgrim chaplain sacristan headsman executioner harper minstrel drummer "
    "trumpeter boatswain helmsman stowaway conductor postilion smuggler poacher notary attorney solicitor barrister "
    "undertaker gravedigger heir heiress hostess valet scullion lecturer alderman mayor councillor ambassador envoy "
    "consul governor spy traitor rebel deserter recruit veteran ensign cadet trooper hussar dragoon marine seaman "
    "boatman ferryman bargeman waterman stoker glover hatter clockmaker watchmaker oculist midshipman auctioneer "
    "pawnbroker usurer squire knight"
)
KIN = frozenset(
    words("""
    mother father brother sister son daughter husband wife uncle aunt cousin nephew niece grandfather grandmother
    grandson granddaughter stepmother stepfather twin widow widower fiance fiancee
    """)
)
NOT_NAMES = frozenset(
    words("""
    i a an and the but or nor so yet if ever when while then there here this that
    these those it he she they we you his her
    its their our my your what which who whom whose why how where not no yes oh ah alas well now once as at by for from
    in into of off on onto out over to under up upon with without within after before until till since because though
    although unless whether both either neither each every all any some many much more most few several such only even
    just still again also too very never always often sometimes perhaps maybe indeed however therefore thus hence
    meanwhile moreover nevertheless god heaven heavens lord lords sir sirs madam ma'am miss mister mr mrs dr st chapter
    book part volume letter monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december christmas easter michaelmas whitsuntide whitsun lammas
    martinmas candlemas advent lent shrovetide yuletide hallowmas midsummer bible english french german italian spanish
    russian american british irish scottish scotch welsh dutch greek roman latin christian jew jewish turk turkish
    indian chinese european african north south east west northern southern eastern western street road lane square
    avenue river mount lake sea ocean bay cape isle island islands hall house park court castle abbey church hotel inn
    tavern bridge station college university hospital company society street-door majesty highness excellency honour
    grace lordship ladyship papa mamma mama dad mum nobody somebody everybody anybody nothing something everything
    anything one two three four five six seven eight nine ten first second third last next another other others good
    great dear poor old young little big project gutenberg did do does had has have was were is are be been would could
    should will shall can might must let come go see look tell say said thank thanks please hush hark behold gentlemen
    ladies gentleman lady captain colonel doctor professor father mother brother sister uncle aunt king queen prince
    princess like unlike among amid beneath behind beside beyond despite during except inside near opposite outside past
    through throughout toward towards underneath born being having living nature everyone someone anyone none hardly
    scarcely nowhere somewhere everywhere anywhere today tomorrow yesterday tonight whoever whatever whichever whenever
    wherever
    """)
)
"""Words that are written with a capital and name nobody."""
OPENERS = frozenset(
    words("""
    someone anyone everyone sorrow snow rain wind tall pale small short stout thin lean tears smoke dust mud frost fog
    mist sunlight time moonlight firelight lamplight candlelight daylight morning evening night dawn dusk noon winter
    summer autumn spring nature heaven fate fortune providence life death age youth grief joy fear anger hope love
    pity shame pride custom business money bread tea wine water fire blood silence darkness light people men women
    children strangers visitors neighbours servants friends brothers sisters parents ladies boys girls half thirty
    forty fifty sixty seventy twenty broad slender spare plump neat clean handsome pretty plain fair dark brown black
    red grey green blue golden white tired wet cold warm hot hatless barefoot breathless silent quiet calm cheerful
    upright bent stooping freckled bald hair eyes hands curls locks sunshine salt soap ink straw grass leaves flowers
    scissors weather legend gossip rumour report tradition history experience habit imagine picture suppose fancy
    conceive figure clad dressed wrapped seated perched propped born bred lost found seen known asked told called
    named
    """)
)
"""Words that often open a sentence; unless the book writes one with a capital elsewhere too, it names nobody."""
