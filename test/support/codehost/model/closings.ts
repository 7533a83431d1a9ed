/** Closing the capacity that a job occupies: once, raced, killed, and two at once. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { keptNames } from './compare.js'
import type { Lived } from './lived.js'
import type { CloseWish, CrashWish, Operation } from './operations.js'
import { applyClosure, type closeFate, type SentRequest } from './reference.js'
import { fateOf, keepSent, requestFor, send, type Closed } from './requests.js'

const judge = (
  lived: Lived, number: number, request: SentRequest, fate: ReturnType<typeof closeFate>,
  told: Closed, gets: number,
): void => {
  const seen = JSON.stringify(told)
  if (fate.kind === 'refused') {
    assert.equal(told.kind, 'refused', seen)
    if (told.kind !== 'refused') return
    const names = [told.code, `${told.code} ${told.reason ?? ''}`]
    assert.ok(fate.codes.some((code) => names.includes(code)), `${fate.codes.join()}: ${seen}`)
    if (fate.gets !== null) assert.equal(gets, fate.gets, 'requests')
    assert.ok(gets <= 2, 'nothing is read again')
    return lived.count(names[1]?.trim() ?? '')
  }
  assert.equal(told.kind, 'done', seen)
  if (told.kind !== 'done') return
  if (fate.kind === 'applied') {
    assert.equal(told.value, fate.receipt, 'the very same receipt')
    assert.equal(gets, 0, 'what was applied is not read again')
    return lived.count('applied')
  }
  assert.equal(gets, 2, 'the repository and what was made')
  applyClosure(lived.model, number, request, fate.number, told.value)
  lived.count(`closed ${lived.job(number).state}`)
}

/** It was closed, once and whole, or nothing happened; kept once it was announced. */
const crashedClose = (
  lived: Lived, number: number, request: SentRequest, steps: readonly string[],
): void => {
  const fate = fateOf(lived, number, request)
  const receipt = lived.rows().receipts.get(lived.id(number))
  const wasClosed = lived.job(number).closed !== null
  const kept = keptNames(lived).includes(`${request.key}.json`)
  if (steps.includes('closure.kept')) assert.ok(kept, 'kept before anybody is contacted')
  if (kept) keepSent(lived, number, request)
  if (wasClosed || receipt === undefined) {
    assert.ok(!steps.includes('closure.committed') || wasClosed, 'a commit that was lost')
    return lived.count('crashed, unchanged')
  }
  assert.equal(fate.kind, 'closed', 'what may not be closed was closed')
  assert.ok(steps.includes('closure.staged'), 'closed before it was proved')
  if (fate.kind === 'closed') applyClosure(lived.model, number, request, fate.number, receipt)
  lived.count('crashed, closed')
}

/** Closes by one request; the process may die on the way. */
export const closeWith = async (
  lived: Lived, number: number, request: SentRequest, crash: CrashWish | null,
): Promise<void> => {
  const fate = fateOf(lived, number, request)
  const [told, { gets, posts }] = await lived.counted(() =>
    send(lived, number, request, { crash }))
  assert.equal(posts, 0, 'a closure only reads')
  if (told.kind === 'crashed') return crashedClose(lived, number, request, told.steps)
  keepSent(lived, number, request)
  judge(lived, number, request, fate, told, gets)
}

/** What a closure rests on. */
const bound = (lived: Lived, number: number): string => {
  const { root, vault, revision, fence, active } = lived.model
  return JSON.stringify([root, vault, revision, fence, active, lived.mode, lived.job(number)])
}

/** Something happens between the reads and the record. */
const raced = async (
  lived: Lived, number: number, request: SentRequest, meanwhile: Operation,
): Promise<void> => {
  const fate = fateOf(lived, number, request)
  keepSent(lived, number, request)
  let now = fate
  let changed = false
  const told = await lived.whole((inside) => send(lived, number, request, {
    at: (step) => inside(async () => {
      if (step !== 'closure.staged') return
      const before = bound(lived, number)
      await lived.step(meanwhile)
      changed = bound(lived, number) !== before
      now = fateOf(lived, number, request)
    }),
  }))
  if (fate.kind !== 'closed') return judge(lived, number, request, fate, told, 0)
  const seen = JSON.stringify(told)
  if (changed || now.kind === 'refused') {
    assert.equal(told.kind, 'refused', seen)
    return lived.count('raced, refused')
  }
  assert.equal(told.kind, 'done', seen)
  if (told.kind === 'done') {
    applyClosure(lived.model, number, request, fate.number, told.value)
  }
}

/** Closes as it is wished for, while something else may happen. */
export const closeWish = async (
  lived: Lived, number: number, one: Extract<Operation, { readonly op: 'close' }>,
): Promise<void> => {
  const { wish, crash, meanwhile } = one
  const request = requestFor(lived, number, wish)
  lived.sent.push({ job: number, request })
  if (wish.read !== null) lived.at.host.readFault = { fault: wish.read, skip: wish.skip }
  if (meanwhile !== null && wish.read === null) return raced(lived, number, request, meanwhile)
  await closeWith(lived, number, request, crash)
  lived.heal()
}

/** The same request, or two, at once: one closes, one reads. */
export const twins = async (
  lived: Lived, number: number, wish: CloseWish, keys: 1 | 2,
): Promise<void> => {
  const request = requestFor(lived, number, { ...wish, key: 'new' })
  const requests = [request, keys === 1 ? request : { ...request, key: randomUUID() }]
  const fate = fateOf(lived, number, request)
  const [told, { gets, posts }] = await lived.counted(() =>
    Promise.all(requests.map((one) => send(lived, number, one))))
  assert.equal(posts, 0)
  requests.forEach((one) => lived.sent.push({ job: number, request: one }))
  const done = told.findIndex(({ kind }) => kind === 'done')
  if (fate.kind !== 'closed') {
    assert.equal(done, -1, JSON.stringify(told))
    requests.forEach((one) => keepSent(lived, number, one))
    return
  }
  const first = requests[done] ?? request
  keepSent(lived, number, first)
  judge(lived, number, first, fate, told[done] ?? told[0] as Closed, gets)
  const other = told[1 - done] as Closed
  if (keys === 1) return assert.deepEqual(other, told[done], 'one answer')
  assert.equal(other.kind === 'refused' ? other.code : '', 'job_closed')
}
