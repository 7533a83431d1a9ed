/** What changes between two boundaries of one request of a closure is seen at the second one. */
import t from 'tap'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { collections } from '../../../src/governance/rows.js'
import { putStop } from '../../../src/state/stop-folder.js'
import { newStop } from '../../../src/governance/stops/act.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { slice } from '../../support/slice.js'
import { stopsDirOf } from '../../support/stops-dir.js'

type Change = readonly [(at: Closing, job: string) => unknown, string]

const changes: Readonly<Record<string, Change>> = {
  'its job is another one': [
    (at, job) => at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), attempt: 99 })),
    'job_attempt',
  ],
  'its connection is at another revision': [
    (at) => at.transact((tx) => tx.put(connectionCollection, at.id, {
      ...at.connection(), revision: 99,
    })), 'stale_connection_revision',
  ],
  'its token is another one': [
    (at) => at.transact((tx) => {
      const ref = at.connection().credential_ref
      const row = tx.get(collections.credentials, ref)
      if (row !== undefined) tx.put(collections.credentials, ref, { ...row, updates: 99 })
    }), 'credential_changed',
  ],
  'its operator is stopped, which nobody has recorded yet': [
    (at, job) => putStop(stopsDirOf(at.gov.store), newStop(
      at.clock, { kind: 'principal', target: at.job(job).owner },
      { principal: null, root: null, verb: 'principal disable' })),
    'principal_disabled',
  ],
  'its session has idled away': [(at) => at.clock.stepWall(31 * 60_000), 'session_not_live'],
}

const boundaries = [
  ['closure.before_dial', 1, 0], ['closure.before_first_byte', 1, 0],
  ['closure.before_first_byte', 2, 1],
] as const

const cells = slice('changed before', Object.keys(changes).flatMap((what) =>
  boundaries.map((boundary) => ({ what, boundary }))), {
  axesOf: ({ what, boundary: [step, nth] }) => [what, `${step} ${nth}`],
})

for (const [what, [happens, reason]] of Object.entries(changes)) {
  t.test(`C-216 C-236 no request of a closure leaves once ${what}, at whichever boundary`, async (t) => {
    for (const { boundary: [step, nth, requests] } of cells.filter((one) => one.what === what)) {
      const at = await closing(t)
      const job = await at.unknown('Changed', 'numbered')
      let seen = 0
      const left = await at.during(async () => {
        const ran = await at.close(job, at.request(job), {
          at: async (name) => {
            if (name !== step || (seen += 1) !== nth) return
            await happens(at, job)
          },
        })
        const { code, reason: why } = ran.error()
        t.ok(`${code} ${why}`.includes(reason), `${step} ${nth}: ${code} ${why}`)
      })
      t.equal(left.length, requests, `${step} ${nth}`)
      t.equal(seen, nth)
    }
  })
}
