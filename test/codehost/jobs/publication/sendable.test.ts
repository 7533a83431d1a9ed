/** Which POST may be sent next, by every ledger that a publication can have. */
import t from 'tap'
import { putJob } from '../../../../src/codehost/jobs/change.js'
import {
  appendEntry, effectHistory, type EffectEntry,
} from '../../../../src/codehost/jobs/histories.js'
import { nextEffect, requireNext } from '../../../../src/codehost/jobs/sendable.js'
import { publishing } from '../../../support/codehost/publishing.js'

type Standing = 'planned' | 'contacted' | 'created' | 'refused' | 'unknown' | 'unsent'

const sha = 'a'.repeat(64)
const at_ = '2024-01-01T00:00:00.000Z'

const marked = (effect: number): EffectEntry => ({
  type: 'contacted', at: at_, effect, attempt: 1, operation_id: 'op', fence: 1, body_sha256: sha,
})
const outcome = (effect: number, one: 'created' | 'refused' | 'unknown' | 'unsent'): EffectEntry =>
  ({
    type: 'outcome', at: at_, effect, outcome: one, status: null, reason: null, remote_id: null,
    raw_sha256: null,
  })
const produced = (end: 'complete' | 'prefix'): readonly EffectEntry[] => [
  {
    type: 'spawn', at: at_, attempt: 1, operation_id: 'op', fence: 1, producer_id: 'prd',
    binding_sha256: sha,
  },
  { type: 'produced', at: at_, producer_id: 'prd', marker_sha256: sha, end, reason: null },
]
const linesOf = (standings: readonly Standing[]): readonly EffectEntry[] =>
  standings.flatMap((one, place): readonly EffectEntry[] => {
    if (one === 'planned') return []
    return one === 'contacted' ? [marked(place + 1)]
      : [marked(place + 1), outcome(place + 1, one)]
  })

class RolledBack extends Error {}

t.test('what was marked is never the next, unless no byte of it left; the next is the first behind all that were made', async (t) => {
  const at = await publishing(t)
  const id = await at.preparedPublication()
  const job = at.job(id)
  /** What a ledger says before a run, and just before the mark of a number. */
  const judged = async (
    lines: readonly EffectEntry[], counts: { contacted: number, created: number }, number: number,
  ): Promise<readonly [number | string, boolean]> => {
    let found: [number | string, boolean] = ['', false]
    const told = <T>(work: () => T): T | string => {
      try {
        return work()
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    const rolledBack = at.transact((tx) => {
      for (const line of lines) appendEntry(tx, effectHistory, id, line)
      const row = putJob(tx, at_, job, counts)
      found = [
        told(() => nextEffect(tx, row)), told(() => requireNext(tx, row, number)) === undefined,
      ]
      throw new RolledBack()
    })
    await rolledBack.catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error
    })
    return found
  }
  const all = job.plan.effects
  const ok = produced('complete')
  const cases: readonly (readonly [
    string, readonly EffectEntry[], number, number, number, number | string, boolean,
  ])[] = [
    ['nothing begun', [], 0, 0, 1, 1, false],
    ['made on this machine', ok, 0, 0, 1, 1, true],
    ['made in part on this machine', produced('prefix'), 0, 0, 1, 1, false],
    ['the second before the first', ok, 0, 0, 2, 1, false],
    ['marked', [...ok, ...linesOf(['contacted'])], 1, 0, 1, 'effect_contacted', false],
    ['unknown', [...ok, ...linesOf(['unknown'])], 1, 0, 1, 'effect_contacted', false],
    ['refused', [...ok, ...linesOf(['refused'])], 1, 0, 2, 'effect_contacted', false],
    ['unsent', [...ok, ...linesOf(['unsent'])], 0, 0, 1, 1, true],
    ['made', [...ok, ...linesOf(['created'])], 1, 1, 2, 2, true],
    ['made, again', [...ok, ...linesOf(['created'])], 1, 1, 1, 2, false],
    ['made, then not sent', [...ok, ...linesOf(['created', 'unsent'])], 1, 1, 2, 2, true],
    ['a hole', [...ok, ...linesOf(['planned', 'created'])], 1, 1, 2, 'effect_contacted', false],
    ['counted too high', [...ok, ...linesOf(['created'])], 2, 2, 3, 'effect_contacted', false],
    ['counted too low', [...ok, ...linesOf(['created', 'created'])], 1, 1, 2, 'effect_contacted',
      false],
    ['found afterwards', [...ok, ...linesOf(['unknown']), outcome(1, 'created')], 1, 1, 2, 2, true],
    ['all of it', [...ok, ...linesOf(Array<Standing>(all).fill('created'))], all, all, all,
      'job_state', false],
  ]
  for (const [what, lines, contacted, created, number, next, mark] of cases) {
    t.strictSame(await judged(lines, { contacted, created }, number), [next, mark], what)
  }
})
