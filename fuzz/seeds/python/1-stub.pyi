1from typing import Optional
def f(x: Optional["K"]) -> K: ...
class K:
    a: int
