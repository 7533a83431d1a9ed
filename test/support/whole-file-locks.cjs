/**
 * Loaded before the program: makes of Linux what a Mac gives it. The lock add-on's functions are
 * flock(2) itself, as in its source for Apple (`apple.c`): whole files alone, a byte range is
 * EINVAL. Nothing below /proc can be opened, looked at or read, and the platform is called darwin,
 * unless KEEP_PLATFORM is set: then it is a Linux without /proc.
 */
'use strict'
const fs = require('node:fs')
const Module = require('node:module')
const { constants } = require('node:os')
const { dirname, join } = require('node:path')

const failure = (code, text) => Object.assign(new Error(text), { code })

/** A table of the C library's calls; the add-on's file is found as the program finds it. */
const library = () => {
  const folder = dirname(require.resolve(`@koromix/koffi-linux-${process.arch}`))
  const musl = fs.readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-')
  const holder = { exports: {} }
  process.dlopen(holder, join(folder, `${musl ? 'musl' : 'linux'}_${process.arch}`, 'koffi.node'))
  const flock = holder.exports.load(null).func('int flock(int, int)')
  return { flock, errno: () => holder.exports.errno() }
}

const { flock, errno } = library()
const [shared, exclusive, atOnce, none] = [1, 2, 4, 8]

const wholeFile = (fd, offset, length, how) => {
  if (offset !== 0 || length !== 0) throw failure('EINVAL', 'invalid argument')
  if (flock(fd, how) === 0) return
  throw errno() === constants.errno.EWOULDBLOCK
    ? failure('EAGAIN', 'resource temporarily unavailable') : failure('EBADF', 'bad descriptor')
}

const load = Module._extensions['.node']
Module._extensions['.node'] = (module, path) => {
  // The file for Apple, which no Linux can load.
  if (!path.includes('fs-native-extensions')) return load(module, path)
  module.exports = {
    tryLock: (fd, offset, length, isExclusive) =>
      wholeFile(fd, offset, length, (isExclusive ? exclusive : shared) | atOnce),
    unlock: (fd, offset, length) => wholeFile(fd, offset, length, none),
  }
}

const names = [
  'accessSync', 'lstatSync', 'openSync', 'readFileSync', 'readdirSync', 'readlinkSync',
  'realpathSync', 'statSync', 'linkSync',
]
for (const name of names) {
  const real = fs[name]
  fs[name] = Object.assign((path, ...rest) => {
    if (!/^\/proc(?:\/|$)/.test(String(path))) return real(path, ...rest)
    if (rest[0]?.throwIfNoEntry === false) return undefined
    throw failure('ENOENT', 'no such file or directory')
  }, real)
}
const { existsSync, promises } = fs
fs.existsSync = (path) => !String(path).startsWith('/proc/') && existsSync(path)
for (const name of ['lstat', 'open', 'readFile', 'readdir', 'readlink', 'stat']) {
  const real = promises[name]
  promises[name] = async (path, ...rest) => {
    if (String(path).startsWith('/proc/')) throw failure('ENOENT', 'no such file or directory')
    return real(path, ...rest)
  }
}
Module.syncBuiltinESMExports()
if (!process.env.KEEP_PLATFORM) Object.defineProperty(process, 'platform', { value: 'darwin' })
