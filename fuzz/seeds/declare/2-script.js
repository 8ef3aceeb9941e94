#!/usr/bin/env node
<!-- html
var a = b / c / require('./d'), e = /[/]'/g; label: for (;;) { if (x) break label }
\u0069mport('./esc\u0061pe');
-->