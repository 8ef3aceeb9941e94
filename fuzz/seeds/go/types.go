package q
type I interface {
	M(x T) (y U)
	Parent
}
type G[T any] []T
const (
	A, B = iota, 2
	C
)
var v = map[string]int{
	"a": 1,
}
func F[T any, U N](T, []U) *G[T] { return nil }
