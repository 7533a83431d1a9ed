/**
 * The board against a model: random orders by two owners, in any order, on a real store. After each
 * order the states are those of the model, and the board never contradicts itself.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { verifyAudit } from '../../../src/governance/audit.js'
import { requestCancel } from '../../../src/governance/board/cancel.js'
import { leaseTask } from '../../../src/governance/board/lease.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { findTask } from '../../../src/governance/board/place.js'
import { recoverOwnership } from '../../../src/governance/board/recover.js'
import { reviewTask } from '../../../src/governance/board/review.js'
import { canGoOn, canMove, isOutstanding } from '../../../src/governance/board/states.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { taskStates, type TaskState } from '../../../src/governance/rows.js'
import { sha256Hex } from '../../../src/base/canonical.js'
import { addAndSignIn, admit, kind as native, signIn, type SignedIn } from '../../support/tasks.js'
import { casesOf } from '../../support/for-all.js'
import { World, type StateWorld } from '../../world/world.js'

interface Deed {
  readonly do: 'lease' | 'cancel' | 'recover' | 'review'
  readonly who: number
  readonly task: number
  readonly yes: boolean
}

type Order =
  | { readonly do: 'admit'; readonly who: number; readonly key: number
    readonly prepared: boolean }
  | { readonly do: 'move'; readonly task: number; readonly to: TaskState; readonly lost: boolean }
  | Deed
  | { readonly do: 'login'; readonly who: number }

const who = fc.nat(1)
const task = fc.nat(4)
const orders: fc.Arbitrary<Order> = fc.oneof(
  { weight: 4, arbitrary: fc.record({
    do: fc.constant('admit' as const), who, key: fc.nat(5), prepared: fc.boolean(),
  }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('move' as const), task, to: fc.constantFrom(...taskStates),
      lost: fc.boolean(),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom('lease', 'cancel', 'recover', 'review'), who, task, yes: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('login' as const), who }) },
)

interface Row {
  readonly id: string
  readonly owner: number
  state: TaskState
  liability: boolean
  leased: boolean
  attempt: number
  root: string
  review: 'none' | 'pending' | 'approved' | 'rejected'
}

/** What the model knows; it shares no code with the board but the table. */
class Model {
  readonly rows: Row[] = []
  readonly keys = new Map<number, Row>()
  constructor(readonly bench: StateWorld, readonly signed: SignedIn[]) {}

  private root(owner: number): string {
    return this.signed[owner]!.session.root.root_id
  }

  private uuid(key: number): string {
    return `00000000-0000-4000-8000-00000000000${key}`
  }

  /** Runs one order; says whether the board agreed with the model. */
  async run(order: Order): Promise<boolean> {
    if (order.do === 'login') {
      this.signed[order.who] = await signIn(this.bench, order.who === 0 ? 'ada' : 'bob')
      return true
    }
    if (order.do === 'admit') return this.admit(order)
    const row = this.rows[order.task]
    if (row === undefined) return true
    if (order.do === 'move') return this.move(order, row)
    return this.act(order, row)
  }

  private async accepted(action: Promise<unknown>): Promise<boolean> {
    try {
      await action
      return true
    } catch (error) {
      if (error instanceof SallyportError) return false
      throw error
    }
  }

  private busy(owner: number): boolean {
    return this.rows.some((row) => row.owner === owner && isOutstanding(row.state))
  }

  private async admit({ who: owner, key, prepared }: Order & { do: 'admit' }): Promise<boolean> {
    const known = this.keys.get(key)
    const allowed = known === undefined ? prepared || !this.busy(owner) : known.owner === owner
    const { session } = this.signed[owner]!
    const requestDigest = sha256Hex(String(key))
    const request = { idempotencyKey: this.uuid(key), requestDigest, prepared }
    const result = await admit(this.bench, session, request).catch((error: unknown) => {
      if (error instanceof SallyportError) return null
      throw error
    })
    if ((result !== null) !== allowed) return false
    if (result === null) return true
    if (known !== undefined) return result.replayed && result.task.task_id === known.id
    const row: Row = {
      id: result.task.task_id, owner, state: prepared ? 'prepared' : 'accepted', liability: false,
      leased: false, attempt: 1, root: this.root(owner), review: 'none',
    }
    this.rows.push(row)
    this.keys.set(key, row)
    return !result.replayed
  }

  private async move({ to, lost }: Order & { do: 'move' }, row: Row): Promise<boolean> {
    const wantsLease = to === 'running' && !row.leased
    const arrow = canMove(row.state, to) || canGoOn(row.state, to)
    const enters = isOutstanding(to) && !isOutstanding(row.state)
    const allowed = arrow && !(row.state === 'blocked' && row.liability)
      && !(enters && this.busy(row.owner))
    const limits = { deadline_at: '2026-11-20T12:02:00.000Z', budget_left_ms: 1_000 }
    const by = { kinds: [native], blocked: ['overrun'] }
    const entry = !arrow || !enters ? {}
      : to === 'accepted' ? { starts: limits }
        : { goesOn: { ...limits, by, attempt_id: 'att_next' } }
    const kind = lost ? 'cost_liability' : 'overrun'
    const patch =
      to === 'blocked' ? { blocked: { kind, reason: 'test' } }
        : to === 'failed' || to === 'cancelled' ? { reason: 'test' } : {}
    const done = await this.accepted(this.bench.transact((tx, now) => {
      const { deadline_at } = findTask(tx, row.id)!
      moveTask(tx, now, row.id, to, { ...patch, ...entry })
      if (wantsLease) leaseTask(tx, now, row.id, 'holder', deadline_at)
    }))
    if (done !== allowed) return false
    if (!done) return true
    if (row.state === 'blocked' && to === 'queued') row.attempt += 1
    row.state = to
    row.leased = isOutstanding(to) && (row.leased || wantsLease)
    row.liability = to === 'blocked' && lost
    if (to === 'succeeded') row.review = 'pending'
    return true
  }

  private async act(order: Deed, row: Row): Promise<boolean> {
    const { session } = this.signed[order.who]!
    const own = row.owner === order.who
    const current = own && row.root === session.root.root_id
    if (order.do === 'lease') {
      const done = await this.accepted(this.bench.transact((tx, now) =>
        leaseTask(tx, now, row.id, 'holder', findTask(tx, row.id)!.deadline_at)))
      if (done) row.leased = true
      return done === (row.state === 'queued' || row.state === 'running')
    }
    if (order.do === 'recover') {
      const done = await this.accepted(this.bench.transact((tx, now) =>
        recoverOwnership(tx, now, session, row.id)))
      if (done) row.root = session.root.root_id
      return done === own
    }
    if (order.do === 'cancel') {
      const open = ['prepared', 'cancelled'].includes(row.state) || isOutstanding(row.state)
      const asked = findTask(this.bench.view(), row.id)!.cancel_requested_at !== null
      const done = await this.accepted(this.bench.transact((tx, now) =>
        requestCancel(tx, now, session, row.id)))
      const idle = ['prepared', 'accepted', 'queued'].includes(row.state)
      if (done && idle && !row.leased && !asked) row.state = 'cancelled'
      return done === (current && (open || asked))
    }
    const verdict = order.yes ? 'approved' : 'rejected'
    const done = await this.accepted(this.bench.transact((tx, now) =>
      reviewTask(tx, now, session, row.id, order.yes ? 'approve' : 'reject')))
    const allowed = current && (row.review === 'pending' || row.review === verdict)
    if (done && row.review === 'pending') row.review = verdict
    return done === allowed
  }

  /** Whether the store holds exactly what the model says. */
  agrees(): boolean {
    const view = this.bench.view()
    return this.rows.every((row) => {
      const stored = findTask(view, row.id)
      return stored?.state === row.state
        && stored.review === row.review
        && stored.current_root === row.root
        && (stored.done_at !== null) === (row.review === 'approved')
        && (stored.lease !== null) === row.leased
        && stored.attempt === row.attempt
    })
  }
}

const started = async (t: Test): Promise<Model> => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  return new Model(bench, [ada, await addAndSignIn(bench, ada.session, 'bob')])
}

t.test('A-119 A-123 A-186 A-196 no sequence of orders breaks the board', async (t) => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(orders, { minLength: 10, maxLength: 40 }), async (sequence) => {
      const model = await started(t)
      for (const order of sequence) {
        if (!(await model.run(order)) || !model.agrees()) return false
        count += 1
      }
      return verifyBoard(model.bench.view()).length === 0
        && verifyAudit(model.bench.view()).length === 0
    }),
    { numRuns: 40, seed: 20261120 },
  )
  t.ok(count > casesOf(500), `${count} orders`)
})
