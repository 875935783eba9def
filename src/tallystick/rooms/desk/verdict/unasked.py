"""What may go to a customer without a person seeing it: less than what may be drafted.

A reply goes out by itself only if it quotes the owner's documents alone, and no sentence of it asks the customer for
something that a thief would ask for:

- a word for giving (send, enter, tell …) before the name of a credential (password, PIN, card number …)
- a link, a telephone number, an account or a wallet that one document alone names: neither the customer's message, nor
  another document that the search gave, nor `public_contacts` has it

The words are those of this page; the formats are the gate's (`gate/decide/addresses.py`). Text that was planted in a
document and asks for nothing of this kind is not seen: who may write to the folder speaks for the owner.
"""

import re
from collections.abc import Iterator

from tallystick.gate.decide.addresses import addresses_in
from tallystick.gate.decide.provenance_tracker import plain
from tallystick.rooms.desk.derivation import event_of
from tallystick.rooms.desk.model import Judgement
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.verdict.case import Case
from tallystick.rooms.desk.verdict.draft_rules import CitedSentence, cited_sentences

_GIVE = (
    r"send|email|e-mail|text|reply with|give|tell|share|provide|submit|state|confirm|verify|enter|type|fill in|"
    r"read out|senden|schicken|mailen|geben|nennen|mitteilen|eingeben|bestätigen|angeben"
)
_CREDENTIAL = (
    r"passwords?|passcodes?|passphrases?|pins?|pin codes?|cvv|cvc|security codes?|one-time (?:codes?|passwords?)|otp|"
    r"tans?|(?:verification|confirmation|login|sign-in) codes?|card numbers?|credit cards?|bank details|"
    r"log-?in (?:details|data)|seed phrases?|recovery (?:phrases?|codes?)|private keys?|"
    r"passwort|passwörter|kennwort|kennwörter|prüfnummer|kartennummer|kreditkartendaten|zugangsdaten|bankdaten"
)
_ASKS = re.compile(rf"\b(?:{_GIVE})\b.*\b(?:{_CREDENTIAL})\b")


def waits_for_person(case: Case, draft: str, policy: VerdictPolicy) -> Judgement | None:
    """Return why a draft that passed every check must not go out by itself; None: it may."""
    for cited in cited_sentences(case, draft):
        other = next((piece for piece in cited.pieces if piece.author != "document"), None)
        if other is not None:
            reason = f"{other.tool} is no document of the owner's; a person sends what it says"
            return Judgement(status="DEFER", rule_id="defer.no-document", reason=reason)
        asked = _risky(case, cited, policy)
        if asked is not None:
            return Judgement(status="DEFER", rule_id="defer.risky-request", reason=f"{asked}: {cited.sentence[:120]}")
    return None


def _risky(case: Case, cited: CitedSentence, policy: VerdictPolicy) -> str | None:
    sentence = plain(cited.sentence)
    if _ASKS.search(sentence):
        return "it asks for a credential"
    own = [plain(text) for text in _named_elsewhere(case, cited, policy)]
    for address in addresses_in(sentence):
        if " " in address and re.search("[a-z]", address):
            continue  # words that resemble an account number; a true one is blocked already (`others_data`)
        bare = re.sub(r"^[a-z][a-z0-9+.-]*://", "", address).rstrip("/.,;:!?)")
        if not any(bare in text for text in own):
            return f"only one document names {bare[:60]}"
    return None


def _named_elsewhere(case: Case, cited: CitedSentence, policy: VerdictPolicy) -> Iterator[str]:
    """The customer's words, the owner's public contacts, and other documents than those a sentence cites."""
    yield from map(str, event_of(case.ticket).values())
    yield from policy.public_contacts
    sources = {piece.source for piece in cited.pieces}
    yield from (one.snippet for one in case.counted if one.author == "document" and one.source not in sources)
