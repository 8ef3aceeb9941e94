Àconst a = {
  b: 1,
  c() { return this.b },
} as const;
function f(x: typeof a, y = a.b) { return x.c() }
f(a);
enum E { A, B }
describe("x", () => { it("y", () => { f(a).z(E.A) }) })
