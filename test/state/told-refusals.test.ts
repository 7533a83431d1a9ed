/** Refusals of a disk, a kernel and a format that no ordinary run meets, by their codes. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { systemFailure } from '../../src/base/errno.js'
import { tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { ioFailure, nodeFiles, type Files } from '../../src/state/files.js'
import { tryLockFd } from '../../src/state/kernel-lock.js'
import { placesOf } from '../../src/state/paths.js'
import { buildSegments } from '../../src/state/segments/build.js'
import { SegmentWriter } from '../../src/state/snapshot/fold.js'
import { codeOf, errorOf } from '../support/refused.js'
import { needsStrace } from '../support/soak/strace.js'
import { temporaryFolder } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'

t.test('an error of the disk is told by what it means, and one that is none stays a defect', async (t) => {
  const codes = {
    EACCES: 'not_permitted', EPERM: 'not_permitted', EROFS: 'not_permitted',
    ENOSPC: 'disk_full', EDQUOT: 'disk_full', EIO: 'io_failed',
  }
  for (const [errno, code] of Object.entries(codes)) {
    const error = ioFailure(Object.assign(new Error('/a/path'), { code: errno }), 'write the log')
    t.strictSame([error.code, error.details], [code, { errno, while: 'write the log' }])
    t.notMatch(error.message, '/a/path')
  }
  t.throws(() => ioFailure(new TypeError('a defect'), 'write the log'), new TypeError('a defect'))
})

t.test('what comes of how a folder was mounted is told with what to do about it', async (t) => {
  const hints = {
    EROFS: /read-only/, EXDEV: /on a volume/, EIO: /state check/,
    EACCES: new RegExp(`as user ${process.getuid?.()}\\.$`), EPERM: /whose the folder is/,
  }
  for (const [code, hint] of Object.entries(hints)) {
    const thrown = Object.assign(new Error('/a/path'), { code, syscall: 'mkdir' })
    t.match(ioFailure(thrown, 'making the folder').next, hint, code)
    if (code !== 'EIO') t.match(systemFailure(thrown)?.next, hint, code)
  }
})

t.test('a quota that is used up is a full disk, though Node has no name for it', async (t) => {
  const node = Object.assign(new Error('a'), {
    code: `Unknown system error ${-constants.errno.EDQUOT}`, errno: -constants.errno.EDQUOT,
  })
  const what = 'write the log'
  t.strictSame(ioFailure(node, what).details, { errno: 'EDQUOT', while: what })
})

t.test('a quota that is used up at the log is told as a full disk', {
  skip: needsStrace,
}, async (t) => {
  const { place } = await World.in(t).state().session()
  const { wal } = placesOf(place.stateDir)
  const [log = ''] = readdirSync(wal).filter((name) => name.endsWith('.log'))
  const ran = spawnSync('strace', [
    '-f', '-qq', '-o', '/dev/null', '-P', join(wal, log),
    '-e', 'inject=pwrite64,write:error=EDQUOT', process.execPath,
    join(await builtApp(), 'sallyport.js'), 'goal', 'add', 'Water the plants.', '--json',
  ], { cwd: place.cwd, env: place.env, encoding: 'utf8' })
  const line = ran.stderr.split('\n').findLast((one) => one.startsWith('{')) ?? '{}'
  t.hasStrict([ran.status, JSON.parse(line).error], [1, {
    code: 'disk_full', details: { errno: 'EDQUOT' },
  }])
})

t.test('a lock that the kernel cannot give is no lock that somebody else holds', async (t) => {
  const fd = openSync(join(temporaryFolder(t), 'file'), 'w')
  t.equal(tryLockFd(fd), true)
  closeSync(fd)
  const refused = errorOf(() => tryLockFd(fd))
  t.strictSame([refused.kind, refused.code], ['failed', 'lock_unavailable'])
})

t.test('a lock file that does not come to be is told, and nothing waits for it', async (t) => {
  // The kernel finds no file of no name, whether it may be made or not.
  t.equal(codeOf(() => tryHoldFile('')), 'lock_file_vanished')
})

t.test('a part of a snapshot that reads otherwise than it was written is no snapshot', async (t) => {
  const dir = temporaryFolder(t)
  mkdirSync(placesOf(dir).collections)
  const rows = Array.from({ length: 400 }, (_, at) => (
    { collection: 'notes', id: `note-${String(at).padStart(3, '0')}`, text: `"${'x'.repeat(999)}"` }
  ))
  const [built] = [...buildSegments(rows)]
  if (built === undefined) throw new Error('nothing was built')
  const write = (number: number, files: Files) =>
    codeOf(() => new SegmentWriter(files, placesOf(dir), number).write(built))
  t.equal(write(1, nodeFiles), 'none')
  /** The disk, which gives one byte of the file back otherwise. */
  const flipping = (at: number): Files => ({
    ...nodeFiles,
    read: (fd, buffer, position) => {
      const count = nodeFiles.read(fd, buffer, position)
      const place = at - position
      if (place >= 0 && place < count) buffer[place] = (buffer[place] ?? 0) ^ 1
      return count
    },
  })
  for (const at of [0, Math.floor(built.bytes.length / 2), built.bytes.length - 1]) {
    t.equal(write(2, flipping(at)), 'snapshot_unreadable', `byte ${at}`)
  }
  const longer: Files = {
    ...nodeFiles,
    fstat: (fd) => ({ ...nodeFiles.fstat(fd), size: built.bytes.length + 1 }),
  }
  t.equal(write(3, longer), 'snapshot_unreadable', 'another length')
  t.strictSame(readdirSync(placesOf(dir).collections).filter((name) => name.endsWith('.seg')),
    ['000000000001.1.seg'], 'none of them has a name')
})
