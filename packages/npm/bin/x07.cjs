#!/usr/bin/env node
'use strict';
require('./run.cjs')('x07');
