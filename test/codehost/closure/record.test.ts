/** The one record: what may be touched while it is made, and who waits for it. */
import { randomUUID } from 'node:crypto'
import {
  mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { anchorOf } from '../../support/anchor.js'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import {
  appendEntry, artifactHistory, checkpointHistory, effectHistory,
} from '../../../src/codehost/jobs/histories.js'
import { journalsMax } from '../../../src/codehost/closure/journals.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { historyHead } from '../../../src/state/history/read-history.js'
import { failure, must } from '../../support/must.js'
import { onCall } from '../../support/codehost/on-call.js'
import { closing } from '../../support/codehost/closing.js'
import { t } from '../../support/tests-in-slices.js'
import type { Loose } from '../../world/place.js'

t.test('C-191 of many identical requests at once one reads the host, and all get the same answer', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Many', 'numbered')
  const request = at.request(job)
  let answers: readonly string[] = []
  const seen = await at.during(async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => at.close(job, request)))
    answers = all.map((ran) => must(ran).stdout)
  })
  t.equal(new Set(answers).size, 1)
  t.strictSame(seen.length, 2, 'one repository, one issue')
  t.equal(at.view().all(closureCollection).length, 1)
  t.equal(at.job(job).revision, request['expected_job_revision'] + 1)
})

t.test('an old copy of the state cannot forget a closure: its record moves the anchor, and the same request again does not', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Anchored', 'numbered')
  const request = at.request(job)
  const anchors: string[] = []
  const note = () => anchors.push(anchorOf(at.place))
  must(await at.close(job, request, {
    at: (step) => {
      if (step === 'closure.staged' || step === 'closure.committed') note()
    },
  }))
  must(await at.close(job, request))
  note()
  const [before, after, again] = anchors
  t.not(after, before, 'the record moved it')
  t.equal(again, after)
})

t.test('C-258 of two keys at once one closes, and the other one is refused', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Two', 'numbered')
  const ran = await Promise.all([at.request(job), at.request(job)].map((one) => at.close(job, one)))
  t.strictSame(ran.map(({ status }) => status).sort(), [0, 5])
  t.equal(failure(ran.find(({ status }) => status === 5) ?? ran[0] as never).code, 'job_closed')
  t.equal(at.view().all(closureCollection).length, 1)
})

t.test('C-238 between the begin of the record and its end no file is opened but those of the log', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Traced', 'numbered')
  const request = at.request(job)
  let from: string[] | null = null
  const opened: string[] = []
  await onCall('openSync', (_number, [path]) => {
    if (from !== null) opened.push(String(path))
  }, async () => {
    must(await at.close(job, request, {
      at: (step) => {
        if (step === 'closure.staged') from = []
        if (step === 'closure.committed') from = null
      },
    }))
  })
  const { stateDir, configDir } = at.place
  const foreign = opened.filter((path) => ![
    join(stateDir, 'wal'), join(stateDir, 'lock'), configDir, join(stateDir, 'witness.log'),
  ].some((own) => path.startsWith(own)))
  // The lock's own line, and the folders whose names a key or a log is synced in.
  t.strictSame(foreign.filter((path) =>
    ![stateDir, dirname(stateDir), join(stateDir, 'run/lock-line')].includes(path)), [])
})

t.test('C-239 whoever holds the guard keeps others from beginning', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Guarded', 'numbered')
  const { holdGuard } = await import('../../../src/state/holds/guard.js')
  const guard = await holdGuard(at.place.stateDir, `close_${job}`)
  const stop = new AbortController()
  const before = at.requests().length
  const waited = at.close(job, at.request(job), {
    stop: stop.signal,
    at: (step) => {
      if (step === 'closure.waits') stop.abort()
    },
  })
  t.equal(failure(await waited).code, 'close_capacity_cancelled')
  t.equal(at.requests().length, before)
  guard.release()
  must(await at.close(job, at.request(job)))
})

t.test('C-073 a history without room for it keeps a closure from asking anybody', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Full', 'numbered')
  await at.transact((tx) => {
    const entry = {
      at: '2026-01-01T00:00:00.000Z', what: 'released' as const, fence: 1, attempt: 1,
      operation_id: null, reason: null,
    }
    const head = historyHead(tx, checkpointHistory, job)
    tx.append(checkpointHistory, job, head, Array.from({ length: 4_096 - head.entries }, () =>
      entry))
  })
  const before = at.bytes()
  t.strictSame(await at.during(async () => {
    t.hasStrict((await at.close(job, at.request(job))).error(), { reason: 'history_full' })
  }), [])
  t.strictSame([...at.bytes()], [...before])
})

t.test('C-073 room for one journal less than a closure may keep is no room for it', async (t) => {
  const needed = 1 + journalsMax(1)
  for (const room of [needed - 1, needed]) {
    const at = await closing(t)
    const job = await at.unknown('Full', 'numbered')
    const before = at.requests().length
    await at.transact((tx) => {
      const entry = {
        at: '2026-01-01T00:00:00.000Z', artifact_id: 'art_x', label: 'x', bytes: 1,
        sha256: 'a'.repeat(64), stored_sha256: 'b'.repeat(64),
      }
      const head = historyHead(tx, artifactHistory, job)
      const length = artifactHistory.entriesMax - room - head.entries
      tx.append(artifactHistory, job, head, Array.from({ length }, () => entry))
    })
    const ran = await at.close(job, at.request(job))
    if (room === needed) must(ran)
    else {
      t.hasStrict(ran.error(), { reason: 'history_full' })
      t.equal(at.requests().length, before, 'nobody was asked')
    }
  }
})

t.test('C-243 a line that the ledger got meanwhile keeps the record from being made', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Ledger', 'numbered')
  const ran = await at.close(job, at.request(job), {
    at: async (step) => {
      if (step !== 'closure.staged') return
      await at.transact((tx) => appendEntry(tx, effectHistory, job, {
        type: 'contacted', at: '2026-01-01T00:00:00.000Z', effect: 1, attempt: 1,
        operation_id: 'op', fence: 1, body_sha256: 'a'.repeat(64),
      }))
    },
  })
  t.hasStrict(ran.error(), { code: 'closure_binding_changed', reason: 'ledger' })
  t.equal(ran.status, 7, 'blocked: no status says that nobody was asked')
  t.equal(at.connection().active_job_id, job)
})

t.test('C-259 a link in the place of the shard of an account is not followed', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Link', 'numbered')
  const outside = at.place.path('outside')
  mkdirSync(outside)
  const artifacts = join(at.place.stateDir, 'artifacts')
  const free = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'))
    .filter((name) => !readdirSync(artifacts).includes(name))
  for (const name of free) symlinkSync(outside, join(artifacts, name))
  const ran = await at.close(job, at.request(job))
  if (ran.status !== 0) {
    t.equal(at.connection().active_job_id, job)
    t.strictSame(readdirSync(outside), [])
  }
  t.strictSame(readdirSync(outside), [], 'nothing was written through a link')
  for (const name of free) rmSync(join(artifacts, name))
})

t.test('C-151 a kept request that was altered is neither sent nor dropped, and takes no other body', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Altered', 'numbered')
  const request = at.request(job)
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 2 })
  await at.close(job, request)
  at.sandbox.faults.clear()
  const path = join(at.place.stateDir, 'pending', `${request['idempotency_key']}.json`)
  const kept: Loose = JSON.parse(readFileSync(path, 'utf8'))
  const key = ['--idempotency-key', request['idempotency_key']]
  const altered: Readonly<Record<string, string>> = {
    'nothing of it': '{}',
    'its key': JSON.stringify({
      ...kept, request: { ...kept.request, idempotency_key: randomUUID() },
    }),
    'its spaces': JSON.stringify(kept, null, 1),
    'the order of its fields': JSON.stringify(Object.fromEntries(Object.entries(kept).reverse())),
  }
  for (const [what, text] of Object.entries(altered)) {
    writeFileSync(path, text)
    const asked = await at.during(async () => {
      for (const words of [['close-capacity', job, '--retry', ...key], ['discard', job, ...key],
        ['inspect', job, ...key]]) {
        const ran = await at.run(['codehost', ...words, '--json'])
        t.equal(failure(ran).code, 'pending_altered', `${words[0]}: ${what}`)
      }
      t.equal(failure(await at.close(job, request)).code, 'pending_altered', what)
    })
    t.strictSame(asked, [])
    t.equal(readFileSync(path, 'utf8'), text, 'it stays')
  }
})

t.test('C-148 without a key a new one is made, unless one is kept; fields out of flags are as strict', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Flags', 'numbered')
  const { idempotency_key: left, ...request } = at.request(job)
  t.type(left, 'string')
  const flags = (more: Record<string, unknown> = {}): string[] =>
    Object.entries({ ...request, ...more }).flatMap(([name, value]) => [
      `--${name.replaceAll('_', '-')}`, ...(value === true ? [] : [String(value)])])
  const close = (words: readonly string[]) =>
    at.run(['codehost', 'close-capacity', job, '--json', ...words])
  t.equal(failure(await close(flags().slice(1))).code, 'request_invalid', 'unacknowledged')
  t.equal(failure(await close([...flags(), '--retry'])).code, 'request_twice')
  at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 2 })
  t.hasStrict((await close(flags())).error(), { reason: 'remote_not_found' })
  at.sandbox.faults.clear()
  t.equal(failure(await close(flags())).code, 'pending_kept')
  const kept = await at.json(['codehost', 'inspect', job])
  t.equal(kept.verdict, 'inconclusive')
  must(await close(['--retry']))
  t.hasStrict(await at.json(['codehost', 'inspect', job]), {
    verdict: 'applied', idempotency_key: kept.idempotency_key,
  })
  t.equal(at.view().get(jobCollection, job)?.closed?.fence, 1)
})

t.test('C-134 C-139 C-140 C-142 an inspector answers out of rows: what is passed is stale, what is not is open', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Inspected', 'numbered')
  const request = at.request(job)
  const inspect = (given: unknown) => at.run(['codehost', 'inspect', job, '--json', '--from',
    at.place.write('inspected.json', typeof given === 'string' ? given : JSON.stringify(given))])
  t.strictSame(await at.during(async () => {
    t.hasStrict(must(await inspect(request)).json(), { verdict: 'inconclusive', receipt: null })
    const padded = JSON.stringify(request).padEnd(2_048)
    t.hasStrict(must(await inspect(padded)).json(), { verdict: 'inconclusive' })
    t.equal(failure(await inspect(`${padded} `)).code, 'inspect_too_long')
    for (const [name, reason] of [
      ['expected_job_revision', 'job_revision_passed'],
      ['expected_connection_revision', 'connection_revision_passed'],
    ] as const) {
      t.hasStrict(must(await inspect({ ...request, [name]: request[name] - 1 })).json(), {
        verdict: 'stale', reason,
      })
      t.hasStrict(must(await inspect({ ...request, [name]: request[name] + 1 })).json(), {
        verdict: 'inconclusive',
      })
    }
    t.equal(failure(await inspect({ ...request, remote_id: 0 })).code, 'request_invalid')
  }), [])
  must(await at.close(job, at.request(job)))
  t.hasStrict(must(await inspect(request)).json(), {
    verdict: 'stale', reason: 'closed_by_other_request',
  })
  t.equal(failure(await at.run(['codehost', 'closures', 'cls_none', '--json'])).code,
    'closure_not_found')
})
