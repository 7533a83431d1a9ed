/** A prune that is cut off, refused, doubled, or runs beside others. */
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pageMax } from '../../src/fabric/prune/pages.js'
import { collections } from '../../src/governance/rows.js'
import { ask, keyOf } from '../support/fabric/copies.js'
import {
  agingWorld, approved, filesOf, isSound, logIn, muchLater, prune,
} from '../support/fabric/pruned.js'
import { must } from '../support/must.js'
import { zeroBlock } from '../support/state/forge.js'
import { t } from '../support/tests-in-slices.js'

/** Steps of a prune, with what a process that dies there leaves to a later one. */
const steps = [
  ['asides_gone', { tasks: 1, files: 2, swept: 0 }],
  ['begun', { tasks: 1, files: 2, swept: 0 }], ['slice', { tasks: 0, files: 0, swept: 2 }],
  ['receipts_gone', { tasks: 0, files: 0, swept: 2 }],
  ['rows_gone', { tasks: 0, files: 0, swept: 2 }], ['forgotten', { tasks: 0, files: 0, swept: 2 }],
  ['files_gone', { tasks: 0, files: 0, swept: 0 }],
] as const

t.test('a prune that is cut off at any step leaves a sound state, a spent key, and nothing that the '
  + 'next one does not finish', async (t) => {
  for (const [step, left] of steps) {
    const rig = await agingWorld(t)
    await approved(rig, 0)
    await muchLater(rig)
    const cut = await prune(rig, [], {
      at: (name) => {
        if (name === `prune.${step}`) throw new Error('cut off')
      },
    })
    t.not(cut.status, 0, step)
    await isSound(t, rig, `${step}: sound`)
    const again = must(await prune(rig)).json()
    t.strictSame(
      { tasks: again.tasks.succeeded, files: again.artifacts, swept: again.swept }, left, step)
    t.equal(filesOf(rig).length, 1, `${step}: the credential alone`)
    const posts = rig.inferences().length
    t.equal((await ask(rig, keyOf(0))).error().code, 'result_pruned', step)
    t.equal(rig.inferences().length, posts, step)
    await isSound(t, rig, `${step}: sound after the next`)
  }
})

t.test('a prune goes slice by slice: what a slice removed stays removed, the rest is still there, '
  + 'and the next run counts only its own', async (t) => {
  const rig = await agingWorld(t)
  await approved(rig, 0)
  const [task] = rig.view().all(collections.closedTasks)
  if (task === undefined) throw new Error('no task')
  // Rows like those of as many asks: what they share does not matter to a slice.
  await rig.transact((tx) => {
    for (let n = 0; n < pageMax; n += 1) {
      const id = `${task.id}-${String(n).padStart(3, '0')}`
      const [jobId, key] = [`${task.doc.job_id}-${n}`, `key-${n}`]
      const job = tx.get(collections.jobs, task.doc.job_id)
      const used = tx.get(collections.idempotency, task.doc.idempotency_key)
      if (job === undefined || used === undefined) throw new Error('no job')
      tx.put(collections.closedTasks, id, {
        ...task.doc, task_id: id, job_id: jobId, idempotency_key: key,
      })
      tx.put(collections.jobs, jobId, { ...job, job_id: jobId, task_id: id })
      tx.put(collections.idempotency, key, { ...used, key, task_id: id })
    }
  })
  await muchLater(rig)
  const cut = await prune(rig, [], {
    at: (name) => {
      if (name === 'prune.slice') throw new Error('cut off')
    },
  })
  t.not(cut.status, 0)
  t.equal(rig.view().all(collections.closedTasks).length, 1)
  t.hasStrict(must(await prune(rig)).json(), { tasks: { succeeded: 1 } })
  const prunes = rig.view().all(collections.taskPrunes).map(({ doc }) => doc.succeeded)
  t.strictSame(prunes, [pageMax, 1])
})

t.test('a prune that is told to stop ends between two slices, and says that what is gone is gone', async (t) => {
  const rig = await agingWorld(t)
  await approved(rig, 0)
  await muchLater(rig)
  const stop = new AbortController()
  const ran = await prune(rig, [], {
    stop: stop.signal,
    at: (name) => {
      if (name === 'prune.begun') stop.abort()
    },
  })
  t.strictSame([ran.status, ran.error().code], [130, 'prune_stopped'])
  t.equal(rig.view().all(collections.closedTasks).length, 0)
  t.equal(filesOf(rig).length, 3, 'its files wait for the next run')
  t.hasStrict(must(await prune(rig)).json(), { tasks: { succeeded: 0 }, swept: 2 })
  await isSound(t, rig)
})

t.test('a damaged state and one that its anchor does not vouch for are not pruned: no byte '
  + 'changes', async (t) => {
  const rig = await agingWorld(t)
  await approved(rig, 0)
  const old = rig.place.path('old')
  cpSync(rig.place.stateDir, old, { recursive: true })
  await approved(rig, 1)
  await muchLater(rig)
  const logs = (dir: string): [string, number][] => readdirSync(join(dir, 'wal'))
    .filter((name) => name.endsWith('.log'))
    .map((name) => [name, statSync(join(dir, 'wal', name)).size])
  const log = logs(rig.place.stateDir).map(([name]) => name).sort().at(-1) ?? ''
  const whole = rig.place.path('whole')
  cpSync(rig.place.stateDir, whole, { recursive: true })
  zeroBlock(join(rig.place.stateDir, 'wal', log), 2000, 50)
  const before = logs(rig.place.stateDir)
  const damaged = await prune(rig)
  t.equal(damaged.status, 12, damaged.stderr)
  t.strictSame(logs(rig.place.stateDir), before)

  rmSync(rig.place.stateDir, { recursive: true })
  cpSync(old, rig.place.stateDir, { recursive: true })
  const stale = logs(rig.place.stateDir)
  const behind = await prune(rig)
  t.strictSame([behind.status, behind.error().code], [7, 'store_behind_anchor'])
  t.equal((await prune(rig, ['--dry-run'])).error().code, 'store_behind_anchor')
  t.strictSame(logs(rig.place.stateDir), stale)
  t.equal(filesOf(rig).length, 3)
})

t.test('two prunes at once, and an ask that is under way: each task is counted once, the ask ends '
  + 'well, and the state is sound', async (t) => {
  const rig = await agingWorld(t)
  for (const n of [0, 1, 2]) await approved(rig, n)
  await muchLater(rig)
  let pruned: Promise<{ tasks: { succeeded: number }, swept: number }[]> | undefined
  must(await ask(rig, keyOf(3), {}))
  const loose = rig.gov.store.artifacts.write('x', Buffer.from('y')).stored_sha256
  const beside = await rig.ask({
    args: ['--idempotency-key', keyOf(4)],
    at: async (step) => {
      if (step !== 'ask.replied') return
      pruned = Promise.all([prune(rig), prune(rig)])
        .then((both) => both.map((one) => must(one).json()))
      await pruned
    },
  })
  must(beside)
  const counts = (await pruned ?? []).map(({ tasks }) => tasks.succeeded)
  t.equal(counts.reduce((sum, one) => sum + one, 0), 3)
  t.ok(filesOf(rig).includes(loose), 'a file without a row may be that of what is under way')
  t.equal(must(await prune(rig)).json().swept, 1, 'and is swept when nothing is')
  t.equal(rig.view().all(collections.closedTasks).length, 2)
  await isSound(t, rig)
  const { task: { id }, answer } = beside.json()
  t.equal(must(await rig.run(['alpha', 'output', id])).stdout, answer)
  t.equal(filesOf(rig).length, 5, 'two questions, two answers, the credential')
})

t.test('without a terminal a prune needs --yes, on one it is asked for and Enter means no; without '
  + 'an age it does nothing', async (t) => {
  const rig = await agingWorld(t)
  await approved(rig, 0)
  await muchLater(rig)
  const line = ['state', 'prune', '--older-than', '30d']
  const asked = await rig.run([...line, '--json'])
  t.strictSame([asked.status, asked.error().code], [2, 'input_required'])
  const terminal = { stdin: true, stdout: true, stderr: true }
  const declined = await rig.run(line, { terminal, answers: [false] })
  t.equal(declined.status, 130)
  const ageless = await rig.run(['state', 'prune', '--yes', '--json'])
  t.strictSame([ageless.status, ageless.error().code], [2, 'age_required'])
  for (const age of ['1m', '23h', '0d']) {
    const young = await rig.run(['state', 'prune', '--older-than', age, '--yes', '--json'])
    t.strictSame([young.status, young.error().code], [3, 'flag_invalid'], age)
  }
  t.equal(rig.view().all(collections.closedTasks).length, 1)
  const accepted = must(await rig.run(line, { terminal, answers: [true] }))
  t.match(accepted.stdout, /Removed 1 ended task \(1 succeeded/)
  t.match(accepted.stdout, /before, .* after\.\nBackups and copies elsewhere keep what they hold\./)
  const told = must(await rig.run([...line, '--dry-run']))
  t.match(told.stdout, /Would remove 0 ended task/)
  await logIn(rig)
})
