/** What a closure leaves durable, what it is derived from, and what an inspection answers. */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { canonicalJson } from '../../../src/base/canonical.js'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import {
  checkpointHistory, effectHistory, jobEntries,
} from '../../../src/codehost/jobs/histories.js'
import { collections } from '../../../src/governance/rows.js'
import { historyHead } from '../../../src/state/history/read-history.js'
import { failure, must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { publicationClosing } from '../../support/codehost/publication-closing.js'
import { t } from '../../support/tests-in-slices.js'

const digestOf = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

const storedIn = (at: Closing, name: string): string =>
  join(at.place.stateDir, 'artifacts', name.slice(0, 2), name)

t.test('C-034 C-052 C-053 C-054 C-056 C-093 a closure binds request, key, job, session, moment and account, and leaves ledger and money as they were', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Bound', 'numbered')
  const request = at.request(job)
  const money = async (): Promise<string> => (await at.run(['ledger', 'show', '--json'])).stdout
  const [ledger, before, effects] = [
    await money(), at.connection(), historyHead(at.view(), effectHistory, job),
  ]
  t.hasStrict(before, {
    connection_id: at.id, repository: 'operator/notes', owner: at.job(job).owner, mode: 'active',
    active_job_id: job, revision: request['expected_connection_revision'],
    active_fence: request['expected_connection_fence'],
  })
  const { receipt } = must(await at.close(job, request)).json()
  const [row] = at.view().all(closureCollection)
  const bytes = canonicalJson(request)
  t.hasStrict(row?.doc, {
    job_id: job, root: at.job(job).root, owner: at.job(job).owner, connection_id: at.id,
    idempotency_key: request['idempotency_key'], request: bytes, request_sha256: digestOf(bytes),
    closure_id: receipt.closure_id, closed_at: receipt.closed_at, receipt,
  })
  const checkpoint = jobEntries(at.view(), checkpointHistory, job).at(-1)
  t.hasStrict(checkpoint, {
    what: 'closed', at: receipt.closed_at, job_id: job, root: at.job(job).root,
    closure_id: receipt.closure_id, idempotency_key: request['idempotency_key'], request: bytes,
    request_sha256: digestOf(bytes), artifact_stored_sha256: row?.doc.artifact.stored_sha256,
  })
  const account = storedIn(at, row?.doc.artifact.stored_sha256 ?? '')
  t.equal(digestOf(readFileSync(account)), basename(account))
  t.equal(statSync(account).mode & 0o077, 0, 'nobody else reads it')
  t.strictSame(historyHead(at.view(), effectHistory, job), effects)
  t.equal(await money(), ledger)
})

t.test('C-126 what a closure proves is out of the state: offered from outside it is nothing', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Outside', 'numbered')
  const plan = at.view().get(collections.artifacts, at.job(job).plan.artifact_id)
  const stored = storedIn(at, plan?.ref.stored_sha256 ?? '')
  for (const [name, value] of [['principal', 'pri_x'], ['root', 'rot_x'], ['attempt', 9],
    ['repository', 'o/r'], ['connection_id', at.id], ['process_proof', 'x']] as const) {
    t.equal(failure(await at.close(job, { ...at.request(job), [name]: value })).code,
      'request_invalid', name)
  }
  const outside = join(at.place.cwd, basename(stored))
  renameSync(stored, outside)
  t.strictSame(await at.during(async () => {
    t.hasStrict((await at.close(job, at.request(job))).error(), {
      code: 'closure_blocked', reason: 'prepared_bytes_missing',
    })
  }), [])
  renameSync(outside, stored)
  must(await at.close(job, at.request(job)))
})

const inspectOf = (at: Closing, job: string, request: object) => at.run(['codehost', 'inspect', job,
  '--json', '--from', at.place.write('inspected.json', JSON.stringify(request))])

t.test('C-133 C-136 C-137 C-138 C-141 an inspection gives one of three answers, only to its owner in a live session, and changes no byte', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Inspected', 'numbered')
  const request = at.request(job)
  // An account without a record and a kept request lie there.
  await at.close(job, request, {
    at: (step) => {
      if (step === 'closure.staged') throw new Error('stopped here')
    },
  })
  const files = at.bytes()
  t.hasStrict(must(await inspectOf(at, job, request)).json(), {
    verdict: 'inconclusive', receipt: null,
  })
  t.equal(failure(await inspectOf(at, job, { ...request, more: 1 })).code, 'request_invalid')
  const passed = { ...request, expected_job_revision: request['expected_job_revision'] - 1 }
  t.hasStrict(must(await inspectOf(at, job, passed)).json(), { verdict: 'stale', receipt: null })
  t.strictSame([...at.bytes()], [...files])
  const { receipt } = must(await at.close(job, request)).json()
  const applied = must(await inspectOf(at, job, request)).json()
  t.equal(applied.verdict, 'applied')
  t.strictSame(applied.receipt, receipt)
  t.strictSame(applied.receipt, at.view().all(closureCollection)[0]?.doc.receipt)
  must(await at.run(['login', '--replace', '--json']))
  must(await at.run(['logout']))
  const ended = await inspectOf(at, job, request)
  t.not(ended.status, 0)
  t.equal(ended.stdout, '', 'none of the three')
})

t.test('C-135 whoever inspects while others close is told of one moment', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Both', 'numbered')
  const request = at.request(job)
  const told: string[] = []
  await at.close(job, request, {
    at: async (step) => {
      if (!step.startsWith('closure.')) return
      const { verdict, receipt } = must(await inspectOf(at, job, request)).json()
      told.push(`${verdict} ${receipt === null ? 'without' : 'with'}`)
    },
  })
  const last = must(await inspectOf(at, job, request)).json()
  t.equal(last.verdict, 'applied')
  t.ok(told.length >= 3, `${told.length} times`)
  const allowed = ['inconclusive without', 'applied with']
  t.strictSame([...new Set(told)].filter((one) => !allowed.includes(one)), [])
  t.strictSame([...told].sort((a, b) => allowed.indexOf(a) - allowed.indexOf(b)), told,
    'and never of an earlier one again')
})

t.test('C-132 both kinds are closed by the same record: the same rows, lines and receipt, or none of them', async (t) => {
  const shapes: unknown[] = []
  const publications = await publicationClosing(t)
  const worlds = [
    [await closing(t), async (at: Closing) => at.unknown('One', 'numbered')],
    [publications, async () => publications.stopped('ref')],
  ] as const
  for (const [at, unknown] of worlds) {
    const job = await unknown(at)
    const request = at.request(job)
    const before = at.bytes()
    await at.close(job, request, {
      at: (step) => {
        if (step === 'closure.staged') throw new Error('stopped here')
      },
    })
    t.strictSame([...at.bytes()], [...before], 'nothing of it')
    const { receipt } = must(await at.close(job, request)).json()
    const [row] = at.view().all(closureCollection)
    const line = jobEntries(at.view(), checkpointHistory, job).at(-1)
    shapes.push([row?.doc ?? {}, line ?? {}, receipt, receipt.evidence, receipt.job]
      .map((one) => Object.keys(one).sort()))
  }
  t.strictSame(shapes[0], shapes[1])
})
