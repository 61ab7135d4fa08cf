"""A helper changes its name, its arguments or its result while another pull begins to use it."""

from __future__ import annotations

from stalebench.demo.history import Landing, add, append, replace

LANDINGS = [
    Landing(
        "Rename slug to as_address",
        [
            replace("shop/text.py", "def slug(name)", "def as_address(name)"),
            replace("shop/text.py", "{slug(name)}", "{as_address(name)}"),
            add(
                "tests/test_address.py",
                "from shop import text\n\n\n"
                'def test_an_address_has_no_spaces():\n    assert text.as_address("Red Apple") == "red-apple"\n',
            ),
        ],
        10,
        "squash",
    ),
    Landing(
        "Link to a good",
        [
            append(
                "shop/text.py",
                '\n\ndef link(name):\n    """Where a good is found."""\n    return "/goods/" + slug(name)\n',
            ),
            add(
                "tests/test_link.py",
                "from shop import text\n\n\n"
                'def test_a_link_ends_in_the_name():\n    assert text.link("Red Apple") == "/goods/red-apple"\n',
            ),
        ],
        11,
        "squash",
        behind=1,
    ),
    Landing("Use the new name in links", [replace("shop/text.py", "+ slug(name)", "+ as_address(name)")]),
    Landing(
        "Say the currency of every amount",
        [
            replace("shop/money.py", "def format_amount(cents)", "def format_amount(cents, currency)"),
            replace("shop/money.py", ':.2f}"', ':.2f} {currency}"'),
            replace("shop/money.py", "def format_total(amounts)", "def format_total(amounts, currency)"),
            replace("shop/money.py", "format_amount(sum(amounts))", "format_amount(sum(amounts), currency)"),
            add(
                "tests/test_currency.py",
                "from shop import money\n\n\n"
                'def test_an_amount_has_a_currency():\n    assert money.format_amount(250, "EUR") == "2.50 EUR"\n',
            ),
        ],
        12,
        "merge",
    ),
    Landing(
        "Print a receipt",
        [
            append(
                "shop/money.py",
                '\n\ndef receipt(good, cents):\n    """One line of a receipt."""\n'
                '    return f"{good}: {format_amount(cents)}"\n',
            ),
            add(
                "tests/test_receipt.py",
                "from shop import money\n\n\n"
                "def test_a_line_names_good_and_price():\n"
                '    assert money.receipt("apple", 250).startswith("apple: 2.50")\n',
            ),
        ],
        13,
        "merge",
        behind=1,
    ),
    Landing(
        "Receipts are in euros",
        [replace("shop/money.py", "{format_amount(cents)}", "{format_amount(cents, 'EUR')}")],
    ),
    Landing(
        "Order lines as dictionaries",
        [
            replace("shop/lines.py", "as (number, good).", "as a dictionary."),
            replace(
                "shop/lines.py", "return int(number), good", 'return {"number": int(number), "good": good}'
            ),
            replace("shop/lines.py", "parse_line(line)[0]", 'parse_line(line)["number"]'),
            add(
                "tests/test_parse_line.py",
                "from shop import lines\n\n\n"
                "def test_a_line_says_how_many_of_what():\n"
                '    assert lines.parse_line("3 apple") == {"number": 3, "good": "apple"}\n',
            ),
        ],
        14,
        "squash",
    ),
    Landing(
        "Which goods an order names",
        [
            append(
                "shop/lines.py",
                '\n\ndef good(line):\n    """The good that a line asks for."""\n'
                "    number, name = parse_line(line)\n    return name\n",
            ),
            add(
                "tests/test_goods.py",
                "from shop import lines\n\n\n"
                'def test_a_line_names_a_good():\n    assert lines.good("3 apple") == "apple"\n',
            ),
        ],
        15,
        "squash",
        behind=1,
    ),
    Landing(
        "Goods of the new order lines",
        [
            replace(
                "shop/lines.py",
                "    number, name = parse_line(line)\n    return name\n",
                '    return parse_line(line)["good"]\n',
            )
        ],
    ),
    # Two pulls that fit; both add a test at the end of one file.
    Landing(
        "Several parcels",
        [
            replace("shop/orders.py", "    return 1\n", "    return -(-weight(order) // 10_000)\n"),
            append(
                "tests/test_orders.py",
                "\n\ndef test_ten_kilograms_fill_a_parcel():\n    assert orders.parcels([(1_000, 11)]) == 2\n",
            ),
        ],
        16,
        "squash",
    ),
    Landing(
        "Labels without blanks",
        [
            replace("shop/orders.py", "    return name.upper()\n", "    return name.strip().upper()\n"),
            append(
                "tests/test_orders.py",
                '\n\ndef test_a_label_has_no_blanks_around_it():\n    assert orders.label(" Ada ") == "ADA"\n',
            ),
        ],
        17,
        "squash",
        behind=1,
    ),
]
