@import * as ns from "./ab";
import def, { type T as U } from "./abcde";
enum Color { Red, Green }
namespace N { export interface I { a: Color } export const x: I = { a: Color.Red }; }
function use(this: N.I, { a, ...rest }: N.I = N.x, ...more: U[]): asserts a is Color { ns.f(def, rest, more); }
declare module "./ab" { interface I { b: number } }
abstract class K { abstract m(): Promise<Map<string, U[]>>; get g() { return this.m(); } }
