/**
 * What looking costs beside many closed jobs: lists, one job, one closure and an inspection, each
 * as a whole command, beside 10 closed jobs and beside 10,000, the least processor time of several
 * runs. The rows are put through the store. `npm run bench -- closures`.
 */
import { canonicalJson, digestOf, sha256Hex } from '../src/base/canonical.js'
import { closureCollection, type Closure } from '../src/codehost/jobs/closed/closed-job-rows.js'
import { jobCollection, type Job } from '../src/codehost/jobs/job-rows.js'
import { collections } from '../src/governance/rows.js'
import { withPlace, type BenchPlace } from './place.js'
import { costOf } from './processor.js'
import { seedingGov } from './seed.js'
import type { BenchRow } from './types.js'

const [few, many, runs, ratioMax, perRecord] = [10, 10_000, 7, 1.3, 500]
const at = '2026-11-20T10:00:00.000Z'
const zero = '0'.repeat(64)

const idOf = (kind: string, number: number): string => `${kind}_${String(number).padStart(8, '0')}`

interface Owner {
  readonly owner: string
  readonly root: string
}

const requestOf = (number: number): string => canonicalJson({
  acknowledged_capacity_close: true, expected_connection_fence: 1, expected_connection_revision: 1,
  expected_job_revision: 6,
  idempotency_key: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
})

const jobOf = ({ owner, root }: Owner, number: number): Job => ({
  job_id: idOf('job', number), revision: 7, native_kind: 'codehost_followthrough_v1',
  capability: 'work.codehost-followthrough.v1', state: 'unknown_external_effect', reason: 'reset',
  owner, root, goal_id: 'goal_x', goal_revision: 1, connection_id: 'cnn_x',
  repository: 'operator/notes', repository_id: 1,
  consent: {
    consent_id: 'con_x', binding_sha256: zero, revision: 1, policy_fence: 0, expires_at: at,
  },
  vault: { id: 'v', owner: null, name: 'v', updates: 1, sealed_sha256: zero, sha256: zero },
  token_fingerprint: zero, actions: ['issue.create'], authority_sha256: zero, input_sha256: zero,
  run_sha256: zero, idempotency_key: idOf('key', number), request_sha256: zero,
  plan: { artifact_id: 'art_x', sha256: zero, effects: 1 }, preview_sha256: zero, approval: null,
  task_id: null, attempt: 1, fence: 1, reserved: false, contacted: 1, created: 1,
  remote: { effect: 1, id: number + 1 }, receipt_id: null,
  closed: { closure_id: idOf('cls', number), at, fence: 1 }, created_at: at, updated_at: at,
})

const closureOf = (job: Job, number: number): Closure => {
  const request = requestOf(number)
  const key = (JSON.parse(request) as { readonly idempotency_key: string }).idempotency_key
  return {
    closure_id: idOf('cls', number), job_id: job.job_id, owner: job.owner, root: job.root,
    connection_id: job.connection_id, idempotency_key: key, request,
    request_sha256: sha256Hex(request), closed_at: at, fence: 1,
    artifact: { artifact_id: 'art_x', sha256: zero, stored_sha256: zero, bytes: 1 },
    receipt: {
      schema: 'svc.codehost.closure-receipt.v1', recovery_contract: 'V3',
      closure_id: idOf('cls', number), closed_at: at, principal: job.owner, root: job.root,
      job: {
        id: job.job_id, kind: job.native_kind, capability: job.capability, state: job.state,
        reason: job.reason, attempt: 1, revision_before: 6, revision: 7,
      },
      task: null,
      connection: {
        id: job.connection_id, repository: job.repository, repository_id: 1, revision: 1,
        mode: 'active', fence: 1,
      },
      request: { sha256: digestOf(request), idempotency_key: key },
      effects: { planned: 1, contacted: 1, observed: 1 },
      evidence: {
        artifact_sha256: zero, journals: [zero], fresh: 1, earlier: 0, gets: 2, raw_bytes: 9,
      },
      producer: { applicable: false, standing: 'not_applicable' },
      all_potentially_contacted_effects_observed: true, capacity_closed: true,
      job_and_task_unresolved: true, execution_fenced_for_good: true, no_learning: true,
      approval_history_unchanged: true, goal_history_unchanged: true,
      finance_history_unchanged: true, statement: 'Seeded.', seal: zero,
    },
  }
}

const seed = async (place: BenchPlace, from: number, to: number): Promise<void> => {
  const { store } = seedingGov(place)
  const [root] = store.read().all(collections.roots)
  if (root === undefined) throw new TypeError('somebody logged in before')
  const owner = { owner: root.doc.principal_id, root: root.id }
  for (let next = from; next < to; next += perRecord) {
    await store.transact('bench', (tx) => {
      for (let number = next; number < Math.min(to, next + perRecord); number += 1) {
        const job = jobOf(owner, number)
        tx.put(jobCollection, job.job_id, job)
        tx.put(closureCollection, idOf('cls', number), closureOf(job, number))
      }
    })
  }
  store.close()
}

const job = idOf('job', 5)
const lines: readonly (readonly string[])[] = [
  ['codehost', 'jobs'], ['codehost', 'jobs', '--state', 'unknown_external_effect'],
  ['codehost', 'job', job], ['codehost', 'closures'],
  ['codehost', 'closures', idOf('cls', 5), '--receipt'],
  ['codehost', 'inspect', job, '--from', '-'],
]

const leastCost = (place: BenchPlace, argv: readonly string[]): number =>
  Math.min(...Array.from({ length: runs }, () =>
    costOf(place.line([...argv, ...(argv.includes('jobs') || argv.length === 2
      ? ['--limit', String(few)] : [])], requestOf(5))).processorMs))

/** Measures every line at both sizes. */
export const run = async (): Promise<BenchRow[]> => withPlace(async (place) => {
  place.run('init')
  place.run('login')
  await seed(place, 0, few)
  const before = lines.map((argv) => leastCost(place, argv))
  await seed(place, few, many)
  place.run('state', 'compact')
  return lines.map((argv, n): BenchRow => {
    const [small, large] = [before[n] ?? 0, leastCost(place, argv)]
    const ratio = large / small
    return {
      name: argv.join(' '), ratio, target: `at most ${ratioMax}`, pass: ratio <= ratioMax,
      detail: `${Math.round(large)} ms of processor time beside ${many} closed jobs, `
        + `${Math.round(small)} ms beside ${few}`,
    }
  })
})
