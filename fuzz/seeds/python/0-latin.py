0# -*- coding: latin-1 -*-
import café
from importlib import resources
resources.files("p").joinpath("a", "b.txt")
