/** What waits for a person is chosen before a list of it is cut. */
import t from 'tap'
import type { Waiting } from '../../src/governance/waiting.js'
import { waitingOf } from '../../src/fabric/waiting.js'
import { newId } from '../../src/base/ids.js'
import { jobCollection } from '../../src/codehost/jobs/job-rows.js'
import { collections, type Task } from '../../src/governance/rows.js'
import { taskAt } from '../support/tasks.js'
import { processWorld } from '../support/service/serving.js'
import { working, type Working } from '../support/codehost/working.js'

/** More than are told of one kind one by one. */
const many = 51

const waits = async (world: Working, what: Waiting['what']) => {
  const { gov } = world
  const looking = {
    gov, view: gov.store.read(), session: world.session(),
    world: processWorld(world, new AbortController().signal),
  }
  return (await waitingOf(looking)).filter((one) => one.what === what)
}

/** So many newer tasks of the same owner and state, changed in this. */
const addNewer = (world: Working, like: Task, change: Partial<Task>): Promise<void> =>
  world.transact((tx) => {
    const spec = like.state === 'blocked' ? collections.openTasks : collections.closedTasks
    for (let n = 0; n < many; n += 1) {
      const [task_id, operation_id] = [newId('task'), newId('op')]
      tx.put(spec, task_id, { ...like, task_id, operation_id, ...change })
      if (like.state !== 'blocked') continue
      tx.put(collections.openReservations, operation_id, {
        operation_id, runtime: 'alpha_text', profile: 'p', task_id, principal: like.owner,
        bound_microusd: 1, state: 'unknown', charged_microusd: null, overrun: 'none', row_ids: [],
        updated_at: like.updated_at,
      })
    }
  })

t.test('a result to review and a held one are told though fifty newer tasks were reviewed or wait for their charge, and charges are counted beyond fifty', async (t) => {
  const world = await working(t)
  const done = await taskAt(world, world.session(), 'succeeded')
  await addNewer(world, done, { review: 'approved' })
  t.hasStrict(await waits(world, 'review'), [
    { count: 1, command: `sallyport task show ${done.task_id} --output` },
  ])
  const held = await taskAt(world, world.session(), 'blocked', {
    kind: 'answer_held', reason: 'save_in_progress',
  })
  await addNewer(world, held, { blocked: { kind: 'cost_liability', reason: 'x' } })
  t.hasStrict(await waits(world, 'held_result'), [
    { count: 1, command: `sallyport task review ${held.task_id} --accept-held` },
  ])
  t.hasStrict(await waits(world, 'unknown_charge'), [
    { count: many, command: 'sallyport ledger reservations' },
  ])
})

t.test('a job that waits is told though fifty newer ones of its state were closed; of more than fifty the number of the others is told', async (t) => {
  const world = await working(t)
  const id = await world.prepare()
  t.equal((await waits(world, 'job'))[0]?.command, `sallyport codehost preview ${id}`,
    'it is read before it is approved')
  const job = world.job(id)
  const put = (change: object) => world.transact((tx) => {
    for (let n = 0; n < many; n += 1) {
      const job_id = newId('job')
      tx.put(jobCollection, job_id, { ...job, job_id, ...change })
    }
  })
  await put({ closed: { closure_id: 'clo_1', at: job.updated_at, fence: 1 } })
  const found = await waits(world, 'job')
  t.equal(found.length, 1)
  t.match(found[0]?.command, id)
  await put({})
  const all = await waits(world, 'job')
  t.equal(all.length, many)
  t.hasStrict(all.at(-1), {
    count: 2, text: '2 more jobs wait.', command: 'sallyport codehost jobs --state prepared',
  })
})
