0print "two"
def broken(:
    import a
  b = (
class
from import x
x = f"{a + {b}}"
