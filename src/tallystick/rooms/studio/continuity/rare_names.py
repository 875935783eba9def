"""Rare given names: they say that somebody is a person, but a slip of the pen may look like one."""

import re

RARE_MEN = frozenset(
    re.findall(
        r"\w+",
        """
    aaron abel abner abraham aidan alaric alastair aldous alistair aloysius alphonse anselm archie armand arnold
    asa aubrey augustine augustus aurelius balthazar barnabas barnaby bartholomew bartram benedict bennett bevis
    blaise brendan caleb calvin caspar cedric claudius connor cornelius cosmo crispin cyrus damian darius
    desmond diggory dunstan ebenezer eldred eli elias elijah enoch ephraim erasmus esau eustace everard ezekiel
    ezra fabian fergus fitzroy gervase gideon griffith guido gustav hamish hercules hezekiah horatio ichabod
    ignatius inigo isaiah ishmael jabez jago jared jedediah jeremiah jethro jonah jonas laertes lambert lazarus
    leander lemuel leofric linus lorenzo lucas lucian lucius ludovic manfred mathias maximilian montague
    mordecai moses nicodemus obadiah octavius odysseus orlando osbert osric oswald peregrine phineas quintus
    raphael roderic rollo septimus sigmund solomon stephan swithin sylvester thaddeus theobald theodoric
    theophilus thurstan tiberius titus tobit tybalt ulric uriah valentine walden wilbur wilhelm xavier zachariah
    zebedee
    """,
    )
)
RARE_WOMEN = frozenset(
    re.findall(
        r"\w+",
        """
    abigail adelina adeline agathe albertina aline amabel amaryllis amata amice anthea aphra araminta augusta
    aveline beatrix belinda berenice bettina bronwen calista candida charis christabel christiana christina
    clemency clementina clementine clotilde columbine coralie cressida damaris davina deirdre desdemona dinah
    dorcas drusilla dulcie edwina effie elfrida elise elvira emmeline ermengarde ernesta esmeralda ettie eudora
    eulalia euphemia evadne evangeline faustina fenella fidelia flavia frederica genevieve georgina gillian
    giselle griselda guinevere gwyneth hepzibah hermia hermione hetty honora honoria hortense hyacinth ianthe
    ione iphigenia isadora isobel jacintha jemima jessamy jocasta josepha julitta katrina kezia keziah lettice
    letty lilian lilias lilith lucasta lucia lucilla lucretia magdalen mahala marcella marguerite mariana
    maribel marigold mathilda mehitabel melisande mercia mirabel morwenna nerissa octavia oriel ottilie pauline
    perdita perpetua persis petra petronella philomena pippa primrose prunella rosalie rosaline rosamund rosanna
    rosina rowena salome seraphina sidonie silvia tamar tamsin theodora theodosia thomasina thora titania
    valeria venetia wilhelmina winnie zenobia zuleika
    """,
    )
)
