import {A} from './a';
export default function F<T,>() { return <A.B x={<C/>} {...y}>text {/* c */} 'import "no"'</A.B>; }
