#!/usr/bin/env node
'use strict'
// Checks Node and starts the program. It is CommonJS so that an old Node can read it and say what
// is wrong. Node's own compile cache stays off: compiled code comes with the program, and a command
// that only reads writes no file.
const [major, minor] = process.versions.node.split('.').map(Number)
const supported = major > 22 ? major >= 24 : minor >= { 20: 19, 22: 13 }[major]
if (supported) {
  require('../dist/sallyport.js')
} else {
  process.stderr.write('sallyport needs Node 20.19, 22.13 or 24 and later.\n')
  process.exitCode = 1
}
