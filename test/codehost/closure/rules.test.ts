/** The rules of closing as functions of plain values. */
import t from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { accountBytes, type AccountParts } from '../../../src/codehost/closure/account.js'
import { ReadBudget } from '../../../src/codehost/closure/budget.js'
import { followInventory } from '../../../src/codehost/closure/inventory.js'
import type { EffectEntry } from '../../../src/codehost/jobs/histories.js'
import { sealedExtraBytes } from '../../../src/state/keys.js'

const sha = 'a'.repeat(64)
const at = '2026-01-01T00:00:00.000Z'
const planned = (effects: number): EffectEntry =>
  ({ type: 'plan', at, artifact_id: 'art', sha256: sha, effects, authority_sha256: sha })
const contacted = (effect: number): EffectEntry => ({
  type: 'contacted', at, effect, attempt: 1, operation_id: 'op', fence: 1, body_sha256: sha,
})
const outcome = (effect: number, told: 'created' | 'unknown' | 'refused' | 'unsent'): EffectEntry =>
  ({
    type: 'outcome', at, effect, outcome: told, status: null, reason: null,
    remote_id: told === 'created' ? 7 : null, raw_sha256: null,
  })
const plan = (...actions: readonly unknown[]) =>
  ({ effects: actions.map((action) => ({ action })) })
const job = (contactedCount: number, created: number, effects = 1) => ({
  contacted: contactedCount, created, plan: { artifact_id: 'art', sha256: sha, effects },
})

t.test('C-274 C-275 exactly one complete effect of a known kind is an inventory', async (t) => {
  const whole = [planned(1), contacted(1), outcome(1, 'created')]
  const found = followInventory(job(1, 1), plan('issue.create'), whole)
  t.hasStrict(found, { effect: { remoteId: 7, standing: 'created' } })
  t.hasStrict(followInventory(job(1, 0), plan('comment.create'),
    [planned(1), contacted(1), outcome(1, 'unknown')]), { effect: { remoteId: null } })
  const blocked: readonly (readonly [string, Parameters<typeof followInventory>])[] = [
    ['inventory_incomplete', [job(0, 0), plan('issue.create'), [planned(1)]]],
    ['inventory_incomplete', [job(1, 0), plan('issue.create'), [planned(1), contacted(1)]]],
    ['inventory_incomplete', [job(0, 0), plan('issue.create'), []]],
    ['inventory_incomplete', [job(1, 1), { effects: 1 }, whole]],
    ['inventory_incomplete', [job(2, 1), plan('issue.create'), whole]],
    ['inventory_incomplete', [job(1, 0), plan('issue.create'), whole]],
    ['inventory_incomplete', [job(1, 1), plan('git.ref.create'), whole]],
    ['inventory_incomplete', [job(2, 2, 2), plan('issue.create', 'issue.create'), [
      planned(2), contacted(1), outcome(1, 'created'), contacted(2), outcome(2, 'created')]]],
    ['inventory_incomplete', [job(0, 0), plan('issue.create'), [
      planned(1), contacted(1), outcome(1, 'unsent')]]],
    ['unidentified_intent', [job(1, 1), plan('issue.create'), [...whole, contacted(2)]]],
  ]
  for (const [reason, [row, of, entries]] of blocked) {
    t.strictSame(followInventory(row, of, entries), { blocked: reason })
  }
})

t.test('C-204 an effect of no known kind blocks, whatever became of it', async (t) => {
  for (const kind of ['issue.delete', undefined, null, 1]) {
    for (const entries of [
      [planned(2)], [planned(2), contacted(1)], [planned(2), contacted(1), outcome(1, 'created')],
    ]) {
      t.strictSame(followInventory(job(1, 1, 2), plan('issue.create', kind), entries),
        { blocked: 'effect_kind_unknown' })
    }
  }
})

t.test('C-273 local work in the ledger of a kind that has none is not passed over', async (t) => {
  t.strictSame(followInventory(job(1, 1), plan('issue.create'), [
    planned(1), {
      type: 'spawn', at, attempt: 1, operation_id: 'op', fence: 1, producer_id: 'prd',
      binding_sha256: sha,
    }, contacted(1), outcome(1, 'created'),
  ]), { blocked: 'producer_unproved' })
})

t.test('C-232 C-233 C-234 requests and bytes are counted for the whole operation, each limit at its value and one past it', async (t) => {
  const limits = { windowMs: 1, getsMax: 3, rawBytesMax: 100, replyBytesMax: 60 }
  const budget = new ReadBudget(limits)
  const first = budget.begin()
  t.strictSame(first, { bytesMax: 60, beyond: 'readback_too_large' })
  const second = budget.begin()
  t.strictSame(second, { bytesMax: 40, beyond: 'bytes_exceeded' }, 'what another may still bring')
  t.equal(budget.begin(), 'bytes_exceeded')
  if (typeof first === 'string' || typeof second === 'string') return
  budget.end(first, 10)
  budget.end(second, 40)
  t.strictSame([budget.gets, budget.rawBytes], [2, 50])
  const third = budget.begin()
  t.strictSame(third, { bytesMax: 50, beyond: 'bytes_exceeded' })
  if (typeof third !== 'string') budget.end(third, 49)
  t.equal(budget.begin(), 'gets_exceeded')
  const last = new ReadBudget({ ...limits, getsMax: 9 })
  for (const bytes of [60, 39]) {
    const one = last.begin()
    if (typeof one !== 'string') last.end(one, bytes)
  }
  t.hasStrict(last.begin(), { bytesMax: 1 })
})

t.test('C-057 an account of the most bytes that are stored passes, one byte more does not', async (t) => {
  const parts = {
    closureId: 'cls', at, job: { job_id: 'j', root: 'r', owner: 'o', native_kind: 'k' },
    read: { canonical: '{}', sha256: sha, request: {} }, bindings: {},
    producer: { applicable: false, standing: 'not_applicable' }, journals: [],
    counts: { effects: 1, fresh: 1, earlier: 0, gets: 2, raw_bytes: 3 },
  } as unknown as AccountParts
  const stored = accountBytes(parts).length + sealedExtraBytes
  t.equal(accountBytes(parts, stored).length + sealedExtraBytes, stored)
  try {
    accountBytes(parts, stored - 1)
    t.fail('it was taken')
  } catch (error) {
    t.equal(error instanceof SallyportError ? error.reason : null, 'artifact_too_large')
  }
})
