// Loaded before the program (`node --require`): counts what it asks of the disk on its main thread,
// and writes the counts to the file that SALLYPORT_COUNTS names as it ends.
'use strict'
const fs = require('node:fs')
const { builtinModules, syncBuiltinESMExports } = require('node:module')

const { SALLYPORT_COUNTS: told, SALLYPORT_STATE_DIR: state } = process.env
const counts = { builtins: 0, modules: 0, moduleBytes: 0, opens: 0, reads: 0, bytes: 0, syncs: 0,
  renames: 0 }
/** Paths by descriptor. */
const opened = new Map()

const isState = (path) => typeof path === 'string' && path.startsWith(`${state}/`)
const isModule = (path) => typeof path === 'string' && /\.(?:c?js|cache|node|wasm)$/.test(path)
  && !isState(path)

/** Calls `then` with what a function answered and was given. */
const after = (name, then) => {
  const original = fs[name]
  fs[name] = (...given) => {
    const answer = original(...given)
    then(answer, given)
    return answer
  }
}
after('openSync', (fd, [path]) => {
  opened.set(fd, path)
  if (isModule(path)) counts.modules += 1
  if (isState(path)) counts.opens += 1
})
after('closeSync', (_, [fd]) => opened.delete(fd))
after('readSync', (length, [fd]) => {
  if (isModule(opened.get(fd))) counts.moduleBytes += length
  if (!isState(opened.get(fd))) return
  counts.reads += 1
  counts.bytes += length
})
after('readFileSync', (content, [path]) => {
  if (isModule(path)) {
    counts.modules += 1
    counts.moduleBytes += content.length
  }
  if (!isState(path)) return
  counts.opens += 1
  counts.reads += 1
  counts.bytes += content.length
})
for (const name of ['fsyncSync', 'fdatasyncSync']) after(name, () => (counts.syncs += 1))
after('renameSync', () => (counts.renames += 1))
syncBuiltinESMExports()

const ofPublic = new Set(builtinModules)
const loaded = () => process.moduleLoadList
  .map((line) => /^NativeModule (.*)$/.exec(line)?.[1])
  .filter((name) => name !== undefined && ofPublic.has(name))
const before = new Set(loaded())
process.on('exit', () => {
  counts.builtins = loaded().filter((name) => !before.has(name)).length
  if (process.env.SALLYPORT_COUNTS_NAMES) counts.names = loaded().filter((name) => !before.has(name))
  fs.writeFileSync(told, JSON.stringify(counts))
})
