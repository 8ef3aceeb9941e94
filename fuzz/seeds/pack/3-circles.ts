€import a from "./a"
export = a.b
declare namespace a { export namespace b { const c: a.b } }
interface X extends X { y: X["y"] }
type T<U> = U extends T<U> ? T<T<U>> : never
let t: T<X>; t.y.z
