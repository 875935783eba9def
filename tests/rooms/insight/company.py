"""A small company's tickets of two months, made by fixed rules: something breaks on the first of the second month."""

from calendar import timegm
from datetime import date
from random import Random

from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.dataset_writer import ImportTotals

START = timegm(date(2024, 2, 1).timetuple())
DAYS = 60
TEXTS = {
    "Refund": [
        "I sent the kettle back two weeks ago and still wait for my refund",
        "Where is my refund for the order? The parcel arrived at your warehouse on Monday",
        "You promised to refund the money within five days, nothing has come",
    ],
    "Login": [
        "I cannot log in to my account since the update, the code never arrives",
        "The password reset mail does not reach me and the app logs me out",
        "Since the new version my login fails with a blank page",
    ],
    "Delivery": [
        "My parcel is late again; the driver says nobody was at home",
        "Delivery was promised for Friday and now it is Tuesday",
        "The tracking page has not changed for a week, is the parcel lost?",
    ],
    "Invoice": [
        "Please send me the invoice for last month with our VAT number",
        "The invoice shows the wrong address, can you correct it?",
    ],
}
DEPARTMENTS = {"Refund": "Billing", "Invoice": "Billing", "Login": "Technical", "Delivery": "Logistics"}


def tickets(seed: int = 7, many: int = 600) -> list[NewTicket]:
    """Login is a tenth in February and four tenths in March."""
    chance = Random(seed)
    made: list[NewTicket] = []
    for number in range(many):
        day = number * DAYS // many
        weights = [4, 1, 3, 2] if day < 29 else [2, 4, 2, 2]
        category = chance.choices(list(TEXTS), weights)[0]
        created = START + day * 86_400 + chance.randrange(86_400)
        hours = chance.expovariate(1 / (30 if category == "Login" else 8))
        made.append(
            NewTicket(
                external_id=f"T-{number}",
                created_at=created,
                category=category,
                text=f"{chance.choice(TEXTS[category])}. Order {number}.",
                department=DEPARTMENTS[category],
                product=chance.choice(["Shop", "App"]),
                priority=chance.choice(["low", "normal", "high"]),
                customer=f"[id:{chance.randrange(400):010x}]",
                resolved_at=created + int(hours * 3600) if chance.random() < 0.9 else None,
                reassignments=chance.choice([0, 0, 0, 1, 2]),
                extra={"Channel": chance.choice(["mail", "chat"])},
            )
        )
    return made


def fill(store: Store, made: list[NewTicket], *, name: str = "tickets.csv", file_hash: str = "a" * 64) -> int:
    """A dataset of these tickets; gives its id."""
    departments = len({ticket.department for ticket in made} - {None})
    with store.write_dataset(name, file_hash, {"text": "Body"}, START) as adding:
        adding.add(made)
        adding.finish(ImportTotals(row_count=len(made), department_count=departments, bad_row_count=2, bad_rows=()))
    return adding.dataset_id


def group(store: Store, dataset_id: int) -> int:
    """A grouping by category, in the form the clustering writes; gives its id."""
    found = list(store.tickets(dataset_id))
    names = list(TEXTS)
    pairs = [(ticket.ticket_id, names.index(ticket.said.category or "")) for ticket in found]
    clusters = [
        {
            "cluster_id": at,
            "label": f"{name.lower()}, order",
            "medoids": [{"ticket_id": t.ticket_id} for t in found if t.said.category == name][:3],
        }
        for at, name in enumerate(names)
    ]
    figures = {"silhouette": 0.41, "stability": 0.93, "noise": 0.0, "clusters": clusters}
    return store.add_run(dataset_id, "ward", "builtin", figures, pairs, START).run_id
