import {
  closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { newId } from '../../../src/base/ids.js'
import { holdGuard, isHeld, liveGuards, sweepGuards } from '../../../src/state/holds/guard.js'
import {
  isStill, probeFile, removeDeadFile, tryHoldFile,
} from '../../../src/state/holds/kernel-file.js'
import { tryLockFd } from '../../../src/state/kernel-lock.js'
import { startChild } from '../../support/children.js'
import { codeOfWaited as codeOf } from '../../support/refused.js'
import { signalled } from '../../support/signalled.js'
import { until } from '../../support/until.js'
import { temporaryFolder } from '../../world/place.js'

t.test('a guard is held until its release, which leaves no file', async (t) => {
  const dir = temporaryFolder(t)
  t.notOk(isHeld(dir, 'op_1'), 'never held')
  const guard = await holdGuard(dir, 'op_1')
  t.ok(isHeld(dir, 'op_1'))
  t.ok(isHeld(dir, 'op_1'), 'a look changes nothing')
  t.equal(await codeOf(() => holdGuard(dir, 'op_1')), 'guard_held')
  t.notOk(isHeld(dir, 'op_2'), 'one guard is not another')
  guard.release()
  guard.release()
  t.notOk(isHeld(dir, 'op_1'))
  t.strictSame(readdirSync(join(dir, 'run', 'ops')), [])
  ;(await holdGuard(dir, 'op_1')).release()
})

t.test('a second release never touches the guard of a later holder', async (t) => {
  const dir = temporaryFolder(t)
  const first = await holdGuard(dir, 'op_1')
  first.release()
  const second = await holdGuard(dir, 'op_1')
  first.release()
  t.ok(isHeld(dir, 'op_1'))
  second.release()
})

t.test('a guard of a killed process belongs to nobody alive', async (t) => {
  const dir = temporaryFolder(t)
  const operation = newId('op')
  const child = startChild(t, 'guard', { dir, name: operation })
  t.equal(await child.line(), 'held')
  t.ok(isHeld(dir, operation), 'held by another process')
  t.equal(await codeOf(() => holdGuard(dir, operation)), 'guard_held')
  t.equal(sweepGuards(dir), 0, 'a live guard is not swept')
  t.ok(isHeld(dir, operation))
  await child.kill()
  t.notOk(isHeld(dir, operation), 'the kernel released it')
  t.ok(existsSync(join(dir, 'run', 'ops', operation)), 'a look removes nothing')
  ;(await holdGuard(dir, operation)).release()
})

t.test('a child that outlives a killed holder does not keep the guard', async (t) => {
  const dir = temporaryFolder(t)
  const child = startChild(t, 'guard', { dir, name: 'op_1', offspring: true })
  const pid = Number((await child.line()).split(' ')[1])
  t.teardown(() => void signalled(pid, 'SIGKILL'))
  t.equal(await child.line(), 'held')
  await child.kill()
  t.ok(signalled(pid, 0), 'the offspring lives')
  t.notOk(isHeld(dir, 'op_1'))
})

t.test('a guard that was handed to a child is held while the child lives, and no longer', async (t) => {
  const dir = temporaryFolder(t)
  const operation = newId('op')
  const path = join(dir, 'run', 'ops', operation)
  const parent = startChild(t, 'guard', { dir, name: operation, heir: true })
  const pid = Number((await parent.line()).split(' ')[1])
  const endHeir = (): boolean => signalled(pid, 'SIGKILL')
  t.teardown(() => void endHeir())
  t.equal(await parent.line(), 'held')
  parent.process.stdin?.write('hand over\n')
  t.equal(await parent.line(), 'handed over, then released')
  t.ok(isHeld(dir, operation), 'the parent lives and has closed its own')
  t.ok(existsSync(path), 'and has not removed the file')
  t.equal(await codeOf(() => holdGuard(dir, operation)), 'guard_held')
  await parent.kill()
  t.ok(isHeld(dir, operation), 'nor does the death of the parent free it')
  t.equal(sweepGuards(dir), 0)
  endHeir()
  await until('the guard of the dead child is free', () => !isHeld(dir, operation))
  t.ok(existsSync(path))
  t.equal(sweepGuards(dir), 1)
  t.notOk(existsSync(path))
})

t.test('a parent that dies before it hands over leaves the guard to the child all the same', async (t) => {
  const dir = temporaryFolder(t)
  const parent = startChild(t, 'guard', { dir, name: 'op_1', heir: true })
  const pid = Number((await parent.line()).split(' ')[1])
  t.equal(await parent.line(), 'held')
  await parent.kill()
  t.ok(isHeld(dir, 'op_1'), 'the child inherited the descriptor')
  t.ok(signalled(pid, 'SIGKILL'), 'the child lives')
  await until('the guard is free', () => !isHeld(dir, 'op_1'))
})

t.test('a busy guard is waited for with the thread free', async (t) => {
  const dir = temporaryFolder(t)
  const guard = await holdGuard(dir, 'op_1')
  let fired = 0
  const timer = setInterval(() => { fired += 1 }, 1)
  t.equal(await codeOf(() => holdGuard(dir, 'op_1')), 'guard_held')
  clearInterval(timer)
  t.ok(fired > 5, `${fired} timers fired meanwhile`)
  guard.release()
})

t.test('a sweep removes what dead processes left and nothing else', async (t) => {
  const dir = temporaryFolder(t)
  t.equal(sweepGuards(dir), 0, 'no folder yet')
  const operation = newId('op')
  const live = await holdGuard(dir, operation)
  const folder = join(dir, 'run', 'ops')
  const foreign = ['.hidden', 'notes.txt', 'op_a', 'int_2026', `${newId('op')}.bak`]
  for (const name of foreign) writeFileSync(join(folder, name), '')
  const own = (['op', 'int', 'prd', 'job'] as const).map((kind) => newId(kind))
  for (const name of own) writeFileSync(join(folder, name), '')
  const below = newId('op')
  mkdirSync(join(folder, below))
  t.equal(sweepGuards(dir), own.length)
  t.equal(liveGuards(dir), 1, 'a folder of such a name is no guard')
  t.strictSame(readdirSync(folder).sort(), [...foreign, below, operation].sort())
  live.release()
})

t.test('a sweep follows no link in the place of the folder of guards', (t) => {
  for (const linked of ['run', 'run/ops']) {
    const base = temporaryFolder(t)
    const [dir, away] = [join(base, 'state'), join(base, 'away')]
    for (const folder of ['', 'ops']) mkdirSync(join(away, folder), { recursive: true })
    const names = [newId('op'), newId('int')]
    for (const at of [away, join(away, 'ops')]) {
      for (const name of names) writeFileSync(join(at, name), '')
    }
    mkdirSync(dirname(join(dir, linked)), { recursive: true })
    symlinkSync(away, join(dir, linked))
    for (const look of [sweepGuards, liveGuards]) {
      t.throws(() => look(dir), { code: 'folder_replaced', details: { folder: linked } })
    }
    t.strictSame(readdirSync(join(away, 'ops')).sort(), [...names].sort())
    t.strictSame(readdirSync(away).sort(), [...names, 'ops'].sort())
  }
  t.end()
})

t.test('a holder whose file was replaced removes nothing of the new one', async (t) => {
  const dir = temporaryFolder(t)
  const path = join(dir, 'place')
  const old = tryHoldFile(path)
  renameSync(path, join(dir, 'moved'))
  const fresh = tryHoldFile(path)
  t.ok(fresh, 'the path names another file now')
  old?.remove()
  t.equal(probeFile(path), 'live')
  t.notOk(removeDeadFile(path), 'a live file stays')
  fresh?.release()
  t.equal(probeFile(path), 'dead')
  t.ok(removeDeadFile(path))
  t.equal(probeFile(path), 'absent')
  t.ok(removeDeadFile(path), 'already gone')
})

t.test('two who look at once do not take each other for the holder', async (t) => {
  const dir = temporaryFolder(t)
  const path = join(dir, 'run', 'ops', 'op_1')
  mkdirSync(join(dir, 'run', 'ops'), { recursive: true })
  writeFileSync(path, '')
  const fd = openSync(path, 'r+')
  t.teardown(() => closeSync(fd))
  t.ok(tryLockFd(fd, { shared: true }), 'somebody else is looking')
  t.notOk(isHeld(dir, 'op_1'))
})

t.test('a guard name that could leave the folder is refused', async (t) => {
  const dir = temporaryFolder(t)
  for (const name of ['', '.', '..', '../../x', 'a/b', '.x', 'a'.repeat(201), 'a\0b']) {
    t.equal(await codeOf(() => holdGuard(dir, name)), 'guard_name_invalid', JSON.stringify(name))
    t.equal(await codeOf(() => isHeld(dir, name)), 'guard_name_invalid')
  }
})

t.test('a held file in whose place another one lies is not what the path names', (t) => {
  const path = join(temporaryFolder(t), 'held')
  const file = tryHoldFile(path)
  if (file === null) return t.fail('nobody else holds it')
  t.equal(isStill(file.fd, path), true)
  writeFileSync(`${path}.other`, '')
  renameSync(`${path}.other`, path)
  t.equal(isStill(file.fd, path), false)
  file.remove()
  t.equal(existsSync(path), true, 'and what lies there now is not removed')
  t.end()
})
