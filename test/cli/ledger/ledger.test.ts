import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { sha256Hex } from '../../../src/base/canonical.js'
import { systemClock } from '../../../src/base/clock.js'
import { silentObserver } from '../../../src/base/observer.js'
import type { Gov } from '../../../src/governance/context.js'
import { bootstrapLedger } from '../../../src/governance/ledger/account.js'
import {
  markContacted, markUnknown, reserve, settle,
} from '../../../src/governance/ledger/steps.js'
import { verifyLedger } from '../../../src/governance/ledger/verify.js'
import { addPrincipal } from '../../../src/governance/principals.js'
import { collections } from '../../../src/governance/rows.js'
import { login } from '../../../src/governance/session/login.js'
import { openStore } from '../../../src/state/store.js'
import type { Tx } from '../../../src/state/types.js'
import type { Place, Ran } from '../../world/place.js'
import { World } from '../../world/world.js'

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

t.test('the ledger is read and changed in a session only', async (t) => {
  const desk = await deskWith(t, unknown)
  const lines = [
    ['show'], ['reservations'], ['review', 'op_1', '--accept'],
    ['settle', 'op_1', '--amount-microusd', '1', '--yes'],
  ]
  for (const words of lines) {
    const ran = await desk.run([...words, '--json'], { env: { SALLYPORT_SESSION: '' } })
    refusedAs(t, ran, 4, 'session_required')
  }
})
