/** @import {A} from './a' */
/** @type {import('./b').B} */
const {c} = require('./c'), r = createRequire(import.meta.url); r('./d'); require.resolve('e');
module.exports = {c}; define(['amd'], function (require) { require('f'); });
