#!/usr/bin/env node
'use strict'
// Checks Node, turns the compile cache on where Node has one, and starts the program. It is
// CommonJS so that an old Node can read it and say what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number)
const supported = major > 22 ? major >= 24 : minor >= { 20: 19, 22: 13 }[major]
if (supported) {
  const { enableCompileCache } = require('node:module')
  if (enableCompileCache) enableCompileCache()
  require('../dist/sallyport.js')
} else {
  process.stderr.write('sallyport needs Node 20.19, 22.13 or 24 and later.\n')
  process.exitCode = 1
}
