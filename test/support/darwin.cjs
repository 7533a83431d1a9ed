/**
 * Loaded before the program: makes of Linux what a Mac gives it, as far as that was read.
 * - Locks: the add-on's functions are flock(2) itself, as in its source for Apple (`apple.c`): whole
 *   files alone, a byte range is EINVAL.
 * - Names (APFS as it is delivered): letter case and Unicode form do not tell two names apart, and
 *   are kept as they were first given; a name that is no UTF-8 cannot be made (EILSEQ); a path of
 *   1,024 bytes is too long.
 * - Errors: a socket that is opened is error 102, for which Node has no name, and a folder that is
 *   unlinked is EPERM.
 * - Nothing below /proc can be opened, looked at or read; the platform is called darwin.
 * With KEEP_PLATFORM set it is a Linux without /proc whose locks are flock. What of all this was
 * come by is counted at the end into the file that DARWIN_COUNTS names.
 */
'use strict'
const fs = require('node:fs')
const Module = require('node:module')
const { constants } = require('node:os')
const { dirname, join, resolve } = require('node:path')

const real = { ...fs, promises: { ...fs.promises }, realpathNative: fs.realpathSync.native }
const isMac = !process.env.KEEP_PLATFORM

const counts = {}
const count = (what) => { counts[what] = (counts[what] ?? 0) + 1 }
const failure = (code, text, errno = -(constants.errno[code] ?? 0)) =>
  Object.assign(new Error(`${code}: ${text}`), { code, errno, syscall: 'open' })

// Locks.

/** A table of the C library's calls; the add-on's file is found as the program finds it. */
const library = () => {
  const folder = dirname(require.resolve(`@koromix/koffi-linux-${process.arch}`))
  const musl = real.readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-')
  const holder = { exports: {} }
  process.dlopen(holder, join(folder, `${musl ? 'musl' : 'linux'}_${process.arch}`, 'koffi.node'))
  const flock = holder.exports.load(null).func('int flock(int, int)')
  return { flock, errno: () => holder.exports.errno() }
}

const { flock, errno } = library()
const [shared, exclusive, atOnce, none] = [1, 2, 4, 8]

const wholeFile = (fd, offset, length, how) => {
  count('lock')
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

// Names.

const pathBytesMax = 1_024
const folded = (name) => name.normalize('NFD').toLowerCase()
const isThere = (path) => real.lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** The path by the names that its folders have. */
const stored = (path) => {
  try {
    if (isThere(path)) return path
  } catch {
    return path
  }
  const parent = dirname(path)
  if (parent === path) return path
  const [folder, name] = [stored(parent), path.slice(parent === '/' ? 1 : parent.length + 1)]
  let names = []
  try {
    names = real.readdirSync(folder)
  } catch {
    // The call itself says what is wrong.
  }
  const same = names.find((one) => folded(one) === folded(name))
  if (same !== undefined) count('folded')
  return join(folder, same ?? name)
}

const isUtf8 = (bytes) => Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes)

/** What the system would make of a path that it is given. */
const seen = (path) => {
  if (typeof path === 'number') return path
  const text = Buffer.isBuffer(path) && isUtf8(path) ? path.toString('utf8')
    : path instanceof URL ? require('node:url').fileURLToPath(path) : path
  if (/^\/proc(?:\/|$)/.test(String(text))) {
    count('proc')
    throw failure('ENOENT', 'no such file or directory')
  }
  if (!isMac) return path
  if (Buffer.byteLength(text) >= pathBytesMax) throw failure('ENAMETOOLONG', 'name too long')
  if (typeof text !== 'string' || text === '' || text.includes('\0')) return path
  const named = stored(resolve(text))
  return named === resolve(text) ? path : named
}

/** A name that is no UTF-8 is not made. */
const refuseBytes = (path) => {
  if (isMac && Buffer.isBuffer(path) && !isUtf8(path)) throw failure('EILSEQ', 'illegal sequence')
}

// Errors.

const opnotsupp = 102

const asOnMac = (error, path) => {
  if (!isMac) return error
  if (error.code === 'ENXIO' && real.lstatSync(path, { throwIfNoEntry: false })?.isSocket()) {
    count('socket')
    return Object.assign(error, { code: `Unknown system error -${opnotsupp}`, errno: -opnotsupp })
  }
  if (error.code === 'EISDIR' && error.syscall === 'unlink') {
    count('unlink')
    return Object.assign(error, { code: 'EPERM', errno: -constants.errno.EPERM })
  }
  return error
}

// Every call that takes paths, of the three kinds that Node has.

const one = [
  'access', 'chmod', 'chown', 'lchown', 'lstat', 'lutimes', 'mkdir', 'open', 'opendir', 'readFile',
  'readdir', 'readlink', 'rm', 'rmdir', 'stat', 'statfs', 'truncate', 'unlink', 'utimes',
  'writeFile', 'appendFile',
]
const two = ['rename', 'link', 'copyFile']
const makes = new Set(['mkdir', 'open', 'rename', 'link', 'copyFile', 'symlink', 'writeFile'])

const paths = (name, args) => {
  const from = name === 'symlink' ? 1 : 0
  const till = two.includes(name) || name === 'symlink' ? 2 : 1
  return args.map((arg, at) => {
    if (at < from || at >= till) return arg
    const path = seen(arg)
    const isNew = makes.has(name) && at === till - 1 && typeof path !== 'number'
    if (isNew && !isThere(path)) refuseBytes(path)
    return path
  })
}

const typed = (given, found) =>
  (isMac && folded(String(found)) === folded(resolve(String(given))) ? resolve(given) : found)

for (const name of [...one, ...two, 'symlink']) {
  const [sync, later, callback] = [real[`${name}Sync`], real.promises[name], real[name]]
  if (sync !== undefined) {
    fs[`${name}Sync`] = Object.assign((...args) => {
      try {
        return sync(...paths(name, args))
      } catch (error) {
        if (args[1]?.throwIfNoEntry === false && error.code === 'ENOENT') return undefined
        throw asOnMac(error, args[0])
      }
    }, sync)
  }
  if (later !== undefined) {
    fs.promises[name] = async (...args) => {
      try {
        return await later(...paths(name, args))
      } catch (error) {
        throw asOnMac(error, args[0])
      }
    }
  }
  if (callback !== undefined) {
    fs[name] = Object.assign((...args) => {
      const done = args.at(-1)
      try {
        return callback(...paths(name, args.slice(0, -1)), (error, ...rest) =>
          done(error && asOnMac(error, args[0]), ...rest))
      } catch (error) {
        if (error.errno === undefined) throw error
        process.nextTick(done, error)
        return undefined
      }
    }, callback, { [require('node:util').promisify.custom]: undefined })
  }
}
fs.existsSync = (path) => {
  try {
    return real.existsSync(seen(path))
  } catch {
    return false
  }
}
// Node's own keeps the letters that it was given; the system's has those of the folder.
fs.realpathSync = Object.assign((path, ...rest) =>
  typed(path, real.realpathSync(seen(path), ...rest)), {
  native: (path, ...rest) => real.realpathNative(seen(path), ...rest),
})
fs.promises.realpath = async (path, ...rest) => real.promises.realpath(seen(path), ...rest)
const { chdir } = process
process.chdir = (path) => chdir(seen(path))
fs.watch = (path, ...rest) => real.watch(seen(path), ...rest)
Module.syncBuiltinESMExports()
if (isMac) Object.defineProperty(process, 'platform', { value: 'darwin' })

if (process.env.DARWIN_COUNTS !== undefined) {
  process.on('exit', () => {
    real.appendFileSync(process.env.DARWIN_COUNTS, `${JSON.stringify(counts)}\n`)
  })
}
