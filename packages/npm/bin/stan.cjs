#!/usr/bin/env node
'use strict';
require('./run.cjs')('stan');
