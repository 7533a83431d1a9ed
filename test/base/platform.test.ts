/** What each record of a system answers. */
import t from 'tap'
import fs, { closeSync, openSync, realpathSync, renameSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { errnoOf } from '../../src/base/errno.js'
import { darwin } from '../../src/base/platform/darwin.js'
import { linux } from '../../src/base/platform/linux.js'
import { other, windows } from '../../src/base/platform/other.js'
import { platformOf } from '../../src/base/platform/this-platform.js'
import { systemClock } from '../../src/base/clock.js'
import { createState } from '../../src/state/create.js'
import { nodeFiles } from '../../src/state/files.js'
import { kernelStateLock } from '../../src/state/lock.js'
import { errorOf } from '../support/refused.js'

t.test('a system is chosen by the name that Node gives it', (t) => {
  t.strictSame((['linux', 'darwin', 'win32', 'freebsd'] as const).map(platformOf),
    [linux, darwin, windows, other])
  t.end()
})

t.test('on Linux an open file is found whatever its name is by now, and elsewhere nobody says so', (t) => {
  const dir = realpathSync(t.testdir({ a: 'text' }))
  const fd = openSync(join(dir, 'a'), 'r')
  t.teardown(() => closeSync(fd))
  renameSync(join(dir, 'a'), join(dir, 'b'))
  t.equal(String(linux.nameOf(fd)), join(dir, 'b'))
  t.equal(fs.readFileSync(linux.placeOf(fd) ?? '', 'utf8'), 'text')
  t.match(linux.bootId(), /^[0-9a-f-]{36}$/)
  t.equal(linux.nameOf(-1), null)
  for (const system of [darwin, other, windows]) {
    t.strictSame([system.nameOf(fd), system.placeOf(fd), system.bootId()], [null, null, null])
  }
  t.end()
})

t.test('a Mac shows a file without a display, another system where there is one, Windows never', (t) => {
  const screen = { DISPLAY: ':0' }
  t.strictSame([linux, darwin, other, windows].map(({ opener }) => [opener({}), opener(screen)]), [
    [null, 'xdg-open'], ['open', 'open'], [null, 'xdg-open'], [null, null],
  ])
  t.equal(linux.opener({ WAYLAND_DISPLAY: 'wayland-0' }), 'xdg-open')
  t.end()
})

t.test('two terminals are of one kind of device, and /dev/null is of another, as each system packs them', (t) => {
  t.equal(linux.deviceKind(0x8801), linux.deviceKind(0x8802))
  t.not(linux.deviceKind(0x8801), linux.deviceKind(0x0103))
  t.equal(darwin.deviceKind(0x10000001), darwin.deviceKind(0x10000002))
  t.not(darwin.deviceKind(0x10000001), darwin.deviceKind(0x03000002))
  t.end()
})

t.test('a quota has a name everywhere, and what a Mac says of a socket is what Linux says', (t) => {
  const unnamed = (errno: number): Error =>
    Object.assign(new Error('x'), { errno: -errno, code: `Unknown system error -${errno}` })
  t.equal(errnoOf(unnamed(constants.errno.EDQUOT)), 'EDQUOT')
  t.equal(errnoOf(unnamed(102)), 'Unknown system error -102', 'on Linux it is another error')
  t.equal(darwin.errnoNames.get(102), 'ENXIO')
  t.equal(errnoOf(Object.assign(new Error('x'), { code: 'EIO' })), 'EIO')
  t.end()
})

t.test('no lock is taken on a disk that others may write past it, and reading is left alone', (t) => {
  const dir = t.testdir({ state: { lock: '' } })
  const real = fs.statfsSync
  t.teardown(() => {
    Object.assign(fs, { statfsSync: real })
    syncBuiltinESMExports()
  })
  const kinds = {
    0x6969: 'NFS', 0x517b: 'SMB', 0xfe534d42: 'SMB', [0xff534d42 - 2 ** 32]: 'SMB',
    0x65735546: 'FUSE', 0x01021997: '9P',
  }
  for (const [type, kind] of Object.entries(kinds)) {
    Object.assign(fs, { statfsSync: () => ({ ...real(dir), type: Number(type) }) })
    syncBuiltinESMExports()
    const lock = kernelStateLock(join(dir, 'state', 'lock'), systemClock)
    const told = errorOf(() => lock.tryTake('test'))
    t.hasStrict(told, {
      code: 'lock_unavailable', reason: 'shared_disk', details: { file_system: kind },
    })
    t.match(told.message, new RegExp(`lies on ${kind}, `))
    t.equal(lock.holder(), null)
    const made = errorOf(() => createState({
      dir: join(dir, 'new/state'), configDir: join(dir, 'config'), profile: {}, nowMs: 0,
      files: nodeFiles,
    }))
    t.equal(made.reason, 'shared_disk')
    t.strictSame(fs.readdirSync(dir), ['state'], 'no folder and no key is made')
    t.equal(darwin.sharedKindOf(dir), null, 'a Mac numbers them anew at each start')
  }
  Object.assign(fs, { statfsSync: real })
  syncBuiltinESMExports()
  const lock = kernelStateLock(join(dir, 'state', 'lock'), systemClock)
  t.equal(lock.tryTake('test'), true)
  lock.close()
  t.end()
})
