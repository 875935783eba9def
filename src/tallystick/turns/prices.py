"""Prices of models, so that the cost of a response can be counted and limited.

The first that is known applies: the endpoint's own price, `models.prices` of the configuration, the table shipped with
the package (`prices.toml`). A model without a price has no cost.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from tallystick.turns.agent import Endpoint

Price = tuple[float, float]
"""US dollars per million input and output tokens."""
_MICRO = 1_000_000
_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_TABLES = {"azure": "openai"}
"""Provider → whose prices it has; a deployment has a price if it is named after its model."""


def price_of(endpoint: Endpoint, configured: Mapping[str, Price]) -> Price | None:
    """Return the price of an endpoint's model; None if it is not known.

    Args:
        endpoint: The endpoint.
        configured: Prices of the configuration, by model or `provider/model`.
    """
    if endpoint.price_in_microusd or endpoint.price_out_microusd:
        return endpoint.price_in_microusd / _MICRO, endpoint.price_out_microusd / _MICRO
    shipped = _shipped().get(_TABLES.get(endpoint.provider, endpoint.provider), {})
    undated = _DATE.sub("", endpoint.model)
    found = (
        configured.get(f"{endpoint.provider}/{endpoint.model}"),
        configured.get(endpoint.model),
        shipped.get(endpoint.model),
        shipped.get(undated),
    )
    return next((price for price in found if price is not None), None)


def with_price(endpoint: Endpoint, configured: Mapping[str, Price]) -> Endpoint:
    """Return the endpoint with the price of its model, if it is known."""
    price = price_of(endpoint, configured)
    if price is None:
        return endpoint
    inward, outward = (round(dollars * _MICRO) for dollars in price)
    return replace(endpoint, price_in_microusd=inward, price_out_microusd=outward)


@cache
def _shipped() -> Mapping[str, Mapping[str, Price]]:
    text = files("tallystick.turns").joinpath("prices.toml").read_text(encoding="utf-8")
    return {
        provider: {name: (float(inward), float(outward)) for name, (inward, outward) in prices.items()}
        for provider, prices in tomllib.loads(text).items()
    }
