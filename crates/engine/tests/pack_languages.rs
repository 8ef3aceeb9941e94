//! Packs of Python, Go and Rust places: names resolve through submodules, packages and type annotations to declarations.

mod support;

use expect_test::{Expect, expect};
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::Repository;
use stan_engine::outline::AskedFile;
use stan_engine::pack::{AskedPlace, PackRequest, pack};
use stan_repo::MemorySystem;
use support::ROOT;

/// Items as `file name level`, with the text of the items in `shown`, and what is missing.
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
            store/item.go Item.Total full
            store/item.go Item full
              |type Item struct {
              |	Name  string
              |	Price Money
              |}
            store/money.go Money full
            store/money.go Money.Plus signature
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
            store/item.go Item.Total signature
            store/store.go Store full
              |type Store struct {
              |	items map[string]*Item
              |	limit int
              |}
            store/store.go Store.Get signature
            store/put.go Store.Put signature
            store/item.go Item full
            store/money.go Money full
            missing Println needs-types
        "#]],
    );
}

#[test]
fn go_methods_are_found_in_any_file_of_the_package() {
    check(
        STORE,
        "store/put.go",
        4,
        &[],
        expect![[r#"
            store/put.go Store.Put full
            store/store.go Store full
            store/item.go Item full
            store/item.go check full
        "#]],
    );
}

const RUST_STORE: &str = r#"
//- /r/Cargo.toml
[package]
name = "shop"
edition = "2021"
[dependencies]
money = { path = "money" }
//- /r/src/lib.rs
mod item;
mod model;
mod prelude;
mod store;
//- /r/src/prelude.rs
pub use crate::item::Item;
pub use crate::model::*;
//- /r/src/item.rs
use money::Money;
/// A thing for sale.
pub struct Item { pub name: String, price: Money }
impl Item {
    pub fn price(&self) -> &Money { &self.price }
    pub fn rename(&mut self, name: &str) { self.name = name.into(); }
}
//- /r/src/model/mod.rs
mod owner;
pub use owner::Owner;
//- /r/src/model/owner.rs
pub struct Owner { pub first: String }
impl Owner { pub fn greet(&self) -> String { self.first.clone() } }
//- /r/src/store.rs
use crate::prelude::{Item, Owner};
use std::fmt;

pub struct Store { items: Vec<Item>, owner: Option<Owner> }

impl Store {
    pub fn total(&self) -> u64 {
        let mut sum = 0;
        for item in &self.items { sum += item.price().cents(); }
        sum + crate::store::fee(LIMIT)
    }
}
const LIMIT: u64 = 3;
fn fee(limit: u64) -> u64 { limit }
impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { self.owner.greet(); Ok(()) }
}
//- /r/money/Cargo.toml
[package]
name = "money"
//- /r/money/src/lib.rs
mod amount;
pub use amount::Money;
//- /r/money/src/amount.rs
pub struct Money { cents: u64 }
impl Money { pub fn cents(&self) -> u64 { self.cents } }
"#;

#[test]
fn rust_names_lead_through_reexports_crates_and_written_types() {
    check(
        RUST_STORE,
        "src/store.rs",
        9,
        &["Item", "Money"],
        expect![[r#"
        src/store.rs Store.total full
        src/store.rs Store full
        src/store.rs Store full
        src/item.rs Item full
          |/// A thing for sale.
          |pub struct Item { pub name: String, price: Money }
        src/item.rs Item signature
          |impl Item {
          |  pub fn price(&self) -> &Money { … }
          |  … 1 member
          |}
        money/src/amount.rs Money full
          |pub struct Money { cents: u64 }
        money/src/amount.rs Money signature
          |impl Money {
          |  pub fn cents(&self) -> u64 { … }
          |}
        src/store.rs fee full
        src/store.rs LIMIT full
    "#]],
    );
    check(
        RUST_STORE,
        "src/store.rs",
        17,
        &[],
        expect![[r#"
        src/store.rs Store full
        src/store.rs imports signature
        src/store.rs Store full
        src/model/owner.rs Owner signature
        src/model/owner.rs Owner line
    "#]],
    );
}
