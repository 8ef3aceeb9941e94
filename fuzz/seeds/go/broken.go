package
import (
func (
)) } {{{ 
func ok() { used() }
"open
`raw