"""Pairs that pass alone, merge cleanly and fail together, each of another kind."""

from __future__ import annotations

from stalebench.demo.history import Landing, add, append, replace

TEST_CACHE = """from shop.prices import PriceBook


class CountingDatabase(dict):
    reads = 0

    def __getitem__(self, key):
        self.reads += 1
        return super().__getitem__(key)


def test_a_price_is_read_from_the_database_once():
    book = PriceBook(CountingDatabase(apple=100))
    assert [book.get("apple"), book.get("apple")] == [100, 100]
    assert book.database.reads == 1


def test_a_changed_price_is_seen():
    book = PriceBook({"apple": 100})
    assert book.get("apple") == 100
    book.set("apple", 80)
    assert book.get("apple") == 80
"""

TEST_BULK = """from shop.prices import PriceBook


def test_prices_can_be_changed_together():
    book = PriceBook({"apple": 100, "pear": 50})
    assert book.get("apple") == 100
    book.set_all({"apple": 80, "pear": 40})
    assert book.get("apple") == 80


def test_goods_can_be_added_together():
    book = PriceBook({})
    book.set_all({"plum": 20})
    assert book.names() == ["plum"]
"""

TEST_SHELF = """import pytest
from shop import rounding


@pytest.mark.parametrize("cents, shelf", [(99, 95), (95, 95), (101, 100)])
def test_shelf_prices_are_whole_fives(cents, shelf):
    assert rounding.to_shelf(cents) == shelf
"""

TEST_DISCOUNT = """from shop import rounding


def test_a_discount_takes_a_part_off():
    assert rounding.discounted(200, 10) == 180


def test_shelf_prices_stay_whole_tens():
    assert rounding.to_shelf(199) == 190
"""

LANDINGS = [
    # A cache with its invalidation, and a write that goes past it: the failure that no signature shows.
    Landing(
        "Cache prices",
        [
            replace(
                "shop/prices.py",
                "        self.database = database\n",
                "        self.database = database\n        self.cache = {}\n",
            ),
            replace(
                "shop/prices.py",
                "        return self.database[sku]\n",
                "        if sku not in self.cache:\n"
                "            self.cache[sku] = self.database[sku]\n"
                "        return self.cache[sku]\n",
            ),
            replace(
                "shop/prices.py",
                "        self.database[sku] = price\n",
                "        self.database[sku] = price\n        self.cache.pop(sku, None)\n",
            ),
            add("tests/test_price_cache.py", TEST_CACHE),
        ],
        4,
        "merge",
        "Reading a price asked the database each time. A change of a price forgets the cached one.",
    ),
    Landing(
        "Change many prices together",
        [
            append(
                "shop/prices.py",
                '\n    def set_all(self, prices):\n        """Change many prices."""\n'
                "        self.database.update(prices)\n",
            ),
            add("tests/test_price_bulk.py", TEST_BULK),
        ],
        5,
        "merge",
        "A sale changes all prices at once: write them in one go.",
        behind=1,
    ),
    Landing(
        "Forget cached prices when many change",
        [replace("shop/prices.py", "update(prices)\n", "update(prices)\n        self.cache.clear()\n")],
    ),
    # One patch's code is enough to break the other's test.
    Landing(
        "Print shelf prices in steps of five",
        [
            replace("shop/rounding.py", "whole tens.", "whole fives."),
            replace("shop/rounding.py", "cents // 10 * 10", "cents // 5 * 5"),
            add("tests/test_shelf_prices.py", TEST_SHELF),
        ],
        6,
        "squash",
    ),
    Landing(
        "Discounts",
        [
            append(
                "shop/rounding.py",
                '\n\ndef discounted(cents, percent):\n    """A price less a part of it."""\n'
                "    return cents - cents * percent // 100\n",
            ),
            add("tests/test_discounts.py", TEST_DISCOUNT),
        ],
        7,
        "squash",
        behind=1,
    ),
    Landing(
        "Shelf prices are in steps of five in the discounts' tests too",
        [
            replace("tests/test_discounts.py", "stay_whole_tens", "stay_whole_fives"),
            replace("tests/test_discounts.py", "== 190", "== 195"),
        ],
    ),
    # The code gets along; the tests share a fixture that one of the pulls changes.
    Landing(
        "Count plums",
        [
            replace(
                "shop/stock.py",
                "    return sum(stock.values())\n",
                "    return sum(map(int, stock.values()))\n",
            ),
            replace("tests/conftest.py", '"pear": 1', '"pear": 1, "plum": "4"'),
            append(
                "tests/test_stock.py",
                "\n\ndef test_numbers_may_be_text(stock):\n    assert room.total(stock) == 8\n",
            ),
        ],
        8,
        "merge",
    ),
    Landing(
        "The scarcest good",
        [
            append(
                "shop/stock.py",
                '\n\ndef scarcest(stock):\n    """The good of which there is least."""\n'
                "    return min(stock, key=stock.get)\n",
            ),
            add(
                "tests/test_scarcest.py",
                "from shop import stock as room\n\n\n"
                'def test_the_good_of_which_there_is_least(stock):\n    assert room.scarcest(stock) == "pear"\n',
            ),
        ],
        9,
        "merge",
        behind=1,
    ),
]
