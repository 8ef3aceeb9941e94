0class K(Base[int], metaclass=M):
    """Doc."""
    x: int = 1
    def __init__(self, y):
        self.y = y
    @property
    def p(self): return super().p
z = [g(i) for i in K(1).y if i]
match z:
    case K(y=1): pass
