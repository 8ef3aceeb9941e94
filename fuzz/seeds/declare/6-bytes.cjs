﻿require('é'); require('�');  require("b")
require('c')require('d')