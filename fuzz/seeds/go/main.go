//go:build linux
package main
import "C"
func main() { var t struct{ x int }; type own T; L: for { goto L } }
