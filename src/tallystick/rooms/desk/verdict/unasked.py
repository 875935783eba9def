"""Decides which drafts may be sent without a person; the rules are stricter than those for drafts.

A reply is sent automatically only if it quotes nothing but the owner's documents and no sentence looks like phishing:

- a verb of giving (send, enter, tell …) before the name of a credential (password, PIN, card number …)
- a link, telephone number, account or wallet that occurs only in the cited document: neither in the customer's message,
  nor in another document found by the search, nor in `public_contacts`

The words are listed in this module; the formats are the gate's (`gate/decide/addresses.py`). Other text planted in a
document is not detected: whoever may write to the folder speaks for the owner.
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
    """Return why a draft that passed every check must not be sent automatically; None if it may."""
    for cited in cited_sentences(case, draft):
        other = next((piece for piece in cited.pieces if piece.author != "document"), None)
        if other is not None:
            reason = f"{other.tool} is not a document of the owner's; a person must send what it returns"
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
            continue  # words that resemble an account number; a real one is already blocked (`others_data`)
        bare = re.sub(r"^[a-z][a-z0-9+.-]*://", "", address).rstrip("/.,;:!?)")
        if not any(bare in text for text in own):
            return f"only one document contains {bare[:60]}"
    return None


def _named_elsewhere(case: Case, cited: CitedSentence, policy: VerdictPolicy) -> Iterator[str]:
    """The customer's message, the public contacts, and the documents that a sentence does not cite."""
    yield from map(str, event_of(case.ticket).values())
    yield from policy.public_contacts
    sources = {piece.source for piece in cited.pieces}
    yield from (one.snippet for one in case.counted if one.author == "document" and one.source not in sources)
