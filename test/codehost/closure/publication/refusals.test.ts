/** What is no proof of a publication keeps its capacity, with its reason, and every byte of the
 * state; and each limit holds at its value and blocks one past it. */
import type { Test } from 'tap'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import type { FaultRoute } from '../../../../src/sandbox/types.js'
import type { Loose } from '../../../world/place.js'
import {
  publicationClosing, type PublicationClosing,
} from '../../../support/codehost/publication-closing.js'
import { must } from '../../../support/must.js'
import { t } from '../../../support/tests-in-slices.js'

/** Blocked for a reason: only GETs, and every byte as it was. */
const blockedFor = async (
  t: Test, at: PublicationClosing, job: string, reason: string, more: Loose = {},
): Promise<readonly string[]> => {
  const before = at.bytes()
  const seen = await at.during(async () => {
    const ran = await at.close(job, at.request(job, more))
    t.equal(ran.status, 7, ran.stderr)
    t.hasStrict(ran.error(), { code: 'closure_blocked', reason })
  })
  t.ok(seen.every((one) => one.startsWith('GET ') && !/\/pulls\?|\/git\/refs/.test(one)))
  t.strictSame([...at.bytes()], [...before], 'every byte is as it was')
  t.equal(at.connection().active_job_id, job)
  return seen
}

/** Faults of one reply, by how many reads are let pass before it, and the reason each gives. */
const faults: readonly (readonly [string, number, string])[] = [
  ['C-194 read_not_there', 1, 'remote_not_found'],
  ['C-197 read_malformed', 1, 'readback_malformed'],
  ['C-197 read_duplicate_key', 1, 'readback_malformed'],
  ['C-201 read_truncate', 1, 'readback_truncated'],
  ['C-198 read_oversize', 1, 'readback_too_large'],
  ['C-198 read_oversize_chunked', 1, 'readback_too_large'],
  ['C-197 read_gzip', 1, 'readback_encoded'],
  ['read_redirect_301', 1, 'readback_redirected'],
  ['read_status_500', 1, 'host_failed'],
  ['read_limit_spent', 1, 'rate_limited'],
  ['read_close_before_headers', 1, 'reply_lost'],
  ['repository_renumbered', 0, 'repository_replaced'],
  ['C-244 blob_other_bytes', 0, 'readback_differs'],
  ['C-201 tree_truncated', 0, 'readback_truncated'],
  ['C-244 C-247 tree_cut', 0, 'readback_differs'],
  ['C-244 C-247 tree_other_row', 0, 'readback_differs'],
  ['C-245 commit_other_message', 0, 'readback_differs'],
  ['C-245 ref_moved', 0, 'readback_differs'],
  ['C-196 C-246 pull_closed', 0, 'readback_differs'],
  ['C-246 pull_draft', 0, 'readback_differs'],
  ['C-246 pull_retitled', 0, 'readback_differs'],
  ['C-246 pull_moved', 0, 'readback_differs'],
  ['C-201 C-248 files_cut', 0, 'changed_paths_truncated'],
  ['C-201 C-248 files_twice', 0, 'changed_paths_truncated'],
  ['C-201 files_more', 0, 'changed_paths_truncated'],
]

const json = (body: unknown) => ({ status: 200, body: JSON.stringify(body) })

/** Replies of one route. */
const replies: readonly (readonly [string, FaultRoute, unknown, string])[] = [
  ['C-195 a list in the place of a blob', 'blob', json([]), 'readback_ambiguous'],
  ['C-195 a list in the place of a branch', 'ref', json([{}]), 'readback_ambiguous'],
  ['C-197 an object in the place of a list', 'pull_files', json({}), 'readback_malformed'],
  ['C-210 changed files that are not served', 'pull_files', { status: 404, body: '{}' },
    'changed_paths_missing'],
  ['C-197 a blob without its bytes', 'blob', json({ sha: '0'.repeat(40), size: 1 }),
    'readback_malformed'],
]

t.test('whatever a host says otherwise than what was sent keeps the capacity', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.whole()
  for (const [name, after, reason] of faults) {
    const fault = name.split(' ').at(-1) ?? ''
    await t.test(name, async (t) => {
      const value = fault.startsWith('read_oversize') ? { value: 1_048_577 } : {}
      at.sandbox.faults.set(fault, { service: 'codehost', times: 1, after, ...value })
      await blockedFor(t, at, job, reason)
      at.sandbox.faults.clear()
    })
  }
  for (const [name, route, reply, reason] of replies) {
    await t.test(name, async (t) => {
      at.sandbox.faults.reply(reply as never, { service: 'codehost', route, times: 1 })
      await blockedFor(t, at, job, reason)
      at.sandbox.faults.clear()
    })
  }
  must(await at.close(job, at.request(job)))
  await at.isWhole(t)
})

t.test('C-120 C-192 C-193 C-249 a number and a commit are hints: what is recorded comes first, and nothing is searched for', async (t) => {
  const at = await publicationClosing(t)
  const whole = await at.whole()
  t.strictSame(await blockedFor(t, at, whole, 'pr_number_differs', { pr_number: 2 }), [])
  t.strictSame(await blockedFor(t, at, whole, 'remote_commit_differs', {
    remote_commit_id: '0'.repeat(40),
  }), [])
  must(await at.close(whole, at.request(whole, { pr_number: 1 })))
  const lost = await at.stopped('pull_request')
  t.strictSame(await blockedFor(t, at, lost, 'remote_id_required'), [])
  t.strictSame(await blockedFor(t, at, lost, 'remote_taken', { pr_number: 1 }), [])
  t.equal((await blockedFor(t, at, lost, 'remote_not_found', { pr_number: 9 })).length, 2)
  must(await at.close(lost, at.request(lost, { pr_number: 2 })))
})

t.test('C-199 C-200 C-240 what is missing of plan, contents or ledger blocks before anybody is asked', async (t) => {
  const at = await publicationClosing(t)
  const job = await at.stopped('ref')
  const row = at.job(job)
  const states: readonly (readonly [string, Partial<typeof row>])[] = [
    ['prepared_bytes_missing', { plan: { ...row.plan, artifact_id: 'art_none' } }],
    ['inventory_incomplete', { plan: { ...row.plan, sha256: '0'.repeat(64) } }],
    ['inventory_incomplete', { contacted: 4 }],
    ['inventory_incomplete', { created: 5 }],
  ]
  for (const [reason, change] of states) {
    await at.transact((tx) => tx.put(jobCollection, job, { ...row, ...change }))
    t.strictSame(await blockedFor(t, at, job, reason), [])
    await at.transact((tx) => tx.put(jobCollection, job, row))
  }
})
