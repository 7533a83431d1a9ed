/** `explain` knows every id that any list prints, and tells nothing that is another owner's. */
import { readFileSync, statSync } from 'node:fs'
import { sha256Hex } from '../../src/base/canonical.js'
import { newId, shortOf, tailOf } from '../../src/base/ids.js'
import { capabilities } from '../../src/fabric/capabilities.js'
import { explainedPrefixes } from '../../src/fabric/explain/explain.js'
import { appendAudit } from '../../src/governance/audit.js'
import { collections } from '../../src/governance/rows.js'
import { receiptCollection } from '../../src/codehost/jobs/receipt.js'
import { jobCollection, standingCollection } from '../../src/codehost/jobs/job-rows.js'
import { digestCollections } from '../../src/shots/digest/digest-rows.js'
import { receiptCollections } from '../../src/shots/receipts/receipt-rows.js'
import { conclusionCollections, conclusionHeadId } from '../../src/shots/report/report-rows.js'
import { explainedWorld, type Explained } from '../support/cli/explained.js'
import { filesBelow } from '../support/codehost/files-below.js'
import { hostMark } from '../support/codehost/working.js'
import { failure, must } from '../support/must.js'
import { flipBit, newestLog } from '../support/state/forge.js'
import { taskAt } from '../support/tasks.js'
import { t } from '../support/tests-in-slices.js'
import { ceilings } from '../support/cli/ceilings.js'
import type { Loose } from '../world/place.js'
import { allVerbs } from '../world/program.js'
import { sessionOf } from '../world/session.js'
import { World } from '../world/world.js'

const idForm = /\b[a-z]+(?:_[a-z]+)?_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}\b/g

const namesWhat = /^(?:schema|completion|help|explain|shots (?:find|explain))|\{/

/** Every line that reads and names no row: each verb that reads stands in that table. */
const lines = ceilings.map(({ line }) => line).filter((line) => !namesWhat.test(line))

/** Ids by their types, with a verb that prints each. */
const printed = async (world: Explained): Promise<ReadonlyMap<string, readonly string[]>> => {
  const found = new Map<string, string[]>()
  for (const line of lines) {
    const ran = must(await world.run([...line.split(' '), '--json']))
    for (const [id] of ran.stdout.matchAll(idForm)) {
      const prefix = id.slice(0, id.lastIndexOf('_'))
      const ids = found.get(prefix) ?? []
      if (!ids.includes(id)) found.set(prefix, [...ids, id])
    }
  }
  return found
}

const wordsOf = (line: string): readonly string[] => line.split(' ').slice(1)

const explained = (world: Explained, id: string) => world.run(['explain', id, '--json'])

const bytesOf = ({ place }: Explained): readonly string[] =>
  [...filesBelow(place.stateDir)].map(([path, bytes]) => `${path} ${sha256Hex(bytes)}`)
    .filter((line) => !line.includes('/run/'))

/** Nothing of it may ever be told. */
const secrets = ['A question?', 'The screen shows', 'A digest.', hostMark, 'A goal']

t.test('`explain` knows every id that any verb which reads prints in JSON, says what it is and what can be done, quotes no content, and changes no byte', async (t) => {
  const world = await explainedWorld(t)
  const before = bytesOf(world)
  const ids = await printed(world)
  t.ok(ids.size > 20, [...ids.keys()].sort().join(' '))
  const related = new Set<string>()
  for (const id of [...ids.values()].flat()) {
    const ran = await explained(world, id)
    t.equal(ran.status, 0, `${id}: ${ran.stderr}`)
    for (const row of ran.status === 0 ? ran.json().rows : []) {
      t.ok(/[.]$/.test(row.text) && row.next.length > 0, `${row.kind}: ${row.text}`)
      for (const line of row.next) {
        t.ok((await allVerbs()).some(({ meta }) => ` ${line} `.includes(` ${meta.name} `)), line)
      }
      for (const one of row.related.filter((one: string) => tailOf(one) !== null)) related.add(one)
      t.ok(row.history.every(({ at }: Loose) => at <= new Date(world.clock.wallMs()).toISOString()))
    }
    t.strictSame(secrets.filter((one) => ran.stdout.includes(one)), [], id)
  }
  for (const id of related) t.equal((await explained(world, id)).status, 0, `related: ${id}`)
  t.strictSame(bytesOf(world), before, 'nothing was written')
})

t.test('A-009 what is one owner’s alone another owner’s `explain` answers as what never was, whole and short; nobody is told who is not logged in', async (t) => {
  const world = await explainedWorld(t)
  const ids = await printed(world)
  const file = world.place.write('passphrase', 'correct horse')
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', file, '--json']))
  must(await world.run(['login', '--owner', 'bob', '--passphrase-file', file, '--json']))
  const shared = ['prn', 'con', 'obs', 'epi', 'prf', 'grt', 'led', 'int', 'aud', 'stp', 'art']
  const own = [...ids].filter(([prefix]) => !shared.includes(prefix))
  t.ok(own.length > 12, own.map(([prefix]) => prefix).join(' '))
  for (const [prefix, all] of own) {
    const never = await explained(world, newId(prefix as 'task'))
    t.equal(failure(never).code, 'id_not_found')
    t.match(never.stderr, /There is no such id here/)
    for (const given of all.flatMap((id) => [id, shortOf(id), id.slice(-8)])) {
      const ran = await explained(world, given)
      t.strictSame([ran.status, ran.stdout, ran.stderr],
        [never.status, never.stdout, never.stderr], `${prefix} ${given}`)
    }
  }
  must(await world.run(['logout', '--json']))
  t.hasStrict(failure(await explained(world, own[0]?.[1][0] ?? '')), {
    status: 4, code: 'session_required',
  })
})

t.test('a short id is found whatever its type; one that fits several is refused with all of them by kind, and typed it is found', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task_id: id, operation_id: op } = await taskAt(at, sessionOf(at), 'succeeded')
  for (const given of [id, shortOf(id), id.slice(-8), id.slice(0, -3)]) {
    const { id: found, rows } = await at.json(['explain', given])
    t.strictSame([found, rows.length, rows[0].kind], [id, 1, 'task'], given)
  }
  t.equal((await at.json(['explain', op])).rows[0].related[0], id, 'an operation without money')
  const goal = `goal_${id.slice('task_'.length)}`
  await at.transact((tx) => {
    const { doc } = tx.all(collections.goals)[0] ?? { doc: undefined }
    if (doc === undefined) throw new Error('there is a goal')
    tx.put(collections.goals, goal, { ...doc, goal_id: goal, is_default: false })
  })
  const refused = await at.run(['explain', id.slice(-8), '--json'])
  t.hasStrict(failure(refused), { status: 3, code: 'id_ambiguous' })
  t.equal(refused.error().details['candidates'], `task ${id}, goal ${goal}`)
  t.equal((await at.json(['explain', shortOf(goal)])).rows[0].kind, 'goal')
})

t.test('only an owner whom nobody disabled for good is led to `principal enable`', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session()
  const file = at.place.write('pass', 'correct horse battery')
  const added = await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  const { id } = added.principal
  const next = async () => (await at.json(['explain', id])).rows[0].next
  await at.transact((tx, now) => {
    const row = tx.get(collections.principals, id)
    if (row !== undefined) {
      tx.put(collections.principals, id, { ...row, disabled_at: now, disabled_by_restore: true })
    }
  })
  const enable = `sallyport principal enable ${id}`
  t.strictSame(await next(), ['sallyport principal list', enable])
  must(await at.run(['principal', 'disable', 'bob', '--yes']))
  t.strictSame(await next(), ['sallyport principal list'])
})

t.test('an id that two collections have is explained by both', async (t) => {
  const world = await explainedWorld(t)
  const [{ id: job }] = await world.json(['codehost', 'jobs'])
  const kinds = async () =>
    (await world.json(['explain', job])).rows.map(({ kind }: Loose) => kind)
  t.strictSame(await kinds(), ['job of the code host'], 'the job of its own task is the same')
  const [{ id: task }] = await world.json(['alpha', 'tasks'])
  await world.transact((tx) => {
    const doc = tx.all(collections.jobs)[0]?.doc
    if (doc === undefined) throw new Error('there is one')
    tx.put(collections.jobs, job, { ...doc, job_id: job, task_id: task })
  })
  t.strictSame(await kinds(), ['job of the code host', 'job of a task'])
})

t.test('what is no id, whatever characters it has, is not there and is not quoted', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  for (const given of [
    '', ' ', 'task', 'task_', '_', 'constructor_1', '__proto__', 'toString_0', '../STATE',
    'op_%2F', 'a/b/c', 'MARK\u0000', 'MARK\u202e', `task_${'0'.repeat(9_000)}`, 'tåsk_1a2b3c4d',
    'task_1A2B3C4D', `${newId('task')} `, `${newId('task')}/x`,
    'zzz_01890000-0000-7000-8000-000000000000',
  ]) {
    const ran = await at.run(['explain', given, '--json'])
    t.hasStrict(failure(ran), { status: 6, code: 'id_not_found' }, given.slice(0, 40))
    const isForm = given.startsWith('zzz_')
    t.equal(ran.stderr.includes('This is not an id'), !isForm, given.slice(0, 40))
    // The example begins so, too.
    if (given.trim().length > 4 && given !== 'task_') {
      t.notOk(ran.stderr.includes(given), given.slice(0, 40))
    }
  }
})

t.test('the text names kind and id, tells what happened with its times and by whom, what can be done, and then what it goes with', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task_id: id } = await taskAt(at, sessionOf(at), 'succeeded')
  const { stdout } = must(await at.run(['explain', id]))
  const lines = stdout.split('\n')
  t.equal(lines[0], `task ${id}`)
  t.match(stdout, /^  It succeeded, and its result waits for your review\.$/m)
  t.match(stdout, /^what happened:$/m)
  t.match(stdout, /task\.admitted by ada/)
  t.match(stdout, /task\.moved/)
  const at2 = lines.indexOf('what can be done:')
  const at3 = lines.indexOf('goes with:')
  t.ok(at3 > at2, 'ids of others come last')
  t.strictSame(lines.slice(at2 + 1, at3).map((line) => line.trim()),
    [`sallyport task show ${id} --output`, `sallyport task review ${id} --approve`,
      `sallyport task review ${id} --reject`, `sallyport task show ${id}`])
  t.ok(wordsOf(lines[at2 + 1] ?? '').length > 0)
})

t.test('what no list prints is explained, too: receipts of jobs, stops, standing authorities, conclusions, producers, prunes', async (t) => {
  const world = await explainedWorld(t)
  const view = world.view()
  const job = view.all(jobCollection)[0]?.doc
  if (job === undefined) throw new Error('there is a job')
  const [producer, conclusion, prune] = [newId('prd'), newId('ccl'), newId('pru')]
  const digest = view.all(digestCollections.episodes)[0]?.doc
  if (digest === undefined) throw new Error('there is a digest')
  const {
    source_observation_ids, content_chars, payload_sha256, artifact_id, model, reply_model,
    reply_provider, prompt_version, operation_id, cost_microusd, written_at,
  } = digest
  const key = sha256Hex('sources')
  await world.transact((tx, now) => {
    tx.put(jobCollection, job.job_id, {
      ...job,
      approval: {
        kind: 'exact', preview_sha256: job.preview_sha256, root: job.root,
        consent_id: job.consent.consent_id, consent_revision: 1, standing_id: null, at: now,
        producer: { producer_id: producer, artifact_id: 'art_x', binding_sha256: key },
        sha256: key,
      },
    })
    tx.put(conclusionCollections.head, conclusionHeadId, { count: 1, newest: key })
    tx.put(conclusionCollections.conclusions, key, {
      source_digest: key, number: 1, input_digest: key,
      made: {
        source_observation_ids, content_chars, payload_sha256, artifact_id,
        model, reply_model, reply_provider, prompt_version, operation_id, cost_microusd, written_at,
        conclusion_id: conclusion, digest_count: 1, digest_ids: [digest.episode_id],
      },
    })
    tx.put(collections.taskPrunes, prune, {
      prune_id: prune, at: now, last_at: now, before: now, principal: job.owner, succeeded: 1,
      failed: 0, cancelled: 0,
    })
  })
  const receipts = view.all(receiptCollections.receipts).map(({ doc }) => doc.receipt_id)
  const stops = view.all(collections.stops).map(({ id }) => id)
  const standings = view.all(standingCollection).map(({ id }) => id)
  const effects = view.all(receiptCollection).map(({ doc }) => doc.receipt.effect.effect_id)
  t.ok([receipts, stops, standings, effects].every((ids) => ids.length > 0))
  for (const [kind, ids] of [
    ['receipt of a job', receipts], ['stop', stops], ['standing authority', standings],
    ['effect of a job', effects.slice(-1)],
    ['conclusion of a report', [conclusion]], ['producer', [producer]], ['prune', [prune]],
  ] as const) {
    for (const id of ids) {
      const ran = await explained(world, id)
      t.equal(ran.status, 0, `${kind} ${id} ${ran.stderr}`)
      t.hasStrict(ran.json().rows, [{ kind }])
    }
  }
})

t.test('a receipt is found among those that are left where a person had some removed', async (t) => {
  const world = await explainedWorld(t)
  const receipts = world.view().all(receiptCollections.receipts)
  const [first, ...others] = receipts
  if (first === undefined) throw new Error('there are receipts')
  await world.transact((tx) => tx.remove(receiptCollections.receipts, first.id))
  for (const { doc } of others) {
    t.equal((await explained(world, doc.receipt_id)).status, 0, String(doc.number))
  }
  t.equal((await explained(world, first.doc.receipt_id)).status, 6)
})

t.test('behind a long audit the moments that the rows name are looked at, and it is said that not all of it was', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' })
  await at.json(['login'])
  const { task_id: id } = await taskAt(at, sessionOf(at), 'succeeded')
  const history = async () => {
    const { rows: [{ history: told, history_whole: isWhole }] } = await at.json(['explain', id])
    return [told.map(({ what }: Loose) => what), isWhole]
  }
  const [first, isAll] = await history()
  t.strictSame([first[0], isAll], ['task.admitted', true])
  await at.transact((tx, now) => {
    for (let n = 0; n < 200; n += 1) {
      appendAudit(tx, now, { what: 'a.thing', principal: null, root: null, subject: null })
    }
  })
  at.clock.advance(60_000)
  must(await at.run(['task', 'review', id, '--approve', '--json']))
  const [told, isWhole] = await history()
  t.ok(told.includes('task.admitted') && told.includes('task.reviewed'), told.join(' '))
  t.equal(isWhole, false)
})

t.test('a damaged state is refused, as it is by what rests on tasks and money', async (t) => {
  const world = await explainedWorld(t)
  const [{ id }] = await world.json(['task', 'list'])
  const log = newestLog(world.place.stateDir)
  flipBit(log, statSync(log).size - 80, 1)
  t.hasStrict(failure(await explained(world, id)), { status: 12, out: '' })
})

t.test('every type of ids that there is can be explained', async (t) => {
  const prefixes = await explainedPrefixes(capabilities)
  const source = readFileSync('src/base/ids.ts', 'utf8')
  const all = [...source.matchAll(/^  \| '([a-z_]+)'/gm)].map(([, one]) => one ?? '')
  t.ok(all.length > 25)
  t.strictSame(all.filter((one) => !prefixes.has(one)), [])
  for (const { name, explained: its } of capabilities) {
    const kinds = Object.keys(await its?.kinds() ?? {})
    t.strictSame(kinds.sort(), [...its?.prefixes ?? []].sort(), name)
  }
})
