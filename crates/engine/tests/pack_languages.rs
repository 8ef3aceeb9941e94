//! Packs of Python and Go places: names lead through submodules, packages and written types to declarations.

mod support;

use expect_test::{Expect, expect};
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::Repository;
use stan_engine::outline::AskedFile;
use stan_engine::pack::{AskedPlace, PackRequest, pack};
use stan_repo::MemorySystem;
use support::ROOT;

/// Items as `file name level`, with the text of those that `shown` names, and what is missing.
fn check(text: &str, file: &str, line: u32, shown: &[&str], expected: Expect) {
    let system = MemorySystem::from_fixture(text);
    let config = Config::default();
    let repository = Repository { root: ROOT, config: &config };
    let place = AskedPlace { file: AskedFile { shown: file.to_owned(), id: file.to_owned() }, line, col: None };
    let request = PackRequest { places: vec![place], ..PackRequest::default() };
    let outcome = pack(&Engine::new(&system), &repository, &request).expect("a pack can be made");
    let mut out = String::new();
    for item in &outcome.pack.items {
        out += &format!("{} {} {}\n", item.file, item.name, item.level);
        if shown.contains(&item.name.as_str()) {
            out += &item.text.lines().map(|line| format!("  |{line}\n")).collect::<String>();
        }
    }
    for missing in &outcome.pack.missing {
        out += &format!("missing {} {}\n", missing.name, missing.reason);
    }
    expected.assert_eq(&out);
}

const SHOP: &str = r#"
//- /r/shop/__init__.py
//- /r/shop/cart.py
from shop import money
import shop.pay.card as card
import shop.pay.base
from .item import Item

class Cart:
    """A cart."""
    items: list[Item]
    owner: shop.pay.base.Payer

    def total(self) -> money.Money:
        result = money.zero()
        for item in self.items:
            result = result.plus(item.price())
        return result

    @property
    def first(self) -> Item:
        return self.items[0]

def pay(cart: Cart, by: card.Card) -> str:
    return by.charge(cart.total().cents, cart.owner.name)
//- /r/shop/item.py
from shop.money import Money
class Item:
    def price(self) -> Money:
        return Money(1)
//- /r/shop/money.py
class Money:
    cents: int
    def plus(self, other: "Money") -> "Money":
        return self
def zero() -> Money:
    return Money()
//- /r/shop/pay/__init__.py
//- /r/shop/pay/base.py
class Payer:
    name: str
//- /r/shop/pay/card.py
class Card:
    def charge(self, cents: int, who: str) -> str:
        return who
"#;

#[test]
fn python_names_lead_through_submodules() {
    check(
        SHOP,
        "shop/cart.py",
        22,
        &["Cart", "Card"],
        expect![[r#"
            shop/cart.py pay full
            shop/cart.py imports signature
            shop/pay/card.py Card signature
              |class Card:
              |    def charge(self, cents: int, who: str) -> str:
              |        …
            shop/cart.py Cart signature
              |class Cart:
              |    """A cart."""
              |    items: list[Item]
              |    owner: shop.pay.base.Payer
              |    def total(self) -> money.Money:
              |        …
              |    @property
              |    def first(self) -> Item:
              |        …
            shop/money.py Money signature
            shop/pay/base.py Payer full
            missing str global
        "#]],
    );
}

#[test]
fn python_types_of_results_are_followed() {
    check(
        SHOP,
        "shop/cart.py",
        14,
        &[],
        expect![[r#"
            shop/cart.py Cart.total full
            shop/cart.py imports signature
            shop/cart.py Cart signature
            shop/money.py Money signature
            shop/item.py Item signature
            shop/money.py zero signature
        "#]],
    );
}

const STORE: &str = r#"
//- /r/go.mod
module example.com/shop
//- /r/store/store.go
package store

// Store keeps items.
type Store struct {
	items map[string]*Item
	limit int
}

func New(limit int) *Store { return &Store{limit: limit} }

func (s *Store) Get(name string) (*Item, error) {
	return s.items[name], nil
}
//- /r/store/put.go
package store

func (s *Store) Put(item *Item) {
	s.items[item.Name] = item
	check(s.limit)
}
//- /r/store/item.go
package store

type Item struct {
	Name  string
	Price Money
}

func (i *Item) Total(tax int) Money { return i.Price.Plus(percent(i.Price, tax)) }

func check(n int) {}
//- /r/store/money.go
package store

type Money int

func (m Money) Plus(other Money) Money { return m + other }

func percent(m Money, p int) Money { return m }
//- /r/api/main.go
package main

import (
	"fmt"

	"example.com/shop/store"
)

func run(s *store.Store) error {
	item, err := s.Get("tea")
	if err != nil {
		return err
	}
	total := item.Total(20)
	fmt.Println(total)
	s.Put(item)
	return nil
}
"#;

#[test]
fn go_names_lead_to_the_files_of_the_package() {
    check(
        STORE,
        "store/item.go",
        8,
        &["Item"],
        expect![[r#"
            store/item.go Total full
            store/item.go Item full
              |type Item struct {
              |	Name  string
              |	Price Money
              |}
            store/money.go Money full
            store/money.go Plus signature
            store/money.go percent signature
        "#]],
    );
}

#[test]
fn go_methods_are_found_by_written_types() {
    check(
        STORE,
        "api/main.go",
        14,
        &["Store"],
        expect![[r#"
            api/main.go run full
            api/main.go imports signature
            store/item.go Total signature
            store/store.go Store full
              |type Store struct {
              |	items map[string]*Item
              |	limit int
              |}
            store/store.go Get signature
            store/put.go Put signature
            store/item.go Item full
            store/money.go Money full
            missing Println needs-types
        "#]],
    );
}

#[test]
fn go_methods_of_a_type_lie_in_any_file_of_its_package() {
    check(
        STORE,
        "store/put.go",
        4,
        &[],
        expect![[r#"
            store/put.go Put full
            store/store.go Store full
            store/item.go Item full
            store/item.go check full
        "#]],
    );
}
