//! `stan outline` and `stan symbol`: their text, and the messages for unknown names.

use expect_test::expect;

use crate::support::Repository;

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        (
            "src/cart.ts",
            "import type { Item } from './item.js';\n\n/** A cart. */\nexport class Cart {\n  private items: Item[] = [];\n\
             \x20 total(): number {\n    return this.items.reduce((sum, item) => sum + item.price, 0);\n  }\n}\n\n\
             function helper() {}\nexport const cart = new Cart();\ncart.total();\n",
        ),
        ("src/item.ts", "export interface Item {\n  name: string;\n  price: number;\n}\n"),
        ("src/main.ts", "import { Cart as Basket } from './cart.js';\nconst b = new Basket();\nb.total();\n"),
        ("README.md", "# app\n"),
    ])
}

#[test]
fn outlines_show_lines_and_signatures() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/cart.ts (13 lines)
          4-9  export class Cart { … }
          5      private items: Item[] = [];
          6-8    total(): number { … }
          11   function helper() { … }
          12   export const cart = new Cart();
        src/item.ts (4 lines)
          1-4  export interface Item { … }
          2      name: string;
          3      price: number;
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["outline", "src/cart.ts", "src/item.ts"]));
}

#[test]
fn small_budgets_keep_what_is_exported() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/cart.ts (13 lines)
          4-9  export class Cart { … }
          12   export const cart = new Cart();
        3 declarations left out; --budget 0 shows all
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["outline", "src/cart.ts", "--limit", "2"]));
    let all = repository.stan(&["outline", "src/cart.ts", "--budget", "40"]);
    assert!(all.contains("left out"), "{all}");
}

#[test]
fn symbols_are_found_where_they_are_declared_and_used() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/cart.ts:4-9  export class Cart { … }
        2 uses in 2 files
          src/cart.ts: 12 cart
          src/main.ts: 2 b
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["symbol", "Cart"]));
    expect![[r#"
        exit 0
        --- stdout
        src/cart.ts:6-8  total(): number { … }
        2 uses in 2 files
          src/cart.ts: 13
          src/main.ts: 3
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["symbol", "Cart.total"]));
}

#[test]
fn unknown_names_are_reported_with_similar_ones() {
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: there is no such file
          `src/carts.ts`; did you mean `src/cart.ts`?
    "#]]
    .assert_eq(&repository.stan(&["outline", "src/carts.ts"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: nothing of that name is declared
          `Crat`; did you mean `Cart`, `cart`?
    "#]]
    .assert_eq(&repository.stan(&["symbol", "Crat"]));
    let other = repository.stan(&["outline", "README.md"]);
    assert!(other.contains("no outline for files of this kind"), "{other}");
}
