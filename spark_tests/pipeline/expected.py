"""What every table has to hold after each day, computed by pandas from the files, without Spark."""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from icecheck.spark_tests.pipeline.events import CUSTOMER, LATER_COLUMNS, ORDER
from icecheck.spark_tests.pipeline.scale import DAYS, Scale
from icecheck.spark_tests.pipeline.tables import ID_PRIME

_PRICE = r"^-?\d+\.\d\d$"
_COUNTRY = r"^[A-Z]{2}$"
_UNKNOWN = "?"


class Expected:
    """The tables of a pipeline over the files of one landing directory.

    All frames have whole numbers and text only: times are microseconds since 1970, amounts are
    cents, days are ISO dates. They are computed when they are asked for, and the files are read
    once; those of a day have to be there then.
    """

    def __init__(self, landing: Path, scale: Scale) -> None:
        self._landing = landing
        self._scale = scale
        self._days: dict[int, dict[str, Any]] = {}
        self._last_orders: tuple[int, Any] = (0, None)
        self._revenue: dict[int, Any] = {}

    def received(self, day: int) -> Any:
        """Return the events of a day as they lie in the files, as an Arrow table.

        Those of narrow files have nothing in the later columns.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        paths = [self._landing / part.file for part in self._scale.parts(day)]
        table = pa.concat_tables(map(pq.read_table, paths), promote_options="default")
        for name in LATER_COLUMNS:
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(len(table), pa.string()))
        for number, field in enumerate(table.schema):
            if pa.types.is_timestamp(field.type):
                micros = table.column(number).cast(pa.int64())
                table = table.set_column(number, field.name, micros)
        return table

    def orders(self, day: int) -> Any:
        """Return the newest usable version of each order after a day, by order id."""
        if self._last_orders[0] != day:
            self._last_orders = (day, self._newest_orders(day))
        return self._last_orders[1]

    def _newest_orders(self, day: int) -> Any:
        usable = self._usable(ORDER, day)
        # Of one event that came several times the first day counts, and there one with a channel.
        first = usable.sort_values(["day", "channel"]).drop_duplicates("event_id")
        newest = first.sort_values("happened_at").drop_duplicates("order_id", keep="last")
        amount = newest["price_cents"] * newest["quantity"]
        newest = newest.assign(amount_cents=amount, updated_at=newest["happened_at"])
        columns = ["order_id", "customer_id", "sku", "quantity", "amount_cents", "status"]
        columns += ["channel", "ordered_at", "updated_at"]
        return newest[columns].sort_values("order_id").reset_index(drop=True)

    def customers(self, day: int) -> Any:
        """Return the history of each customer after a day: a row for each change of attributes."""
        usable = self._usable(CUSTOMER, day).drop_duplicates("event_id")
        versions = usable.sort_values(["customer_id", "happened_at"]).reset_index(drop=True)
        attributes = ["name", "email", "country"]
        same = versions["customer_id"] == versions["customer_id"].shift()
        for each in attributes:
            same &= versions[each] == versions[each].shift()
        kept = versions[~same].reset_index(drop=True)
        next_of_same = kept["customer_id"] == kept["customer_id"].shift(-1)
        ends = kept["happened_at"].shift(-1).where(next_of_same).astype("Int64")
        kept = kept.assign(valid_from=kept["happened_at"], valid_to=ends)
        return kept[["customer_id", *attributes, "valid_from", "valid_to"]]

    def revenue(self, day: int) -> Any:
        """Return the figures after a day: orders that were not cancelled, by day and country."""
        if day not in self._revenue:
            self._revenue[day] = self._summed(day)
        return self._revenue[day]

    def _summed(self, day: int) -> Any:
        import pandas as pd

        orders = self.orders(day)
        orders = orders[orders["status"] != "cancelled"].sort_values("ordered_at")
        history = self.customers(day)[["customer_id", "country", "valid_from"]]
        known = pd.merge_asof(
            orders,
            history.sort_values("valid_from"),
            left_on="ordered_at",
            right_on="valid_from",
            by="customer_id",
        )
        figures = (
            known.assign(
                country=known["country"].fillna(_UNKNOWN),
                day=pd.to_datetime(known["ordered_at"], unit="us").dt.strftime("%Y-%m-%d"),
            )
            .groupby(["day", "country"])
            .agg(
                orders=("order_id", "size"),
                units=("quantity", "sum"),
                revenue_cents=("amount_cents", "sum"),
                customers=("customer_id", "nunique"),
            )
        )
        return figures.reset_index()

    def by_country(self, day: int) -> Any:
        """Return the orders and revenue of each country after a day, over all days."""
        sums = self.revenue(day).groupby("country")[["orders", "revenue_cents"]].sum()
        return sums.reset_index()

    def counted(self, day: int) -> Any:
        """Return how many events of each kind arrived on a day, their ids, and the unusable."""
        import pandas as pd

        counts = [
            (
                kind,
                len(rows),
                int((rows["event_id"] % ID_PRIME).sum()),
                int((~rows["usable"]).sum()),
            )
            for kind, rows in self._day(day).items()
        ]
        return pd.DataFrame(counts, columns=["kind", "events", "ids", "unusable"])

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        both = ["event_id", "happened_at", "customer_id", "day"]
        goods = ["order_id", "ordered_at", "sku", "quantity", "price", "status", "channel"]
        return {ORDER: both + goods, CUSTOMER: [*both, "name", "email", "country"]}

    def _usable(self, kind: str, day: int) -> Any:
        """Return the usable events of a kind that arrived until a day, tidied."""
        import pandas as pd

        days = [self._day(arrived)[kind] for arrived in DAYS[:day]]
        days = [each[each["usable"]].drop(columns="usable") for each in days]
        found = {}
        for name in days[0].columns:
            parts = [each[name] for each in days]
            if isinstance(parts[0].dtype, pd.CategoricalDtype):
                found[name] = pd.api.types.union_categoricals(parts)
            else:
                found[name] = pd.concat(parts, ignore_index=True)
        return pd.DataFrame(found)

    def _day(self, day: int) -> dict[str, Any]:
        """Return kind -> the events of a day, tidied; ``usable`` tells which of them count."""
        import pyarrow.compute as pc

        if day not in self._days:
            received = self.received(day)
            tidied: dict[str, Any] = {}
            for kind, tidy in ((ORDER, _tidy_orders), (CUSTOMER, _tidy_customers)):
                rows = received.filter(pc.equal(received["kind"], kind)).select(self._columns[kind])
                tidied[kind] = tidy(rows.to_pandas(strings_to_categorical=True))
            self._days[day] = tidied
        return self._days[day]


def _tidy_orders(rows: Any) -> Any:
    cents = _for_each_text(rows["price"], _cents).astype("int64")
    usable = (cents > 0) & (rows["quantity"] > 0)
    rows = rows.drop(columns="price").assign(price_cents=cents, usable=usable)
    return rows.astype(dict.fromkeys(("order_id", "ordered_at", "quantity"), "int64"))


def _tidy_customers(rows: Any) -> Any:
    country = _for_each_text(rows["country"], lambda each: each.strip().upper())
    email = _for_each_text(rows["email"], lambda each: each.strip().lower())
    name = _for_each_text(rows["name"], str)
    usable = country.str.match(_COUNTRY)
    return rows.assign(name=name, country=country, email=email, usable=usable)


def _cents(price: str) -> int:
    """Return a price in cents; 0 for one that is not written as a price."""
    return int(price.replace(".", "")) if re.match(_PRICE, price) else 0


def _for_each_text(column: Any, tidied: Callable[[str], object]) -> Any:
    """Return a column of texts tidied, each different one once; what is missing is like ""."""
    import numpy as np
    import pandas as pd

    each = [*map(tidied, column.cat.categories), tidied("")]
    return pd.Series(np.array(each)[column.cat.codes.to_numpy()], index=column.index)
