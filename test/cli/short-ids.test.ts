/** Lists show short ids to people, verbs take them, and scripts that decide name whole ones. */
import type { Test } from 'tap'
import { shortOf, tailOf } from '../../src/base/ids.js'
import { needsWholeIds } from '../../src/cli/short-ids.js'
import { collections, jobsByTaskTail } from '../../src/governance/rows.js'
import { holdGuard } from '../../src/state/holds/guard.js'
import { indexCollection } from '../../src/state/indexes.js'
import { taskAt } from '../support/tasks.js'
import { failure } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { allRecords } from '../world/program.js'
import { sessionOf } from '../world/session.js'
import { World, type StateWorld } from '../world/world.js'

const terminal = { stdin: true, stdout: true, stderr: true }

/** A state with a succeeded and a blocked task of the owner who is logged in. */
const withTasks = async (t: Test) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const made = []
  for (const stage of ['succeeded', 'blocked'] as const) {
    const task = await taskAt(at, sessionOf(at), stage)
    const guard = await holdGuard(at.place.stateDir, task.operation_id)
    t.teardown(() => guard.release())
    made.push(task)
  }
  const [done, blocked] = made
  if (done === undefined || blocked === undefined) throw new Error('no tasks')
  return { at, done, blocked }
}

const asBob = async (at: StateWorld): Promise<void> => {
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  await at.json(['login', '--owner', 'bob', '--passphrase-file', file])
}

/** Lists of rows that there are, and the verb that shows one of them. */
const shown = [
  ['task list', 'task show'], ['alpha tasks', 'alpha task'], ['goal list', 'goal show'],
  ['audit list --limit 5', 'audit show'], ['session list', null],
] as const

t.test('a list on a terminal shows ids short, and the verb beside it takes what it shows', async (t) => {
  const { at } = await withTasks(t)
  for (const [list, show] of shown) {
    const rows: readonly Record<string, string>[] = await at.json(list.split(' '))
    const ids = rows.map((row) => row['id'] ?? '')
    t.ok(ids.length > 0 && ids.every((id) => tailOf(id) !== null), list)
    const { stdout: seen } = await at.run(list.split(' '), { terminal, columns: 200 })
    for (const id of ids) {
      t.ok(seen.includes(shortOf(id)) && !seen.includes(id), `${list}: ${id}`)
      if (show === null) continue
      const whole = await at.run([...show.split(' '), id])
      const short = await at.run([...show.split(' '), shortOf(id)])
      t.strictSame([short.status, short.stdout], [whole.status, whole.stdout], `${show} ${list}`)
    }
    const piped = (await at.run(list.split(' '))).stdout
    const scripted = await at.run([...list.split(' '), '--no-input'], { terminal, columns: 200 })
    for (const id of ids) {
      t.ok(piped.includes(id) && scripted.stdout.includes(id), 'whole in a pipe and in scripts')
    }
  }
  const [own] = await at.json(['session', 'list'])
  const revoked = await at.json(['session', 'revoke', shortOf(own.id)])
  t.hasStrict(revoked, { root: { id: own.id, live: false } })
})

t.test('a short id that another owner’s row has is answered as one that nobody’s has', async (t) => {
  const { at, done } = await withTasks(t)
  await asBob(at)
  const tail = done.task_id.slice(-8)
  for (const given of [tail, `task_${tail}`, done.task_id.slice(0, -1), done.task_id]) {
    const of = async (id: string) => {
      const ran = await at.run(['task', 'show', id, '--json'])
      return [ran.status, ran.stdout, ran.stderr]
    }
    t.strictSame(await of(given), await of(given.startsWith('task') ? 'task_ffffffff' : 'ffffffff'))
    t.hasStrict(failure(await at.run(['task', 'show', given, '--json'])), {
      status: 6, code: 'task_not_found', out: '',
    })
  }
})

t.test('several rows that fit are refused with how many digits name one, and quote nothing', async (t) => {
  const { at, done, blocked } = await withTasks(t)
  const given = 'task_0'
  const ran = await at.run(['task', 'show', given, '--json'])
  t.hasStrict(failure(ran), { status: 3, code: 'id_ambiguous', out: '' })
  t.hasStrict(ran.error(), { details: { field: 'task', rule: 'unique', digits: 8 } })
  t.notOk(ran.stderr.includes(given))
  t.notOk(ran.stderr.includes(tailOf(done.task_id) ?? '') || ran.stderr.includes(blocked.task_id))
  t.equal((await at.json(['task', 'show', done.task_id.slice(-8)])).task.id, done.task_id)
})

t.test('with --no-input what contacts, pays, settles, approves or revokes takes whole ids only', async (t) => {
  const { at, done, blocked } = await withTasks(t)
  const short = shortOf(done.task_id)
  const refused = await at.run(['task', 'review', short, '--approve', '--no-input', '--json'])
  t.hasStrict(failure(refused), { status: 3, code: 'whole_id_needed', out: '' })
  t.hasStrict(await at.json(['task', 'show', short, '--no-input']), { task: { review: 'pending' } })
  const absent = await at.run(['task', 'review', 'ffffffff', '--approve', '--no-input', '--json'])
  t.equal(absent.stderr, refused.stderr, 'it does not tell whether there is such a row')
  t.hasStrict(
    failure(await at.run(['ledger', 'settle', shortOf(blocked.operation_id), '--no-input',
      '--amount-microusd', '0', '--yes', '--json'])),
    { status: 3, code: 'whole_id_needed' })
  t.hasStrict(await at.json(['task', 'review', short, '--approve']), { review: 'approved' })
})

/** The verbs that a script may give no short id, besides those that take none. */
const decisive = [
  'alpha ask', 'alpha review', 'codehost approve', 'codehost close-capacity', 'codehost connect',
  'codehost consent', 'codehost disconnect', 'codehost mode', 'codehost prepare',
  'codehost preview', 'codehost publish', 'codehost recover adopt', 'codehost recover observe',
  'codehost recover reconcile', 'codehost resume', 'codehost revoke', 'codehost run',
  'edge revoke', 'ledger review', 'ledger settle', 'session revoke', 'shots reanalyze',
  'task review',
]

/** What `--after` names where a list goes on behind a row. */
const rowNames = [
  'goal', 'digest', 'observation', 'task', 'row', 'operation', 'session', 'job', 'closure',
].map((name) => `<${name}>`)

t.test('every argument and flag that takes an id is declared, and which verbs decide is a list', async (t) => {
  const verbs = await allRecords()
  const camel = (name: string): string =>
    name.replace(/^--/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  for (const { meta, arguments: taken, flags } of verbs) {
    const named = Object.keys(meta.ids ?? {})
    const all = [...taken.map(({ name }) => camel(name)), ...flags.map(({ long }) => camel(long))]
    t.strictSame(named.filter((name) => !all.includes(name)), [], `${meta.name} has them`)
    const due = [
      ...taken.filter(({ text }) => text.startsWith('id of ')).map(({ name }) => camel(name)),
      ...flags.filter(({ long }) => ['--goal', '--connection', '--device'].includes(long))
        .filter(({ value }) => value !== null).map(({ long }) => camel(long)),
      ...flags.filter(({ long, value }) => long === '--after' && rowNames.includes(value ?? ''))
        .map(({ long }) => camel(long)),
    ]
    t.strictSame(due.filter((name) => !named.includes(name)), [], `${meta.name} declares them`)
  }
  const found = verbs.filter(({ meta }) => meta.ids !== undefined && needsWholeIds(meta))
  t.strictSame(found.map(({ meta }) => meta.name).sort(), decisive)
})

t.test('an entry that is gone is found by state check and made again by state repair', async (t) => {
  const { at, done } = await withTasks(t)
  const short = shortOf(done.task_id)
  await at.transact((tx) => tx.remove(
    indexCollection(collections.jobs, jobsByTaskTail), `${short.slice(-8)}/${done.job_id}`))
  t.equal((await at.run(['task', 'show', short])).status, 6)
  const check = await at.run(['state', 'check', '--json'])
  t.equal(check.status, 12)
  t.match(check.stdout, /index_differs/)
  t.equal((await at.run(['state', 'repair'])).status, 0)
  t.equal((await at.run(['task', 'show', short])).status, 0)
})
