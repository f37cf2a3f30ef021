"""Names, addresses and goods from faker, made once: rows are drawn from them."""

from dataclasses import dataclass

_PEOPLE = 500
_COUNTRIES = 12
_GOODS = 40


@dataclass(frozen=True, slots=True)
class Pools:
    """Texts to draw from: names and addresses of people, codes of countries, and goods."""

    names: tuple[str, ...]
    emails: tuple[str, ...]
    countries: tuple[str, ...]
    goods: tuple[str, ...]


def make_pools(seed: int) -> Pools:
    """Return pools; the same seed and the same release of faker give the same ones."""
    from faker import Faker

    faker = Faker()
    faker.seed_instance(seed)
    return Pools(
        names=tuple(faker.name() for _ in range(_PEOPLE)),
        emails=tuple(faker.unique.email().lower() for _ in range(_PEOPLE)),
        countries=tuple(faker.unique.country_code() for _ in range(_COUNTRIES)),
        goods=tuple(faker.unique.bothify("??-####").upper() for _ in range(_GOODS)),
    )
