 import { type Item, round } from "./a";
export class Cart extends Base<Item> {
  private items: Item[] = [];
  /** Sum. */
  total(): number {
    let sum = 0;
    for (const item of this.items) sum += item.prize;
    return round(sum);
  }
  static total = 1;
}
interface Item { price: number; prizes: { a: string } }
class Base<T> { add(item: T): void {} }
export type A = Partial<Item> | Cart["items"];
export { round } from "./b";
export * from "./cc";
