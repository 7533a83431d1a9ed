/** Looking once more at what a closure proved: what it may, and what it never changes. */
import { closureCollection } from '../../../../src/codehost/jobs/closed/closed-job-rows.js'
import { appendEntry, readHistory } from '../../../../src/codehost/jobs/histories.js'
import { historyHead } from '../../../../src/state/history/read-history.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../../src/governance/connections/connection-rows.js'
import { collections } from '../../../../src/governance/rows.js'
import type { Loose, RunOptions } from '../../../world/place.js'
import { failure, must } from '../../../support/must.js'
import { closing, type Closing } from '../../../support/codehost/closing.js'
import { t } from '../../../support/tests-in-slices.js'

interface Closed extends Closing {
  readonly closed: string
  observe(request?: Loose, how?: RunOptions): ReturnType<Closing['run']>
}

const closed = async (t: Parameters<typeof closing>[0]): Promise<Closed> => {
  const at = await closing(t)
  const job = await at.unknown('Closed', 'numbered')
  must(await at.close(job, at.request(job)))
  const more = {
    closed: job,
    observe: (request: Loose = {}, how?: RunOptions) => {
      const text = typeof request === 'string' ? request : JSON.stringify({
        acknowledged_closure_observation: true,
        expected_read_revision: at.connection().revision, ...request,
      })
      return at.run(['codehost', 'observe', job, '--json', '--from',
        at.place.write('observe.json', text)], how)
    },
  }
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(at), ...Object.getOwnPropertyDescriptors(more),
  }) as Closed
}

const both = ['GET /repos/operator/notes', 'GET /repos/operator/notes/issues/1']

t.test('C-170 C-276 C-277 C-278 C-279 a look after a closure reads by GET alone, adds a line with its journal, and changes nothing else, also where a successor holds the connection', async (t) => {
  const at = await closed(t)
  const successor = await at.unknown('A successor', 'numbered')
  t.equal(at.connection().active_job_id, successor)
  const rows = () => JSON.stringify([
    at.job(at.closed), at.job(successor), at.connection(), at.task(at.job(at.closed).task_id ?? ''),
    at.view().all(closureCollection), at.view().all(collections.roots),
    at.view().all(collections.goals),
  ])
  const before = rows()
  const lines = async () => (await at.json(['codehost', 'job', at.closed, '--history', 'reads']))
    .history.lines.map((line: string) => JSON.parse(line))
  const told = (await lines()).length
  let seen: Loose
  t.strictSame(await at.during(async () => (seen = must(await at.observe()).json())), both)
  t.equal(rows(), before)
  const all = await lines()
  t.equal(all.length, told + 1)
  t.hasStrict(all.at(-1), {
    purpose: 'observation', gets: 2, operation_id: seen.operation,
    journals: [{ sha256: seen.journals[0] }],
  })
  t.hasStrict(seen, { nothing_else_changed: true, effects: [{ effect: 1, remote_id: 1 }] })
  const kept = at.place.write('read.json', must(await at.run(
    ['codehost', 'job', at.closed, '--readback', seen.effects[0].readback])).bytes)
  t.hasStrict(must(await at.run(['codehost', 'verify', kept, '--json'])).json(), {
    receipt: 'read',
  })
  t.equal(failure(await at.run(['codehost', 'resume', at.closed, '--json'])).code, 'job_closed')
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
  const { closed: closure } = at.job(at.closed)
  const receipt = at.place.write('r.json', must(await at.run(
    ['codehost', 'closures', closure?.closure_id ?? '', '--receipt'])).bytes)
  must(await at.run(['codehost', 'verify', receipt]))
})

t.test('C-152 C-173 a look needs its own literal true and the revision of now, and sends nothing without', async (t) => {
  const at = await closed(t)
  const now = at.connection().revision
  const before = at.bytes()
  t.strictSame(await at.during(async () => {
    for (const value of [undefined, false, 1, 'true', null]) {
      const ran = await at.observe({ acknowledged_closure_observation: value })
      t.hasStrict(failure(ran), { status: 3, code: 'request_invalid' }, String(value))
    }
    t.equal(
      failure(await at.observe({ acknowledged_capacity_close: true })).code, 'request_invalid')
    t.equal(failure(await at.observe(
      `{"acknowledged_capacity_close":true,"expected_read_revision":${now}}`)).code,
    'request_invalid')
    for (const value of [0, -1, 1.5, '2', true, null, undefined]) {
      t.equal(failure(await at.observe({ expected_read_revision: value })).code, 'request_invalid')
    }
    for (const value of [now - 1, now + 1]) {
      t.equal(failure(await at.observe({ expected_read_revision: value })).code,
        'stale_read_revision')
    }
    t.equal(failure(await at.run(['codehost', 'observe', at.closed, '--json'])).code,
      'request_invalid')
  }), [])
  t.strictSame([...at.bytes()], [...before])
  must(await at.run(['codehost', 'observe', at.closed, '--acknowledged-closure-observation',
    '--expected-read-revision', String(now)]))
  must(await at.run(['codehost', 'mode', at.id, 'reconcile_only']))
  t.equal(failure(await at.observe({ expected_read_revision: now })).code, 'stale_read_revision')
  must(await at.observe())
})

t.test('C-170 C-171 C-172 C-177 without a closure, or with anything else than it was made under, nothing is sent', async (t) => {
  const at = await closed(t)
  const [job, connection] = [at.job(at.closed), at.connection()]
  const closure = at.view().get(closureCollection, job.closed?.closure_id ?? '')
  if (closure === undefined) throw new Error('it is there')
  const credential = at.view().get(collections.credentials, connection.credential_ref)
  if (credential === undefined) throw new Error('it is there')
  const open = await at.unknown('Open', 'numbered')
  t.strictSame(await at.during(async () => {
    const ran = await at.run(['codehost', 'observe', open, '--json',
      '--acknowledged-closure-observation', '--expected-read-revision',
      String(at.connection().revision)])
    t.hasStrict(failure(ran), { status: 5, code: 'not_closed' })
  }), [])
  const changes: readonly (readonly [string, Parameters<Closing['transact']>[0]])[] = [
    ['closure_contradicted', (tx) => tx.remove(closureCollection, closure.closure_id)],
    ['closure_contradicted', (tx) => tx.put(closureCollection, closure.closure_id, {
      ...closure, root: 'root_other',
    })],
    ['closure_root_ended', (tx) => tx.put(jobCollection, at.closed, {
      ...job, root: 'root_other',
    })],
    ['job_not_found', (tx) => tx.put(jobCollection, at.closed, { ...job, owner: 'prn_other' })],
    ['observation_blocked', (tx) => tx.put(jobCollection, at.closed, {
      ...job, consent: { ...job.consent, revision: 99 },
      plan: { ...job.plan, sha256: '0'.repeat(64) },
    })],
    ['connection_not_found', (tx) => tx.put(connectionCollection, at.id, {
      ...at.connection(), owner: 'prn_other',
    })],
    ['repository_changed', (tx) => tx.put(connectionCollection, at.id, {
      ...at.connection(), repository_id: 77,
    })],
    ['credential_changed', (tx) => tx.put(collections.credentials, connection.credential_ref, {
      ...credential, updates: credential.updates + 1,
    })],
  ]
  for (const [code, change] of changes) {
    const now = at.connection()
    await at.transact(change)
    t.strictSame(await at.during(async () => {
      t.equal(failure(await at.observe({ expected_read_revision: now.revision })).code, code)
    }), [], code)
    await at.transact((tx) => {
      tx.put(closureCollection, closure.closure_id, closure)
      tx.put(jobCollection, at.closed, job)
      tx.put(connectionCollection, at.id, now)
      tx.put(collections.credentials, connection.credential_ref, credential)
    })
  }
  must(await at.observe())
})

t.test('C-177 an ended, replaced or idle session looks at nothing, and a look is no use of one', async (t) => {
  const at = await closed(t)
  at.clock.advance(29 * 60_000)
  must(await at.observe())
  at.clock.advance(2 * 60_000)
  t.strictSame(await at.during(async () => {
    t.equal(failure(await at.observe()).code, 'session_idle')
    must(await at.run(['login', '--json']))
    t.hasStrict(failure(await at.observe()), { status: 4, code: 'closure_root_ended' })
  }), [])
})

t.test('C-174 C-175 C-176 a change at each boundary ends a look: nothing leaves behind it, and no reply counts', async (t) => {
  const at = await closed(t)
  const before = at.view().get(connectionCollection, at.id)
  if (before === undefined) throw new Error('it is there')
  for (const [boundary, requests] of [
    ['observe.before_resolve', 0], ['observe.before_dial', 0], ['observe.before_first_byte', 0],
    ['observe.replied', 1], ['observe.sealed', 2],
  ] as const) {
    let done = false
    const lines = historyHead(at.view(), readHistory, at.closed).entries
    const seen = await at.during(async () => {
      const ran = await at.observe({ expected_read_revision: before.revision }, {
        at: async (step) => {
          if (step !== boundary || done) return
          done = true
          await at.transact((tx) => tx.put(connectionCollection, at.id, {
            ...before, revision: before.revision + 1,
          }))
        },
      })
      t.equal(ran.status, requests === 0 ? ran.status : 7, boundary)
      t.not(ran.status, 0, boundary)
    })
    if (!done && boundary === 'observe.before_first_byte') t.comment('not announced by itself')
    else t.equal(seen.length, requests, boundary)
    await at.transact((tx) => tx.put(connectionCollection, at.id, before))
    t.equal(historyHead(at.view(), readHistory, at.closed).entries, lines, boundary)
  }
  must(await at.observe())
})

t.test('C-171 C-174 C-176 another consent, run or ledger than it was closed under ends a look, and so does its operator', async (t) => {
  const at = await closed(t)
  const job = at.job(at.closed)
  const lines = historyHead(at.view(), readHistory, at.closed).entries
  for (const [boundary, requests] of [
    ['observe.before_resolve', 0], ['observe.replied', 1], ['observe.sealed', 2],
  ] as const) {
    const seen = await at.during(async () => {
      const ran = await at.observe({}, {
        at: async (step) => {
          if (step === boundary) await at.transact((tx) => tx.put(jobCollection, at.closed, {
            ...job, consent: { ...job.consent, revision: 99 },
          }))
        },
      })
      t.hasStrict(ran.error(), {
        code: 'observation_binding_changed', reason: 'job_write_binding',
      }, boundary)
    })
    t.equal(seen.length, requests, boundary)
    await at.transact((tx) => tx.put(jobCollection, at.closed, job))
  }
  let replies = 0
  const passing = await at.observe({}, {
    at: async (step) => {
      if (step === 'observe.replied') replies += 1
      const then = step === 'observe.sealed' || (step === 'observe.replied' && replies === 2)
      if (then) await at.transact((tx) => tx.put(jobCollection, at.closed, {
        ...job, attempt: step === 'observe.sealed' ? job.attempt : 9,
      }))
    },
  })
  t.equal(passing.error().code, 'observation_binding_changed', 'also where it changes back')
  await at.transact((tx) => tx.put(jobCollection, at.closed, job))
  const stop = new AbortController()
  const ran = await at.observe({}, {
    stop: stop.signal, at: (step) => (step === 'observe.replied' ? stop.abort() : undefined),
  })
  t.equal(failure(ran).code, 'observe_cancelled')
  t.equal(historyHead(at.view(), readHistory, at.closed).entries, lines)
})

t.test('C-174 a stop of its owner or session ends a look, one of what writes does not', async (t) => {
  const at = await closed(t)
  must(await at.run(['codehost', 'revoke', at.id]))
  must(await at.observe())
  t.strictSame(await at.during(async () => {
    const ran = await at.observe({}, {
      at: async (step) => {
        if (step === 'observe.before_resolve') must(await at.run(['logout']))
      },
    })
    t.not(ran.status, 0)
  }), [])
})

t.test('what is no evidence any more is told with its reason, recorded nowhere, and changes no byte', async (t) => {
  const at = await closed(t)
  const before = at.bytes()
  for (const [fault, after, reason] of [
    ['read_not_there', 1, 'remote_not_found'], ['issue_other_body', 0, 'readback_differs'],
    ['read_status_500', 0, 'host_failed'], ['read_redirect_301', 1, 'readback_redirected'],
    ['read_close_before_headers', 1, 'reply_lost'],
  ] as const) {
    at.sandbox.faults.set(fault, { service: 'codehost', times: 1, after })
    const ran = await at.observe()
    at.sandbox.faults.clear()
    t.equal(ran.status, 7, fault)
    t.hasStrict(ran.error(), { code: 'observation_blocked', reason }, fault)
    t.strictSame([...at.bytes()], [...before], fault)
  }
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
  const told = await at.run(['codehost', 'observe', at.closed, '--acknowledged-closure-observation',
    '--expected-read-revision', String(at.connection().revision)])
  at.sandbox.faults.clear()
  t.match(told.stderr, /Nothing was recorded.*The closure stands.*codehost recover observe/s)
  const entry = {
    at: '2026-01-01T00:00:00.000Z', operation_id: 'op', purpose: 'readback' as const,
    read_revision: 1, gets: 1, raw_bytes: 1,
    journals: [{ artifact_id: 'art', sha256: 'a'.repeat(64) }], receipts: ['x'],
  }
  await at.transact((tx) => {
    for (let { entries } = historyHead(tx, readHistory, at.closed); entries < 4_096; entries += 1) {
      appendEntry(tx, readHistory, at.closed, entry)
    }
  })
  t.strictSame(await at.during(async () => {
    t.hasStrict((await at.observe()).error(), { reason: 'history_full' })
  }), [])
})
