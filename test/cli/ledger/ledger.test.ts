import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { sha256Hex } from '../../../src/base/canonical.js'
import { systemClock } from '../../../src/base/clock.js'
import { silentObserver } from '../../../src/base/observer.js'
import type { Gov } from '../../../src/governance/context.js'
import { settleCharges } from '../../../src/fabric/tasks.js'
import { bootstrapLedger } from '../../../src/governance/ledger/account.js'
import {
  markContacted, markUnknown, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { addPrincipal } from '../../../src/governance/principals.js'
import { collections } from '../../../src/governance/rows.js'
import { authenticate } from '../../../src/governance/session/authenticate.js'
import { login } from '../../../src/governance/session/login.js'
import { openStore } from '../../../src/state/store.js'
import type { Tx } from '../../../src/state/types.js'
import type { Place, Ran } from '../../world/place.js'
import { World } from '../../world/world.js'
import { t } from '../../support/tests-in-slices.js'

const now = '2026-11-20T10:00:00.000Z'
const bound = 50_000
const binding = {
  operationId: 'op_1', runtime: 'alpha_text_native', profile: 'alpha.text',
} as const
const evidence = { source: 'provider_billing_costs' }
const times = { idleMs: 3_600_000, ttlMs: 3_600_000 }

interface Desk {
  readonly place: Place
  readonly gov: Gov
  readonly owner: string
  readonly token: string
  run(words: readonly string[], options?: Parameters<Place['run']>[1]): Promise<Ran>
}

/** A state directory with an owner who is logged in, and no ledger. */
const makeDesk = async (t: Test): Promise<Desk> => {
  const place = World.in(t).place
  const made = await place.run(['init', '--json'])
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'write' })
  t.teardown(() => store.close())
  const gov: Gov = { store, clock: systemClock, observer: silentObserver, face: 'cli' }
  const { token } = await login(gov, times)
  return {
    place,
    gov,
    owner: made.json().principal_id,
    token,
    run: (words, { env, ...more } = {}) =>
      place.run(['ledger', ...words], { env: { SALLYPORT_SESSION: token, ...env }, ...more }),
  }
}

/** The same with a ledger and one contacted operation of the owner, which `end` ends. */
const deskWith = async (t: Test, end: (tx: Tx) => unknown): Promise<Desk> => {
  const desk = await makeDesk(t)
  await desk.gov.store.transact('test', (tx) => {
    bootstrapLedger(tx, now, 1_000_000)
    reserve(tx, now, { ...binding, taskId: null, principal: desk.owner, bound })
    markContacted(tx, now, binding)
    end(tx)
  })
  return desk
}

const unknown = (tx: Tx): unknown => markUnknown(tx, now, { ...binding, reason: 'timeout' })
const settled = (charged: number) => (tx: Tx): unknown =>
  settle(tx, now, {
    ...binding, sources: { provider_billing_costs: { usage: false } },
    chargedMicrousd: charged, evidence,
  })

const refusedAs = (t: Test, ran: Ran, status: number, code: string): void => {
  t.equal(ran.status, status, code)
  t.equal(ran.stdout, '')
  t.equal(ran.error().code, code)
}

const isSound = (t: Test, desk: Desk): void => {
  t.strictSame(verifyLedger(desk.gov.store.read()), [], 'the ledger balances')
}

t.test('the ledger is shown before and after its first set-up', async (t) => {
  const bare = await makeDesk(t)
  t.equal((await bare.run(['show', '--json'])).json().ledger, null)
  t.match((await bare.run(['show'])).stdout, /no ledger yet/)
  const desk = await deskWith(t, settled(1840))
  const { ledger, open } = (await desk.run(['show', '--json'])).json()
  t.hasStrict(ledger, {
    ceiling_microusd: 1_000_000, settled_microusd: 1840, held_microusd: 0, unknown_microusd: 0,
    consumed_microusd: 1840, available_microusd: 998_160, rows: 4,
  })
  t.strictSame(open, { reserved: 0, contacted: 0, unknown: 0, overrun_review_required: 0 })
  t.match((await desk.run(['show'])).stdout, /^ceiling +\$1\.00 \(1,000,000 µUSD\)$/m)
  t.strictSame((await desk.run(['reservations', '--json'])).json(), [], 'nothing is open')
  const all = (await desk.run(['reservations', '--all', '--json'])).json()
  t.hasStrict(all, [{ state: 'settled', runtime: 'alpha_text_native', profile: 'alpha.text' }])
  t.match((await desk.run(['reservations', '--all'])).stdout, /\tsettled\t50000\t1840\t/)
  const seen = await desk.run(['reservations', '--all'],
    { terminal: { stdin: true, stdout: true }, columns: 80 })
  t.match(seen.stdout, /bound: \$0\.05 \(50,000 µUSD\)\s+charged: \$0\.00184 \(1,840 µUSD\)/)
})

t.test('A-124 an unknown charge is held in full until it is settled by hand', async (t) => {
  const desk = await deskWith(t, unknown)
  const [row] = (await desk.run(['reservations', '--json'])).json()
  t.hasStrict(row, { state: 'unknown', bound_microusd: bound, charged_microusd: null })
  t.equal((await desk.run(['show', '--json'])).json().ledger.unknown_microusd, bound)
  t.match((await desk.run(['show'])).stdout, /due +1 unknown charge/)
  t.match((await desk.run(['reservations'])).stdout, /settle by hand/)
  writeFileSync(desk.place.path('note'), 'bill of November')
  const line = ['settle', 'op_1', '--amount-microusd', '17', '--yes', '--json']
  const paid = await desk.run([...line, '--note-file', desk.place.path('note')])
  t.hasStrict(paid.json(), { state: 'settled', charged_microusd: 17, overrun: 'none' })
  const after = (await desk.run(['show', '--json'])).json()
  t.hasStrict(after.ledger, { unknown_microusd: 0, settled_microusd: 17 })
  const last = desk.gov.store.read().get(collections.ledgerRows, paid.json().ledger_row_id)
  t.hasStrict(last?.evidence, { source: 'operator_manual', principal: desk.owner })
  t.equal(last?.evidence?.['note_sha256'], sha256Hex('bill of November'), 'and not the note')
  refusedAs(t, await desk.run(line), 5, 'charge_not_unknown')
  isSound(t, desk)
})

t.test('settling by hand is asked first and refuses bad amounts', async (t) => {
  const desk = await deskWith(t, unknown)
  const line = ['settle', 'op_1', '--amount-microusd', '5']
  const terminal = { stdin: true, stdout: true }
  t.equal((await desk.run(line, { terminal, answers: [false] })).status, 130, 'declined')
  t.equal((await desk.run(line)).status, 2, 'nobody to ask')
  t.equal((await desk.run(['settle', 'op_1', '--yes'])).status, 2, 'no amount')
  for (const bad of ['-1', '1.5', '1e2', '0x10', '', '1000000001']) {
    const ran = await desk.run(['settle', 'op_1', '--yes', `--amount-microusd=${bad}`])
    t.equal(ran.status, 3, `amount ${bad}`)
  }
  t.equal((await desk.run(['settle', 'op_1'], {
    terminal, answers: ['0.000005usd', false],
  })).status, 130, 'the amount is asked for, and then whether')
  const none = await desk.run(['settle', 'op_9', '--amount-microusd', '5', '--yes', '--json'])
  refusedAs(t, none, 6, 'reservation_not_found')
  const { ledger } = (await desk.run(['show', '--json'])).json()
  t.equal(ledger.unknown_microusd, bound, 'nothing was settled')
  const yes = await desk.run(line, { terminal, answers: [true] })
  t.equal(yes.status, 0, yes.stderr)
  t.match(yes.stdout, /charged +\$0\.000005 \(5 µUSD\)/)
  const known = await desk.run(['settle', 'op_1', '--json'], { terminal, answers: [] })
  refusedAs(t, known, 5, 'charge_not_unknown')
})

t.test('A-127 an overrun is accepted or rejected once, by its operation', async (t) => {
  for (const [flag, overrun] of [['--accept', 'accepted'], ['--reject', 'rejected']] as const) {
    const desk = await deskWith(t, settled(bound + 1))
    const [row] = (await desk.run(['reservations', '--json'])).json()
    t.hasStrict(row, { overrun: 'review_required', charged_microusd: bound + 1 })
    t.match((await desk.run(['show'])).stdout, /due +1 overrun/)
    t.match((await desk.run(['reservations'])).stdout, /review the overrun/)
    t.equal((await desk.run(['review', 'op_1'])).status, 2, 'a verdict is needed')
    t.equal((await desk.run(['review', 'op_1', '--accept', '--reject'])).status, 2)
    const terminal = { stdin: true, stdout: true }
    t.equal((await desk.run(['review', 'op_1'], { terminal, answers: ['not now'] })).status, 130,
      'a terminal asks, and what is not decided changes nothing')
    const reviewed = await desk.run(['review', 'op_1', flag, '--json'])
    t.hasStrict(reviewed.json(), { overrun, charged_microusd: bound + 1 })
    refusedAs(t, await desk.run(['review', 'op_1', flag, '--json']), 5, 'no_overrun_to_review')
    isSound(t, desk)
  }
})

t.test('an overrun settled by hand is reviewed in the same way', async (t) => {
  const desk = await deskWith(t, unknown)
  const line = ['settle', 'op_1', '--yes', '--amount-microusd', String(bound + 1)]
  t.match((await desk.run(line)).stdout, /due +review the overrun/)
  t.match((await desk.run(['review', 'op_1', '--accept'])).stdout, /overrun +accepted/)
  isSound(t, desk)
})

t.test('money of another owner is neither listed, reviewed nor settled', async (t) => {
  const desk = await deskWith(t, unknown)
  const { gov } = desk
  const principal = gov.store.read().get(collections.principals, desk.owner)
  const root = gov.store.read().all(collections.roots)[0]?.doc
  if (!principal || !root) throw new Error('no session')
  await addPrincipal(gov, { principal, root }, { name: 'stranger' })
  const { token } = await login(gov, { ...times, owner: 'stranger' })
  const env = { SALLYPORT_SESSION: token }
  t.strictSame((await desk.run(['reservations', '--all', '--json'], { env })).json(), [])
  const line = ['settle', 'op_1', '--amount-microusd', '5', '--yes', '--json']
  refusedAs(t, await desk.run(line, { env }), 6, 'reservation_not_found')
  const review = await desk.run(['review', 'op_1', '--accept', '--json'], { env })
  refusedAs(t, review, 6, 'reservation_not_found')
  t.equal((await desk.run(['show', '--json'], { env })).json().open.unknown, 1)
})

/** A desk with unknown charges, by operation the reason. */
const deskOf = async (t: Test, reasons: Readonly<Record<string, string>>): Promise<Desk> => {
  const desk = await makeDesk(t)
  await desk.gov.store.transact('test', (tx) => {
    bootstrapLedger(tx, now, 100_000_000)
    for (const [operationId, reason] of Object.entries(reasons)) {
      const one = { ...binding, operationId }
      reserve(tx, now, { ...one, taskId: null, principal: desk.owner, bound })
      markContacted(tx, now, one)
      markUnknown(tx, now, { ...one, reason })
    }
  })
  return desk
}

const refusals = { op_1: 'http_status_402', op_2: 'http_status_503', op_3: 'http_status_402' }
const free = ['settle', '--where', 'status=402', '--amount', '0usd']
const settledRows = (desk: Desk) => desk.gov.store.read().all(collections.audit)
  .filter(({ doc }) => doc.what === 'ledger.manual_settled')
  .map(({ doc }) => [doc.subject, doc.principal, doc.facts?.['amount_microusd']])

t.test('A-124 the list of reservations says why a charge is not known', async (t) => {
  const desk = await deskOf(t, refusals)
  const reasons = async (): Promise<unknown> =>
    (await desk.run(['reservations', '--all', '--json'])).json()
      .map((row: { reason: string | null }) => row.reason)
  t.strictSame(await reasons(), ['http_status_402', 'http_status_503', 'http_status_402'])
  t.match((await desk.run(['reservations'])).stdout,
    /^op_2\t.*\tsettle by hand\thttp_status_503\t-$/m)
  await desk.run(['settle', 'op_3', '--amount-microusd', '0', '--yes'])
  t.strictSame(await reasons(), [null, 'http_status_503', 'http_status_402'], 'now it is known')
})

t.test('A-124 the charges of one status are listed, asked for and settled in one record', async (t) => {
  const desk = await deskOf(t, refusals)
  const { sequence } = desk.gov.store.read()
  const terminal = { stdin: true, stdout: true }
  const declined = await desk.run([...free, '--quiet'], { terminal, answers: [false] })
  t.equal(declined.status, 130)
  t.match(declined.stderr, /op_3[^]*op_1/, 'what it is about is shown before, also with --quiet')
  t.notMatch(declined.stderr, 'op_2')
  t.equal((await desk.run(free)).status, 2, 'nobody to ask')
  t.equal(desk.gov.store.read().sequence, sequence, 'nothing was changed')
  const ran = await desk.run([...free, '--yes', '--json'])
  t.equal(ran.status, 0, ran.stderr)
  t.match(ran.stderr, /op_3[^]*op_1/)
  t.hasStrict(ran.json(), {
    schema: 'sallyport.ledger.settle.v1', more: false,
    settled: [
      { operation_id: 'op_3', state: 'settled', charged_microusd: 0 },
      { operation_id: 'op_1', state: 'settled', charged_microusd: 0 },
    ],
  })
  t.equal(desk.gov.store.read().sequence, sequence + 1, 'one record')
  t.strictSame(settledRows(desk), [['op_3', desk.owner, 0], ['op_1', desk.owner, 0]])
  t.hasStrict((await desk.run(['show', '--json'])).json().ledger, {
    settled_microusd: 0, unknown_microusd: bound,
  })
  const none = await desk.run([...free, '--yes', '--json'])
  refusedAs(t, none, 6, 'no_charge_matches')
  t.equal(desk.gov.store.read().sequence, sequence + 1)
  const line = ['settle', '--where', 'status=503', '--amount-microusd', '7']
  const asked = await desk.run(line, { terminal, answers: [true] })
  t.match(asked.stdout, /^1 charge settled at \$0\.000007 \(7 µUSD\) each, in one record\.$/m)
  isSound(t, desk)
})

t.test('what selects charges is a status alone, and never beside an operation', async (t) => {
  const desk = await deskOf(t, refusals)
  const { sequence } = desk.gov.store.read()
  for (const bad of ['402', 'status=', 'status=4022', 'status=099', 'reason=x', '']) {
    const ran = await desk.run(['settle', `--where=${bad}`, '--amount', '0usd', '--yes', '--json'])
    refusedAs(t, ran, 3, 'flag_invalid')
    t.match(ran.error().message, 'status=NNN')
  }
  const line = ['settle', '--amount', '0usd', '--yes', '--json']
  refusedAs(t, await desk.run(line), 2, 'one_charge_or_where')
  refusedAs(t, await desk.run([...line, 'op_1', '--where', 'status=402']), 2, 'one_charge_or_where')
  refusedAs(t, await desk.run([...free.slice(0, 3), '--yes', '--json']), 2, 'amount_required')
  t.equal(desk.gov.store.read().sequence, sequence)
})

t.test('charges that were listed are settled all or none: one that is known by then ends it', async (t) => {
  const desk = await deskOf(t, refusals)
  const session = authenticate(desk.gov, desk.token)
  await desk.run(['settle', 'op_1', '--amount-microusd', '9', '--yes'])
  const { sequence } = desk.gov.store.read()
  const amount = 0
  await t.rejects(settleCharges(desk.gov, session, ['op_3', 'op_1'], { amount }), {
    kind: 'conflict', code: 'charge_not_unknown',
  })
  t.equal(desk.gov.store.read().sequence, sequence)
  t.strictSame(settledRows(desk), [['op_1', desk.owner, 9]])
})

t.test('A-124 of two that settle the charges of one status at once one records them all, and the other none', async (t) => {
  const desk = await deskOf(t, refusals)
  const { sequence } = desk.gov.store.read()
  const amounts = ['0', '7']
  const both = await Promise.all(amounts.map((amount) => desk.place.spawn(
    ['ledger', 'settle', '--where', 'status=402', '--amount-microusd', amount, '--yes', '--json'],
    { env: { SALLYPORT_SESSION: desk.token }, coverage: false })))
  const won = both.findIndex(({ status }) => status === 0)
  const lost = both[1 - won]!
  t.ok(won >= 0, both.map(({ stderr }) => stderr).join())
  t.match(lost.error().code, /^(no_charge_matches|charge_not_unknown)$/)
  const charged = Number(amounts[won])
  t.strictSame(both[won]!.json().settled.map((row: { charged_microusd: number }) =>
    row.charged_microusd), [charged, charged])
  t.strictSame(settledRows(desk), [['op_3', desk.owner, charged], ['op_1', desk.owner, charged]])
  t.equal(desk.gov.store.read().sequence, sequence + 1, 'one record')
  isSound(t, desk)
})

t.test('A-124 a charge that somebody settles while the list is asked about ends it, and none of the list is settled', async (t) => {
  const desk = await deskOf(t, refusals)
  const ran = await desk.run([...free], {
    terminal: { stdin: true, stdout: true },
    answers: [async () => {
      await desk.run(['settle', 'op_1', '--amount-microusd', '9', '--yes'])
      return true
    }],
  })
  t.equal(ran.status, 5, ran.stderr)
  t.match(ran.stderr, 'Only an unknown charge is settled by hand')
  t.strictSame(settledRows(desk), [['op_1', desk.owner, 9]])
  isSound(t, desk)
})

t.test('what selects charges finds those of the owner and of disabled owners alone', async (t) => {
  const desk = await deskOf(t, refusals)
  const { gov } = desk
  const session = authenticate(gov, desk.token)
  await addPrincipal(gov, session, { name: 'stranger' })
  const { token } = await login(gov, { ...times, owner: 'stranger' })
  const env = { SALLYPORT_SESSION: token }
  refusedAs(t, await desk.run([...free, '--yes', '--json'], { env }), 6, 'no_charge_matches')
  t.strictSame(settledRows(desk), [])
  await desk.place.run(['principal', 'disable', desk.owner, '--yes'], { env })
  const ran = await desk.run([...free, '--yes', '--json'], { env })
  t.equal(ran.json().settled.length, 2, ran.stderr)
})

t.test('at most 1,000 charges are settled at a time, and it says that there are more', async (t) => {
  const ids = Array.from({ length: 1001 }, (_, at) => `op_${10_000 + at}`)
  const desk = await deskOf(t, Object.fromEntries(ids.map((id) => [id, 'http_status_402'])))
  const { sequence } = desk.gov.store.read()
  const first = await desk.run([...free, '--yes', '--json'])
  t.equal(first.json().settled.length, 1000, first.stderr.slice(-400))
  t.equal(first.json().more, true)
  t.match(first.stderr, 'The newest 1,000 are taken; run it again for the rest')
  t.equal(desk.gov.store.read().sequence, sequence + 1)
  const second = await desk.run([...free, '--yes'])
  t.match(second.stdout, /^1 charge settled/m)
  isSound(t, desk)
})

t.test('the ledger is read and changed in a session only', async (t) => {
  const desk = await deskWith(t, unknown)
  const lines = [
    ['show'], ['reservations'], ['review', 'op_1', '--accept'],
    ['settle', 'op_1', '--amount-microusd', '1', '--yes'], [...free, '--yes'],
  ]
  for (const words of lines) {
    const ran = await desk.run([...words, '--json'], { env: { SALLYPORT_SESSION: '' } })
    refusedAs(t, ran, 4, 'session_required')
  }
})
