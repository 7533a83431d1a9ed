/** What an index finds is what a look at every row finds, in the same order. */
import t from 'tap'
import fc from 'fast-check'
import { appendAudit, listAudit } from '../../src/governance/audit.js'
import { auditLink, findAudit, type AuditFilter } from '../../src/governance/audit-read.js'
import { listTasks, type TaskFilter } from '../../src/governance/board/visible-tasks.js'
import { ownReservations } from '../../src/governance/ledger/own.js'
import { latestConsent } from '../../src/governance/policy/consents.js'
import { isOpen } from '../../src/governance/board/states.js'
import { collections, taskStates, type Reservation } from '../../src/governance/rows.js'
import { listSessions, pruneRoots, rootKeepMs } from '../../src/governance/session/end.js'
import { rootOfToken } from '../../src/governance/session/authenticate.js'
import { isoFromMs } from '../../src/base/clock.js'
import type { View } from '../../src/state/types.js'
import { addAndSignIn, admit, signIn } from '../support/tasks.js'
import { World } from '../world/world.js'

const kinds = ['inference.alpha-text.v1', 'other.kind.v1']
const goals = ['goal_a', 'goal_b']
const anyOf = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values)
const sampled = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: 7 })

t.test('a list of tasks is that of all rows, newest first, whatever is asked for', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = (await signIn(bench)).session
  const bob = (await addAndSignIn(bench, ada, 'bob')).session
  const { task } = await admit(bench, ada)
  const changes = sampled(fc.record({
    owner: fc.constantFrom(ada, bob), state: fc.constantFrom(...taskStates),
    kind: fc.constantFrom(...kinds), goal_id: fc.constantFrom(...goals),
  }), 150)
  await bench.transact((tx) => changes.forEach(({ owner, state, ...rest }, n) => {
    const id = `task_${String((n * 67) % 151).padStart(4, '0')}`
    tx.put(isOpen(state) ? collections.openTasks : collections.closedTasks, id, {
      ...task, ...rest, state, task_id: id, owner: owner.principal.principal_id,
    })
  }))
  const view = bench.view()
  const all = [...view.all(collections.openTasks), ...view.all(collections.closedTasks)]
    .map(({ doc }) => doc)
  const filters = sampled(fc.record({
    kind: anyOf(...kinds), state: anyOf(...taskStates), goalId: anyOf(...goals),
    limit: anyOf(1, 3, 1000), openOnly: anyOf(true, false),
  }), 200)
  for (const filter of filters as TaskFilter[]) {
    const due = all
      .filter(({ owner }) => owner === ada.principal.principal_id)
      .filter((one) => filter.kind === undefined || one.kind === filter.kind)
      .filter((one) => filter.state === undefined || one.state === filter.state)
      .filter((one) => filter.goalId === undefined || one.goal_id === filter.goalId)
      .filter((one) => filter.openOnly !== true || isOpen(one.state))
      .sort((a, b) => (a.task_id < b.task_id ? 1 : -1))
      .slice(0, filter.limit ?? 50)
    const found = listTasks(view, ada, filter)
    if (JSON.stringify(found) !== JSON.stringify(due)) t.fail(JSON.stringify(filter))
  }
  t.ok(listTasks(view, ada).length > 0)
})

const auditDue = (view: View, { limit, since, what, principal }: AuditFilter): string[] => {
  const names = new Map(view.all(collections.principals).map(({ id, doc }) => [id, doc.name]))
  return [...listAudit(view)].reverse()
    .filter((row) => since === undefined || row.at >= since)
    .filter((row) => what === undefined || row.what === what || row.what.startsWith(`${what}.`))
    .filter((row) => principal === undefined || row.principal === principal
      || names.get(row.principal ?? '') === principal)
    .slice(0, limit).map((row) => row.audit_id)
}

t.test('a list of the audit is that of all rows by number, also where the clock stepped back', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const owner = session.principal.principal_id
  const entries = sampled(fc.record({
    what: fc.constantFrom('session.login', 'session', 'session.ended', 'sessions', 'a.b.c'),
    principal: fc.constantFrom(owner, 'own_gone', null), at: fc.nat(20),
  }), 120)
  const timeOf = (at: number): string => isoFromMs(bench.clock.wallMs() + at * 60_000)
  await bench.transact((tx) => {
    for (const { at, ...rest } of entries) {
      appendAudit(tx, timeOf(at), { ...rest, root: null, subject: null })
    }
  })
  const view = bench.view()
  const filters = sampled(fc.record({
    limit: fc.constantFrom(1, 5, 1000), since: anyOf(timeOf(-1), timeOf(5), timeOf(20), timeOf(40)),
    what: anyOf('session', 'session.login', 'a.b', 'none'),
    principal: anyOf('ada', owner, 'own_gone', 'nobody'),
  }), 200)
  for (const filter of filters) {
    const found = findAudit(view, filter).map(({ row }) => row.audit_id)
    if (JSON.stringify(found) !== JSON.stringify(auditDue(view, filter))) {
      t.fail(JSON.stringify(filter))
    }
  }
  const rows = listAudit(view)
  for (const at of [0, 1, 60, rows.length - 1]) {
    const link = auditLink(view, rows[at]?.audit_id ?? '')
    t.strictSame([link.previous, link.next], [rows[at - 1] ?? null, rows[at + 1] ?? null])
    t.ok(link.followsPrevious && link.namedByNext)
  }
})

t.test('sessions, reservations and consents are found as a look at every row finds them', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session, token } = await signIn(bench)
  const bob = await addAndSignIn(bench, session, 'bob')
  const { root } = session
  const now = bench.clock.wallMs()
  await bench.transact((tx) => {
    for (let n = 0; n < 60; n += 1) {
      const root_id = `root_${String(n).padStart(3, '0')}`
      tx.put(collections.roots, root_id, {
        ...root, root_id, token_digest: String(n).padStart(64, '0'),
        principal_id: (n % 3 === 0 ? bob.session : session).principal.principal_id,
        expires_at: isoFromMs(now + (n - 30) * 60_000 - rootKeepMs),
        ended: n % 2 === 0 ? null : { at: isoFromMs(now - n - rootKeepMs), reason: 'logout' },
      })
    }
    for (let n = 0; n < 40; n += 1) {
      const operation_id = `op_${String((n * 13) % 40).padStart(3, '0')}`
      const row: Reservation = {
        operation_id, runtime: 'alpha_text', profile: 'p', task_id: null, bound_microusd: 1,
        principal: (n % 4 === 0 ? bob.session : session).principal.principal_id,
        state: n % 2 === 0 ? 'unknown' : 'settled', charged_microusd: null, overrun: 'none',
        row_ids: [], updated_at: isoFromMs(now),
      }
      tx.put(n % 2 === 0 ? collections.openReservations : collections.closedReservations,
        operation_id, row)
    }
    for (let n = 0; n < 12; n += 1) {
      tx.put(collections.consents, `con_${(n * 5) % 12}`, {
        consent_id: `con_${(n * 5) % 12}`, route: 'alpha', purpose: n % 2 === 0 ? 'a' : 'b',
        state: n < 10 ? 'withdrawn' : 'granted', granted_revision: n >> 1, bound_revision: 1,
        principal: 'x', root: 'x', granted_at: isoFromMs(now), expires_at: null,
        statement_sha256: '0'.repeat(64), acknowledgments: [],
      })
    }
  })
  const view = bench.view()
  const own = (id: string): boolean => id === session.principal.principal_id
  const roots = view.all(collections.roots).map(({ doc }) => doc).reverse()
  const ids = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id)
  t.strictSame(ids(listSessions(bench.gov, view, session)),
    roots.filter((one) => own(one.principal_id)).map((one) => one.root_id))
  t.strictSame(ids(listSessions(bench.gov, view, session, { all: true })),
    roots.map((one) => one.root_id))
  t.strictSame(ids(listSessions(bench.gov, view, session, { all: true, live: true })),
    [bob.session.root.root_id, root.root_id])
  t.equal(rootOfToken(bench.gov, view, token)?.root_id, root.root_id)
  const held = [...view.all(collections.openReservations),
    ...view.all(collections.closedReservations)]
    .map(({ doc }) => doc).filter(({ principal }) => own(principal))
    .map(({ operation_id: id }) => id).sort().reverse()
  const operations = (closed: boolean, limit: number): string[] =>
    ownReservations(view, session, { closed, limit }).map(({ operation_id: id }) => id)
  t.strictSame(operations(true, 100), held)
  t.strictSame(operations(true, 4), held.slice(0, 4))
  t.strictSame(operations(false, 100), held.filter((id) =>
    view.get(collections.openReservations, id) !== undefined))
  t.strictSame(['a', 'b'].map((purpose) => latestConsent(view, purpose)?.granted_revision), [5, 5])
  const over = roots.filter(({ expires_at: expires, ended }) =>
    [expires, ended?.at ?? expires].some((at) => Date.parse(at) + rootKeepMs < now))
    .map((one) => one.root_id).sort()
  const gone = await bench.transact((tx) => pruneRoots(tx, isoFromMs(now)))
  t.strictSame([...gone].sort(), over)
  t.equal(bench.view().all(collections.roots).length, roots.length - over.length)
})
