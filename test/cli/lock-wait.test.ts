/** The first signal ends a wait for the lock of the state directory; nothing was written. */
import { readdirSync, readlinkSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { readLockCounters } from '../../src/shots/lock-counters.js'
import { kernelStateLock } from '../../src/state/lock.js'
import { greyPng } from '../support/png.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

/** Whether a process has the file open. */
const hasOpen = (pid: number, path: string): boolean => {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((fd) => readlinkSync(join(folder, fd)) === path)
  } catch {
    return false
  }
}

for (const [what, argv] of [
  ['a verb that mutates', ['goal', 'add', 'later']],
  ['a scheduler that begins', ['shots', 'run', '--once']],
  ['a compaction', ['state', 'compact']],
] as const) {
  t.test(`${what} and waits for the lock ends with the first signal`, async (t) => {
    const world = await World.in(t).state().session()
    const path = join(world.place.stateDir, 'lock')
    const lock = kernelStateLock(path, systemClock)
    t.teardown(() => lock.close())
    await until('nobody holds the lock', () => lock.tryTake('test'))
    const before = world.view().sequence
    let child: ChildProcess | undefined
    const running = world.place.spawn([...argv, '--json', '--wait', '60'], {
      onChild: (started) => { child = started }, coverage: false,
    })
    await until('it waits for the lock', () => hasOpen(child?.pid ?? 0, path))
    child?.kill('SIGINT')
    const ran = await running
    t.equal(ran.status, 130, `not what the end of the wait would tell: ${ran.stderr}`)
    t.equal(world.view().sequence, before)
  })
}

t.test('a watcher that waits for the lock ends as ever with the first signal', async (t) => {
  const world = await World.in(t).state().session().images()
  const path = join(world.place.stateDir, 'lock')
  const lock = kernelStateLock(path, systemClock)
  t.teardown(() => lock.close())
  let child: ChildProcess | undefined
  let said = ''
  const running = world.place.spawn(['shots', 'watch', '--json', '--wait', '60'], {
    coverage: false,
    onChild: (started) => {
      child = started
      started.stdout?.on('data', (chunk: Buffer) => { said += chunk.toString() })
    },
  })
  await until('it watches', () => said.includes('watching'))
  // Read before the lock is held: the first look at the folder may already meet it.
  const { retries } = readLockCounters(world.place.stateDir)
  await until('nobody holds the lock', () => lock.tryTake('test'))
  world.file('a.png', greyPng(64, 48, 1))
  await until('it waits for the lock', () =>
    readLockCounters(world.place.stateDir).retries > retries)
  child?.kill('SIGINT')
  const ran = await running
  t.equal(ran.status, 0, ran.stderr)
  t.match(ran.stdout.trimEnd().split('\n').at(-1), /"stopped"/)
  t.notMatch(ran.stdout, /trouble/)
})
