"""The shop as it begins, and the pulls that are never candidates."""

from __future__ import annotations

from stalebench.demo.history import Landing, add, append

PRICES = '''"""Prices of the goods, in cents."""


class PriceBook:
    """Reads and writes prices in the database."""

    def __init__(self, database):
        self.database = database

    def get(self, sku):
        """The price of one good."""
        return self.database[sku]

    def set(self, sku, price):
        """Change the price of one good."""
        self.database[sku] = price

    def names(self):
        """Every good that has a price."""
        return sorted(self.database)
'''

TEXT = '''"""Texts that customers see."""


def slug(name):
    """A name as part of an address."""
    return "-".join(name.lower().split())


def title(name):
    """A name as a heading."""
    return name.strip().capitalize()


def heading(name):
    """A heading that can be linked to."""
    return f"{title(name)} (#{slug(name)})"


def shorten(name, length):
    """A name cut to a length."""
    return name[:length]
'''

MONEY = '''"""Amounts of money as text."""


def format_amount(cents):
    """An amount with two decimals."""
    return f"{cents / 100:.2f}"


def format_total(amounts):
    """The sum of amounts."""
    return format_amount(sum(amounts))


def is_free(cents):
    """Whether an amount is nothing."""
    return cents == 0
'''

LINES = '''"""Lines of an order, as customers type them."""


def parse_line(line):
    """A line such as `3 apple` as (number, good)."""
    number, good = line.split()
    return int(number), good


def count(line):
    """How many goods a line asks for."""
    return parse_line(line)[0]


def is_comment(line):
    """Whether a line is no order."""
    return line.startswith("#")
'''

ROUNDING = '''"""Rounding of prices."""


def to_shelf(cents):
    """A price as it is printed on the shelf: whole tens."""
    return cents // 10 * 10


def is_round(cents):
    """Whether a price can be printed as it is."""
    return cents % 100 == 0


def cents_of(euros):
    """A price in cents."""
    return euros * 100
'''

STOCK = '''"""What lies in the store room."""


def missing(stock, wanted):
    """The goods of which there are too few."""
    return sorted(good for good in wanted if stock.get(good, 0) < wanted[good])


def total(stock):
    """How many goods there are."""
    return sum(stock.values())


def is_empty(stock):
    """Whether nothing is left."""
    return total(stock) == 0
'''

ORDERS = '''"""Orders, from the cart to the parcel."""


def weight(order):
    """The weight of an order in grams."""
    return sum(grams * number for grams, number in order)


def parcels(order):
    """How many parcels an order fills."""
    return 1


def is_heavy(order):
    """Whether one person can carry it."""
    return weight(order) > 20_000


def label(name):
    """What is written on the parcel."""
    return name.upper()
'''

CONFTEST = """import pytest


@pytest.fixture
def stock():
    return {"apple": 3, "pear": 1}
"""

TEST_STOCK = """from shop import stock as room


def test_missing_goods_are_named(stock):
    assert room.missing(stock, {"pear": 2}) == ["pear"]
"""

TEST_ORDERS = """from shop import orders


def test_weight():
    assert orders.weight([(100, 2)]) == 200
"""

LANDINGS = [
    Landing(
        "Open the shop",
        [
            add("README.md", "# A shop\n"),
            add("shop/__init__.py", ""),
            add("shop/prices.py", PRICES),
            add("shop/text.py", TEXT),
            add("shop/money.py", MONEY),
            add("shop/lines.py", LINES),
            add("shop/rounding.py", ROUNDING),
            add("shop/stock.py", STOCK),
            add("shop/orders.py", ORDERS),
            add("tests/conftest.py", CONFTEST),
            add("tests/test_stock.py", TEST_STOCK),
            add("tests/test_orders.py", TEST_ORDERS),
        ],
    ),
    Landing("Say what the shop sells", [append("README.md", "\nApples and pears.\n")], 1, "squash"),
    Landing("Greet customers", [add("shop/greeting.py", 'HELLO = "Good morning"\n')], 2, "squash"),
    Landing(
        "Name every module's shelf",
        [
            *(add(f"shop/shelf_{number:02}.py", f"NUMBER = {number}\n") for number in range(1, 14)),
            add(
                "tests/test_shelves.py",
                "from shop.shelf_07 import NUMBER\n\n\ndef test_number():\n    assert NUMBER == 7\n",
            ),
        ],
        3,
        "merge",
    ),
]
