/** What is left to do of a publication, by its row. */
import t from 'tap'
import { publicationKind } from '../../../src/codehost/jobs/kinds.js'
import { publishStep } from '../../../src/codehost/jobs/publish.js'
import type { Job } from '../../../src/codehost/jobs/job-rows.js'

const row = (of: Partial<Job>): Job => ({
  native_kind: publicationKind, closed: null, reason: null, contacted: 0, created: 0,
  reserved: false,
  plan: { artifact_id: 'art_x', sha256: '0'.repeat(64), effects: 6 }, ...of,
} as Job)

t.test('C-011 only what was never sent goes on: what is lost, refused, given up or wholly sent is left to whoever settles it', (t) => {
  const held = { reserved: true } as const
  const closed = { closure_id: 'cls_x', at: '2026-01-01T00:00:00.000Z', fence: 1 }
  const partly = { ...held, state: 'blocked', contacted: 3, created: 3 } as const
  for (const [of, step] of [
    [{ state: 'prepared' }, 'approve'], [{ state: 'approved' }, 'approve'],
    [{ state: 'running', ...held }, 'no_more'], [{ state: 'cancelled' }, 'no_more'],
    [{ state: 'succeeded', contacted: 6, created: 6 }, 'done'],
    [{ state: 'unknown_external_effect', ...held, contacted: 3, created: 2 }, 'unsettled'],
    [{ state: 'failed', ...held, contacted: 3, created: 2 }, 'unsettled'],
    [{ state: 'failed', reason: 'producer_timed_out' }, 'no_more'],
    [{ state: 'blocked' }, 'approve'],
    [{ state: 'blocked', ...held, reason: 'interrupted_after_spawn' }, 'go_on'],
    [{ state: 'blocked', ...held, reason: 'lock_held' }, 'go_on'],
    [{ state: 'blocked', ...held, reason: 'cancelled_by_owner' }, 'unsettled'],
    [{ state: 'blocked', ...held, reason: 'producer_not_begun' }, 'unsettled'],
    [partly, 'go_on'],
    [{ ...partly, created: 2 }, 'unsettled'],
    [{ ...partly, reason: 'cancelled_by_owner' }, 'unsettled'],
    [{ ...partly, reason: 'remote_taken' }, 'unsettled'],
    [{ ...partly, contacted: 6, created: 6 }, 'unsettled'],
    [{ ...partly, reserved: false, closed }, 'no_more'], [{ state: 'blocked', closed }, 'no_more'],
  ] as const) t.equal(publishStep(row(of)), step, JSON.stringify(of))
  t.end()
})
