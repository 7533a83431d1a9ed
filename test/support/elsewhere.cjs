/**
 * Loaded before the program: another machine, as far as it is refused. ELSEWHERE says which: `musl`
 * (its C library in the maps, and no add-on that loads), `windows`, `lost` (no add-on where there
 * should be one), or the number of a kind of disk.
 */
'use strict'
const fs = require('node:fs')
const Module = require('node:module')

const where = process.env.ELSEWHERE
const { readFileSync, statfsSync } = fs
if (where === 'windows') Object.defineProperty(process, 'platform', { value: 'win32' })
else if (where === 'musl' || where === 'lost') {
  if (where === 'musl') {
    fs.readFileSync = (path, ...rest) => (path === '/proc/self/maps'
      ? '7f00-7f01 r-xp 0 00:00 1 /lib/ld-musl-x86_64.so.1\n' : readFileSync(path, ...rest))
  }
  const load = Module._extensions['.node']
  Module._extensions['.node'] = (module, path) => {
    if (path.includes('fs-native-extensions')) throw new Error('libc.so.6: no such file')
    return load(module, path)
  }
} else fs.statfsSync = (...args) => ({ ...statfsSync(...args), type: Number(where) })
Module.syncBuiltinESMExports()
