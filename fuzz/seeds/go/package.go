package p

import (
	"fmt"
	. "dot"
	alias "x.com/go-y/v2"
)

// Doc.
type S struct {
	A, B int `tag`
	Embedded
}

func (s *S) Do(a, b P, c ...R) (n int, err error) {
	x := alias.Call(s.A)
	fmt.Println(x, other)
	return
}
