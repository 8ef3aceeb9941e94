/// <reference path="./r.d.ts" />
/// <reference types="node" />
export = N; declare namespace N { export import A = B.C; type D<T> = T extends infer U ? `${U & string}` : never; }
export as namespace G;
