"""Column names of the exports of ServiceNow, Zendesk, Zammad and Chatwoot, and of plain files.

For each field the names are listed from the one that means it most surely. Names are compared without case and signs,
so `Created At`, `created_at` and `createdAt` are one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from tallystick.text.folding import fold_case, without_accents

FIELDS = (
    "text",
    "summary",
    "external_id",
    "created_at",
    "department",
    "product",
    "category",
    "priority",
    "status",
    "customer",
    "resolution",
    "resolved_at",
    "reassignments",
)
"""What a ticket has, in the order in which columns are given away."""

_NAMES: Mapping[str, str] = {
    "text": (
        "text body description article_body articles_body messages_content comments_body message content "
        "first_message initial_message customer_message ticket_description issue_description full_description "
        "first_comment comment utterance question query complaint consumer_complaint_narrative narrative problem "
        "problem_description details request instruction beschreibung nachricht anfrage mensaje descripcion texto"
    ),
    "summary": (
        "short_description subject summary title headline ticket_subject betreff titel kurzbeschreibung asunto objet"
    ),
    "external_id": (
        "ticket_number incident_number case_number ticket_id number conversation_id display_id issue_key key id "
        "ticket_no case_no incident_no issue_no case_id case incident_id issue_id ticket sys_id reference "
        "ticketnummer nummer uuid"
    ),
    "created_at": (
        "created_at opened_at sys_created_on created opened created_on opened_on created_date creation_date "
        "date_created create_date create_time created_time creation_time open_date date_opened submitted_at "
        "submitted_on reported_at reported_on date_received received_at date timestamp datetime time erstellt_am "
        "erstellt datum date_of_purchase"
    ),
    "department": (
        "department assignment_group group group_name team team_name support_group assigned_group queue queue_name "
        "inbox inbox_name meta_team_name dept division business_unit abteilung gruppe departamento"
    ),
    "product": (
        "product product_name product_purchased cmdb_ci business_service service affected_service service_offering "
        "configuration_item application component app product_line brand brand_name produkt producto"
    ),
    "category": (
        "category intent label class issue_category issue_type ticket_type request_type type contact_reason topic "
        "subcategory sub_category labels tags kategorie categoria"
    ),
    "priority": "priority ticket_priority urgency severity impact prioritat prioritaet prioridad",
    "status": "status state incident_state ticket_status ticket_state stage zustand estado",
    "customer": (
        "customer_id requester_id caller_id contact_id user_id client_id account_id customer_email requester_email "
        "contact_email caller_email user_email email email_address meta_sender_email sender_email from customer "
        "requester caller contact opened_for reported_by client account sender end_user user customer_name "
        "requester_name contact_name caller_name meta_sender_name kunde kundennummer cliente"
    ),
    "resolution": (
        "close_notes resolution_notes resolution resolution_comment solution resolution_code close_code answer "
        "response reply losung loesung"
    ),
    "resolved_at": (
        "resolved_at solved_at closed_at close_at last_close_at resolved_on closed_on solved_on resolution_date "
        "resolved_date closed_date date_resolved date_closed resolution_time_stamp completed_at gelost_am "
        "geschlossen_am resolved closed solved"
    ),
    "reassignments": (
        "reassignment_count reassignments number_of_reassignments assignee_stations group_stations handoffs "
        "transfer_count"
    ),
}
HEADERS: Mapping[str, tuple[str, ...]] = {field: tuple(names.split()) for field, names in _NAMES.items()}
"""Field → the names that exports give it."""
_RANKED = {field: {name: rank for rank, name in enumerate(names.split())} for field, names in _NAMES.items()}
_PREFIXES = ("ticket_", "incident_", "case_", "issue_", "conversation_", "fields_", "task_", "result_")
_KIND = re.compile(r"\s*\[(?:list|txt|int|num|dec|date|flag|checkbox|multi|text|number)\]$", re.IGNORECASE)
"""What Zendesk writes behind the name of a custom field."""
_CUSTOM = re.compile(r"^(?:u_|custom_field_)+(?=.)")
"""How ServiceNow and Jira mark a custom field."""
_SUFFIXES = ("_display_value", "_name", "_value")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PEOPLE = _words(
    "customer requester caller contact user client account sender submitter assignee agent owner reporter recipient "
    "employee patient member subscriber person end_user"
)
_OF_PEOPLE = _words("id name number no nr login username first_name last_name full_name ids names")
_PERSONAL = _words(
    "name first_name last_name full_name firstname lastname fullname surname given_name family_name nickname username "
    "user_name login assigned_to opened_by closed_by resolved_by created_by updated_by sys_created_by sys_updated_by "
    "reported_by opened_for on_behalf_of from to cc bcc signature street postcode zip zip_code postal_code "
    "date_of_birth dob birthday birthdate ssn social_security_number passport passport_number national_id tax_id iban "
    "card card_number credit_card account_number ip kunde kundenname kundennummer vorname nachname"
)
_PERSONAL_ENDS = _words("email mail phone mobile telephone tel fax address whatsapp iban")


@lru_cache(maxsize=8_192)
def plain(name: str) -> str:
    """A column's name without case, accents and signs."""
    name = _KIND.sub("", name[:200])
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return _CUSTOM.sub("", "_".join(re.findall(r"[^\W_]+", fold_case(without_accents(apart)))))


def known_columns(names: Sequence[str]) -> dict[str, int]:
    """Field → place of the column that means it; each column means one field at most."""
    return _give(names, FIELDS, set())


def fill_in(names: Sequence[str], given: Mapping[str, int], unwanted: Iterable[str]) -> dict[str, int]:
    """What was given, and for all other fields what the names say."""
    open_fields = [field for field in FIELDS if field not in given and field not in set(unwanted)]
    return {**given, **_give(names, open_fields, set(given.values()))}


def is_personal(name: str) -> bool:
    """Whether a column holds names or ids of people, so that each whole value is personal."""
    said = plain(name)
    first, _, rest = said.partition("_")
    last = said.rpartition("_")[2]
    return (
        said in _PERSONAL
        or said in _PEOPLE
        or last in _PERSONAL_ENDS
        or (first in _PEOPLE and rest in _OF_PEOPLE)
        or said in _RANKED["customer"]
    )


def _give(names: Sequence[str], fields: Iterable[str], taken: set[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    taken = set(taken)
    for field in fields:
        ranked = [(rank, place) for place, name in enumerate(names) if (rank := _rank(field, name)) is not None]
        free = [place for _, place in sorted(ranked) if place not in taken]
        if free:
            found[field] = free[0]
            taken.add(free[0])
    if "text" not in found and "summary" in found and "text" in set(fields):
        # A file of subjects alone: they are what customers wrote.
        found["text"] = found.pop("summary")
    return found


@lru_cache(maxsize=16_384)
def _rank(field: str, name: str) -> int | None:
    said = plain(name)
    ranks = _RANKED[field]
    if said in ranks:
        return ranks[said]
    for prefix in _PREFIXES:
        if (inner := said.removeprefix(prefix)) != said and inner in ranks:
            return ranks[inner] + 100
    for suffix in _SUFFIXES:
        if (inner := said.removesuffix(suffix)) != said and inner in ranks and field != "external_id":
            return ranks[inner] + 100
    return None
