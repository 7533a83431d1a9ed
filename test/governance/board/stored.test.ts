/**
 * A state directory that was stored by the program before tasks counted their changes, kept their
 * highest fence and named a place: it opens, reads, goes on and is whole, for ever.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { isoFromMs } from '../../../src/base/clock.js'
import { leaseTask, requireLease } from '../../../src/governance/board/lease.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { getTask } from '../../../src/governance/board/read.js'
import { verifyBoard } from '../../../src/governance/board/verify.js'
import { defaultPrincipal } from '../../../src/governance/principals.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import { checkState } from '../../../src/state/care/check.js'
import { migrateState } from '../../../src/state/care/migrate.js'
import { openStore, type FileStore } from '../../../src/state/store.js'
import type { Tx, View } from '../../../src/state/types.js'
import { minute, stillClock } from '../../support/clock.js'

const stored = join(
  dirname(fileURLToPath(import.meta.url)), '..', 'fixtures', 'board-before-revisions.json',
)

const unpack = (t: Test) => {
  const base = t.testdir()
  const files = JSON.parse(readFileSync(stored, 'utf8')) as Record<string, string>
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(base, path), Buffer.from(text, 'base64'), { mode: 0o600 })
  }
  mkdirSync(join(base, 'state', 'run'), { mode: 0o700 })
  writeFileSync(join(base, 'state', 'lock'), '', { mode: 0o600 })
  return { dir: join(base, 'state'), configDir: join(base, 'config') }
}

const tasksOf = (view: View): readonly Task[] =>
  [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
    .map(({ doc }) => doc)

t.test('an old board reads as one try at each task, under the fence that its lease shows', async (t) => {
  const place = unpack(t)
  await migrateState({ ...place, specs: Object.values(collections) })
  const clock = stillClock()
  const store = openStore({ ...place, mode: 'write', clock }) as FileStore
  t.teardown(() => store.close())
  const view = () => store.read()
  const transact = <T>(fn: (tx: Tx, now: string) => T): Promise<T> =>
    store.transact('test', (tx) => fn(tx, isoFromMs(clock.wallMs())))
  const found = tasksOf(view())
  t.strictSame(found.map(({ state }) => state).sort(), [
    'accepted', 'blocked', 'failed', 'queued', 'succeeded',
  ])
  for (const task of found) t.hasStrict(task, { revision: 1, attempt: 1, place: null })
  const queued = found.find(({ state }) => state === 'queued') as Task
  t.hasStrict(queued, { lease: { fence: 2 }, lease_fence: 2 })
  t.strictSame(
    found.filter(({ lease }) => lease === null).map((task) => task.lease_fence), [0, 0, 0, 0]
  )
  t.strictSame(verifyBoard(view()), [])
  t.equal(defaultPrincipal(view()).name, 'ada', 'its oldest owner is the one that init made')
  const specs = Object.values(collections)
  t.strictSame(checkState({ ...place, specs }).problems, [])

  clock.advance(3 * minute)
  await t.rejects(
    transact((tx, now) => leaseTask(tx, now, queued.task_id, 'two', queued.deadline_at)),
    { code: 'lease_expired' },
  )
  const accepted = found.find(({ state }) => state === 'accepted') as Task
  clock.stepWall(-3 * minute)
  await transact((tx, now) => {
    moveTask(tx, now, accepted.task_id, 'queued', { revision: 1 })
    leaseTask(tx, now, accepted.task_id, 'two', isoFromMs(clock.wallMs() + minute))
    moveTask(tx, now, accepted.task_id, 'running')
  })
  t.hasStrict(getTask(view(), accepted.task_id), { revision: 4, lease_fence: 1 })
  t.ok(requireLease(view(), queued, 'one', 2, clock.wallMs()), 'its holder holds it still')

  await store.exclusive('fold', () => store.checkpoint())
  t.strictSame(verifyBoard(view()), [], 'folded, with rows of both programs')
  t.ok(checkState({ ...place, specs }).ok)
})
