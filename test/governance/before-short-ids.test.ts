/**
 * A state directory of format 3 that was stored by the program of before short ids: it is refused
 * until `state repair` has made the indexes by which rows are found by the ends of their ids.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { failure, must } from '../support/must.js'
import { World } from '../world/world.js'

const stored = join(
  dirname(fileURLToPath(import.meta.url)), 'fixtures', 'board-before-short-ids.json',
)

/** Ends of the ids of its one task, of that task's operation and of its second goal. */
const ends = { task: '0009dc8e30eb', operation: 'b8bc811058ac', goal: '8e15b38a519b' }

t.test('durability 12: a state of before short ids is brought on by state repair, and then they find its rows', async (t) => {
  const { place } = World.in(t)
  for (const [path, text] of Object.entries(
    JSON.parse(readFileSync(stored, 'utf8')) as Record<string, string>)) {
    const [base, ...rest] = path.split('/')
    const at = join(base === 'state' ? place.stateDir : place.configDir, ...rest)
    mkdirSync(dirname(at), { recursive: true, mode: 0o700 })
    writeFileSync(at, Buffer.from(text, 'base64'), { mode: 0o600 })
  }
  mkdirSync(join(place.stateDir, 'run'), { mode: 0o700 })
  t.hasStrict(failure(await place.run(['status', '--json'])), { code: 'state_too_old' })
  must(await place.run(['state', 'repair']))
  const check = await place.json(['state', 'check'])
  t.strictSame(check.problems, [])
  must(await place.run(['login']))
  const { task } = await place.json(['task', 'show', ends.task.slice(-8)])
  t.ok(task.id.endsWith(ends.task))
  const goal = await place.json(['goal', 'show', `goal_${ends.goal.slice(-8)}`])
  t.hasStrict(goal, { title: 'Learn the tides' })
  const settled = await place.run(
    ['ledger', 'settle', ends.operation.slice(-8), '--amount-microusd', '0', '--yes', '--json'])
  t.hasStrict(failure(settled), { status: 5 }, 'the operation is found, and owes nothing')
})
