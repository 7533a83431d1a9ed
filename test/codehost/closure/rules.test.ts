/** The rules of closing as functions of plain values. */
import t from 'tap'
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
  const limits = {
    windowMs: 1, getsMax: 3, rawBytesMax: 100, replyBytesMax: 60, decodedBytesMax: 10,
  }
  const begun = (of: ReadBudget, bytesMax?: number) => {
    const one = of.begin(bytesMax)
    if (typeof one === 'string') throw new Error(one)
    return one
  }
  const budget = new ReadBudget(limits)
  const first = begun(budget)
  const second = begun(budget, 80)
  t.strictSame([first.bytesMax, second.bytesMax], [60, 80])
  t.strictSame([first.take(60), first.beyond()], [true, 'readback_too_large'])
  t.strictSame(
    [second.take(39), second.take(1), second.beyond()], [true, true, 'readback_too_large'])
  t.strictSame([second.take(1), second.beyond()], [false, 'bytes_exceeded'], 'of all together')
  t.strictSame([budget.gets, budget.rawBytes], [2, 101])
  t.equal(budget.begin(), 'bytes_exceeded')
  const spent = new ReadBudget(limits)
  for (const bytes of [60, 40]) t.ok(begun(spent).take(bytes))
  t.strictSame([spent.begin(), spent.gets], ['bytes_exceeded', 2], 'what has no room')
  const counted = new ReadBudget(limits)
  for (const bytes of [50, 40]) begun(counted).take(bytes)
  const third = begun(counted)
  t.strictSame([third.bytesMax, third.beyond()], [10, 'bytes_exceeded'], 'no more than is left')
  t.equal(counted.begin(), 'gets_exceeded')
  t.strictSame([counted.decode(10), counted.decode(1), counted.decodedBytes], [true, false, 11])
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
  t.throws(() => void accountBytes(parts, stored - 1), {
    code: 'closure_blocked', reason: 'artifact_too_large',
  })
})
