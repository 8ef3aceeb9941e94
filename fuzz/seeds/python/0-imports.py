0import os, a.b as c
from .m import (x, y as z)
from .. import *
if TYPE_CHECKING:
    import t
def f(a: "T" = 1, *b) -> list[int]:
    """Doc."""
    import lazy
    return import_module(".k", __package__)
