"""Questions with known answers, made from documents by fixed rules; and questions that have no answer there.

Nothing is written by hand and nothing is chosen: every line of the documents that fits a rule gives a question, then
every n-th is taken. A question names the product it is about, as a customer would.

    label      "- Daily purchase limit: $10,000"        →  What is the daily purchase limit of the Purple Account?
    row        "| Standard term | 12 |"                 →  What is the standard term of BNPL Diamond?
    has a      "… has a daily ATM limit of $1,000"      →  What is the daily ATM limit of the Purple Account?
    how to     "## How to dispute a charge"             →  How do I dispute a charge with the Purple Account?
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import orjson

CATEGORIES = (
    "business_checking_accounts", "business_credit_cards", "business_savings_accounts", "buy_now_pay_later",
    "bank_accounts", "checking_accounts", "credit_cards", "customer_support", "everyone_pay",
    "personal_subscriptions", "savings_accounts",
)  # fmt: skip
_LABEL = re.compile(r"[-*] (?:\*\*)?([A-Z][^:|*]{6,60}?)(?:\*\*)?:(?:\*\*)? +(.{1,80})\Z")
_ROW = re.compile(r"\| *([A-Z][^|]{6,60}?) *\| *([^|]{1,60}?) *\|\Z")
_HAS = re.compile(
    r"\b(?:has|have|with|carries|offers) an? ([a-z][^.,;:$%0-9()]{6,60}?) of (?:up to )?(\$?[0-9][0-9,.]*%?)(?![0-9%])"
)
_HOW = re.compile(r"#{2,4} How to ([a-z][^()?:]{6,60})\Z")
_FIGURE = re.compile(r"\$?[0-9][0-9,]*(?:\.[0-9]+)?%?")
_VAGUE = re.compile(
    r"\b(?:example|note|tip|step|code|case|phase|day|if|when|may|and/or|e\.g)\b|[→/<>\"“”]", re.IGNORECASE
)


@dataclass(frozen=True)
class Bank:
    """One document of the suite, as Markdown."""

    doc: str
    product: str | None
    """None: about no single product."""
    text: str


@dataclass(frozen=True)
class Question:
    text: str
    rule: str
    docs: frozenset[str]
    """Where the answer stands; empty: nowhere."""
    value: str | None = None
    """What a right answer says."""
    product: str | None = None


def bank_documents(data: Path) -> list[Bank]:
    folder = data / "tau2" / "shared" / "banking_knowledge" / "documents"
    found = []
    for path in sorted(folder.glob("*.json")):
        one = orjson.loads(path.read_bytes())
        text = f"# {one['title']}\n\n{one['content'].strip()}\n"
        found.append(Bank(doc=f"{one['id']}.md", product=product_of(one["id"]), text=text))
    return found


def product_of(doc_id: str) -> str | None:
    name = re.sub(r"_\d+\Z", "", doc_id.removeprefix("doc_"))
    category = next((each for each in CATEGORIES if name.startswith(f"{each}_")), "")
    name = name.removeprefix(f"{category}_")
    # General pages, and a product's namesake in another category, name no single product.
    if "(" in name or name == category or not name:
        return None
    return " ".join(word.upper() if word == "bnpl" else word.capitalize() for word in name.split("_"))


def asked_of_bank(documents: list[Bank]) -> list[Question]:
    """Every question the rules give; one that several documents of a product answer alike counts for all of them."""
    given: dict[tuple[str, str], dict[str, set[str]]] = {}
    for document in documents:
        if document.product is not None:
            for rule, text, value in _lines(document):
                answers = given.setdefault((rule, text), {})
                answers.setdefault(value, set()).add(document.doc)
    products = {document.doc: document.product for document in documents}
    found: list[Question] = []
    for (rule, text), answers in given.items():
        # Where a product's pages give several values, the question is not one that has an answer.
        if len(answers) == 1:
            value, docs = next(iter(answers.items()))
            found.append(
                Question(text=text, rule=rule, docs=frozenset(docs), value=value or None, product=products[min(docs)])
            )
    return sorted(found, key=lambda each: sha256(each.text.encode()).digest())


def _lines(document: Bank) -> Iterator[tuple[str, str, str]]:
    name = document.product or ""
    its = f"the {name}" if name.split()[0] != "BNPL" else name
    for line in map(str.strip, document.text.splitlines()):
        label, row, how = _LABEL.match(line), _ROW.match(line), _HOW.match(line)
        if label and _figure(label[2]) and not _VAGUE.search(label[1]):
            yield "label", f"What is the {_lower(label[1])} of {its}?", _figure(label[2])
        elif row and _figure(row[2]) and not _VAGUE.search(row[1]):
            yield "row", f"What is the {_lower(row[1])} of {its}?", _figure(row[2])
        elif how:
            yield "how to", f"How do I {how[1].strip()} with {its}?", ""
        else:
            for found in _HAS.finditer(line):
                if not _VAGUE.search(found[1]):
                    yield "has a", f"What is the {found[1].strip()} of {its}?", found[2].rstrip(".,")


def _figure(text: str) -> str:
    """The one figure of a value; empty when there is none, or more than one."""
    found = _FIGURE.findall(text)
    return found[0].rstrip(",") if len(found) == 1 else ""


def _lower(label: str) -> str:
    words = label.strip().split()
    first = words[0]
    # ATM, APY and the like stay as they are.
    return " ".join([first if first.isupper() and len(first) > 1 else first.lower(), *words[1:]])


BITEXT = {
    "cancel_order": ("orders/cancelling-an-order.md",),
    "change_order": ("orders/changing-an-order.md",),
    "change_shipping_address": ("shipping/delivery-addresses.md",),
    "check_cancellation_fee": ("orders/cancelling-an-order.md",),
    "check_invoice": ("billing/invoices.md",),
    "check_payment_methods": ("billing/payment-methods.md",),
    "check_refund_policy": ("returns/refunds.md", "returns/returns-policy.md"),
    "complaint": ("contact/complaints.md",),
    "contact_customer_service": ("contact/contacting-us.md",),
    "contact_human_agent": ("contact/contacting-us.md",),
    "create_account": ("account/creating-an-account.md", "account/trade-accounts.md"),
    "delete_account": ("account/closing-your-account.md",),
    "delivery_options": ("shipping/delivery-options.md",),
    "delivery_period": ("shipping/delivery-times.md", "orders/tracking-an-order.md"),
    "edit_account": ("account/editing-your-account.md",),
    "get_invoice": ("billing/invoices.md",),
    "get_refund": ("returns/refunds.md",),
    "newsletter_subscription": ("contact/reviews-and-newsletter.md",),
    "payment_issue": ("billing/payment-problems.md",),
    "place_order": ("orders/placing-an-order.md",),
    "recover_password": ("account/passwords.md",),
    "registration_problems": ("account/creating-an-account.md",),
    "review": ("contact/reviews-and-newsletter.md",),
    "set_up_shipping_address": ("shipping/delivery-addresses.md",),
    "switch_account": ("account/trade-accounts.md",),
    "track_order": ("orders/tracking-an-order.md",),
    "track_refund": ("returns/refunds.md",),
}
"""Intent → the documents of our sample that answer it."""


def asked_of_sample(data: Path) -> list[Question]:
    """The validation questions of the suite, for our sample knowledge base."""
    path = data / "bitext-2022" / "dev" / "Bitext_Sample_Customer_Service_Validation_Dataset.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Question(text=row["utterance"], rule=row["intent"], docs=frozenset(BITEXT[row["intent"]]))
        for row in rows
        if row["intent"] in BITEXT
    ]
