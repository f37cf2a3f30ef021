"""The tables of the pipeline, and the queries that bring them forward by a day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from icecheck.spark_tests.pipeline.events import COLUMNS, CUSTOMER, LATER_COLUMNS, ORDER
from icecheck.witnesses.spark_statements import qualified

_USABLE_ORDER = "try_cast(price AS DECIMAL(12, 2)) > 0 AND quantity > 0"
_USABLE_CUSTOMER = "upper(trim(country)) RLIKE '^[A-Z]{2}$'"

KINDS = ("bronze", "orders", "customers", "revenue")
"""What the tables are."""
VIEW = "by_country"
ID_PRIME = 1_000_003
"""Ids are summed modulo this: the sum of whole ones is too large for a BIGINT."""
_MERGED = "TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = 'merge-on-read')"
_DEFINITIONS = {
    "bronze": f"({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())}) USING iceberg "
    "PARTITIONED BY (day)",
    "orders": "(order_id BIGINT, customer_id BIGINT, sku STRING, quantity INT, "
    "amount DECIMAL(14, 2), status STRING, channel STRING, ordered_at TIMESTAMP, "
    f"updated_at TIMESTAMP) USING iceberg PARTITIONED BY (days(ordered_at)) {_MERGED}",
    "customers": "(customer_id BIGINT, name STRING, email STRING, country STRING, "
    f"valid_from TIMESTAMP, valid_to TIMESTAMP) USING iceberg {_MERGED}",
    "revenue": "(day DATE, country STRING, orders BIGINT, units BIGINT, revenue DECIMAL(18, 2), "
    "customers BIGINT) USING iceberg",
}


@dataclass(frozen=True, slots=True)
class Tables:
    """The names of the tables and the view, in SQL, each with its catalog and namespace."""

    bronze: str
    orders: str
    customers: str
    revenue: str
    by_country: str

    @property
    def placeholders(self) -> dict[str, str]:
        """What the tables are -> their names, which are removed from messages about failures."""
        return {each: self.name(each) for each in (*KINDS, VIEW)}

    def name(self, kind: str) -> str:
        """Return the name of the table of a kind, or of the view."""
        return str(getattr(self, kind))

    def definition(self, kind: str) -> str:
        """Return the statement that creates the table of a kind where it is not there."""
        return f"CREATE TABLE IF NOT EXISTS {self.name(kind)} {_DEFINITIONS[kind]}"

    def later_columns(self) -> str:
        """Return the statement that adds to bronze what later events have."""
        added = ", ".join(f"{name} {kind}" for name, kind in LATER_COLUMNS.items())
        return f"ALTER TABLE {self.bronze} ADD COLUMNS ({added})"

    def merge_orders(self, day: int, *, with_channel: bool) -> str:
        """Return the merge of the orders of a day of arrival: only a newer version replaces one."""
        # An event may come again from a file that has its channel.
        channel = "channel" if with_channel else "CAST(NULL AS STRING) AS channel"
        last = "channel NULLS LAST" if with_channel else "event_id"
        return f"""
            MERGE INTO {self.orders} t USING (
              SELECT order_id, customer_id, sku, quantity,
                CAST(CAST(price AS DECIMAL(12, 2)) * quantity AS DECIMAL(14, 2)) AS amount,
                status, channel, ordered_at, happened_at AS updated_at
              FROM (
                SELECT order_id, customer_id, sku, quantity, price, status, ordered_at, happened_at,
                  {channel}, row_number() OVER (
                    PARTITION BY order_id ORDER BY happened_at DESC, {last}) AS place
                FROM {self.bronze}
                WHERE day = {day} AND kind = '{ORDER}' AND {_USABLE_ORDER}
              ) WHERE place = 1
            ) s ON t.order_id = s.order_id
            WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET *
            WHEN NOT MATCHED THEN INSERT *"""

    def merge_customers(self, day: int) -> str:
        """Return the merge of the histories of all customers of whom something arrived on a day.

        A change that arrives late goes between those before and after it, and may make the one
        after it say nothing new.
        """
        attributes = ("name", "email", "country")
        same = " AND ".join(f"{each} <=> lag({each}) OVER versions" for each in attributes)
        return f"""
            MERGE INTO {self.customers} t USING (
              SELECT customer_id, name, email, country, valid_from, changes,
                min(IF(changes, valid_from, NULL)) OVER (
                  PARTITION BY customer_id ORDER BY valid_from
                  ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS valid_to
              FROM (
                SELECT customer_id, name, email, country, valid_from, NOT ({same}) AS changes
                FROM ({self._versions(day)})
                WINDOW versions AS (PARTITION BY customer_id ORDER BY valid_from)
              )
            ) s ON t.customer_id = s.customer_id AND t.valid_from = s.valid_from
            WHEN MATCHED AND NOT s.changes THEN DELETE
            WHEN MATCHED AND NOT (t.valid_to <=> s.valid_to)
              THEN UPDATE SET t.valid_to = s.valid_to
            WHEN NOT MATCHED AND s.changes THEN INSERT
              (customer_id, name, email, country, valid_from, valid_to)
              VALUES (s.customer_id, s.name, s.email, s.country, s.valid_from, s.valid_to)"""

    def _versions(self, day: int) -> str:
        return f"""
            SELECT DISTINCT customer_id, name, lower(trim(email)) AS email,
              upper(trim(country)) AS country, happened_at AS valid_from
            FROM {self.bronze}
            WHERE day <= {day} AND kind = '{CUSTOMER}' AND {_USABLE_CUSTOMER}
              AND customer_id IN (
                SELECT customer_id FROM {self.bronze} WHERE day = {day} AND kind = '{CUSTOMER}')"""

    def figures(self) -> str:
        """Return the query of the figures: orders by day and the customer's country at the time."""
        return f"""
            SELECT to_date(o.ordered_at) AS day, coalesce(c.country, '?') AS country,
              count(*) AS orders, sum(o.quantity) AS units,
              CAST(sum(o.amount) AS DECIMAL(18, 2)) AS revenue,
              count(DISTINCT o.customer_id) AS customers
            FROM {self.orders} o LEFT JOIN {self.customers} c
              ON o.customer_id = c.customer_id AND o.ordered_at >= c.valid_from
              AND (c.valid_to IS NULL OR o.ordered_at < c.valid_to)
            WHERE o.status <> 'cancelled'
            GROUP BY 1, 2"""

    def view(self) -> str:
        """Return the statement that creates the view of the figures by country."""
        return (
            f"CREATE OR REPLACE VIEW {self.by_country} AS SELECT country, sum(orders) AS orders, "
            f"sum(revenue) AS revenue FROM {self.revenue} GROUP BY country"
        )

    def counted(self, day: int) -> str:
        """Return the query that counts the events of a day of arrival, and the unusable ones."""
        return f"""
            SELECT kind, count(*) AS events, sum(pmod(event_id, {ID_PRIME})) AS ids,
              count_if(NOT coalesce(IF(kind = '{ORDER}', {_USABLE_ORDER}, {_USABLE_CUSTOMER}),
                false)) AS unusable
            FROM {self.bronze} WHERE day = {day} GROUP BY kind"""


def compared(table: str, columns: str, version: str = "") -> str:
    """Return the query that reads a table as it is compared: whole numbers and text.

    ``version`` names a branch, a tag in quotes or a snapshot to read instead of the current state.
    """
    return f"SELECT {columns} FROM {table} {f'VERSION AS OF {version}' if version else ''}"


ORDERS = (
    "order_id, customer_id, sku, quantity, CAST(amount * 100 AS BIGINT) AS amount_cents, status, "
    "channel, unix_micros(ordered_at) AS ordered_at, unix_micros(updated_at) AS updated_at"
)
CUSTOMERS = (
    "customer_id, name, email, country, unix_micros(valid_from) AS valid_from, "
    "unix_micros(valid_to) AS valid_to"
)
REVENUE = (
    "CAST(day AS STRING) AS day, country, orders, units, "
    "CAST(revenue * 100 AS BIGINT) AS revenue_cents, customers"
)
BY_COUNTRY = "country, orders, CAST(revenue * 100 AS BIGINT) AS revenue_cents"


RECEIVED = ", ".join(
    f"unix_micros({name}) AS {name}" if kind == "TIMESTAMP" else name
    for name, kind in COLUMNS.items()
)


def tables_within(namespace: Sequence[str], names: Mapping[str, str]) -> Tables:
    """Return the tables in a namespace, whose first level is the catalog; ``names`` by kind."""
    return Tables(**{each: qualified((*namespace, names[each])) for each in (*KINDS, VIEW)})
