#!/usr/bin/env node
'use strict'
// Checks Node, turns the compile cache on where Node has one, and starts the program. It is
// CommonJS so that an old Node can read it and say what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number)
const supported = major > 22 ? major >= 24 : minor >= { 20: 19, 22: 13 }[major]
if (supported) {
  const { enableCompileCache } = require('node:module')
  const folder = enableCompileCache && privateFolder()
  if (folder) enableCompileCache(folder)
  require('../dist/sallyport.js')
} else {
  process.stderr.write('sallyport needs Node 20.19, 22.13 or 24 and later.\n')
  process.exitCode = 1
}

// V8 runs what it finds in its cache. Left alone, Node would keep it below the shared temporary
// folder, where whoever comes first owns the name: it lies where this user alone can write.
function privateFolder() {
  const { lstatSync, mkdirSync } = require('node:fs')
  const { isAbsolute, join } = require('node:path')
  try {
    const named = process.env.XDG_CACHE_HOME ?? ''
    const caches = isAbsolute(named) ? named : join(require('node:os').homedir(), '.cache')
    if (!isAbsolute(caches)) return null
    const folder = join(caches, 'sallyport', 'compiled')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const mine = (path) => {
      const { mode, uid } = lstatSync(path)
      return (mode & 0o170077) === 0o040000 && uid === process.getuid()
    }
    return mine(join(caches, 'sallyport')) && mine(folder) ? folder : null
  } catch {
    return null
  }
}
