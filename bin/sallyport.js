#!/usr/bin/env node
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
const supported = major > 22 ? major >= 24 : minor >= { 20: 19, 22: 13 }[major]
if (supported) {
  module.enableCompileCache?.()
  await import('../dist/sallyport.js')
} else {
  process.stderr.write('sallyport needs Node 20.19, 22.13 or 24 and later.\n')
  process.exitCode = 1
}
