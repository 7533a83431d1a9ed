/** The reservation of an ask altered before each of its steps: no contact, or no settlement. */
import t, { type Test } from 'tap'
import {
  collections, type LedgerRow, type Reservation, type Task,
} from '../../src/governance/rows.js'
import type { Tx } from '../../src/state/types.js'
import {
  change, releasedNothing, remove, tampering, type Alter, type TamperBench,
} from '../support/alpha/tamper.js'
import { roomy } from '../world/alpha.js'
import { World } from '../world/world.js'

const boundMicrousd = 50_000

let bench: TamperBench
t.before(async () => {
  const world = World.in(t).sandbox().state().session().alpha({ money: roomy })
  bench = (await world.with(tampering)).bench
})

const operation = (task: Task): string => task.operation_id

const onReservation = (with_: Partial<Reservation>): Alter =>
  change(collections.openReservations, operation, with_)

/** Alters the original reserve row, the one that each step reads again. */
const onRow = (with_: Partial<LedgerRow>): Alter => (tx: Tx, task) => {
  const id = tx.get(collections.openReservations, task.operation_id)?.row_ids[0] ?? ''
  change(collections.ledgerRows, () => id, with_)(tx, task)
}

/** The three things that settlement verifies, in the row and in what is derived from it. */
const bindings: Readonly<Record<string, Alter>> = {
  'runtime of the row': onRow({ runtime: 'gateway_route' }),
  'profile of the row': onRow({ profile: 'alpha.other' }),
  'operation of the row': onRow({ operation_id: 'op_another' }),
  'runtime of the reservation': onReservation({ runtime: 'gateway_route' }),
  'profile of the reservation': onReservation({ profile: 'alpha.other' }),
  'operation of the reservation': onReservation({ operation_id: 'op_another' }),
}

const others: Readonly<Record<string, Alter>> = {
  'a lower bound': onReservation({ bound_microusd: 1 }),
  'another payer': onReservation({ principal: 'prn_another' }),
  'no rows': onReservation({ row_ids: [] }),
  'the row removed': (tx, task) => {
    const id = tx.get(collections.openReservations, task.operation_id)?.row_ids[0] ?? ''
    remove(collections.ledgerRows, () => id)(tx, task)
  },
  'both altered alike': (tx, task) => {
    onRow({ profile: 'alpha.other' })(tx, task)
    onReservation({ profile: 'alpha.other' })(tx, task)
  },
}

const factsOf = (): Promise<{
  held: number | undefined; settled: number | undefined; kinds: string[]; task: Task['state']
}> => bench.withStore(async (store) => {
  const view = store.read()
  const account = view.all(collections.ledgerAccounts)[0]?.doc
  return {
    held: account?.held_microusd,
    settled: account?.settled_microusd,
    kinds: view.all(collections.ledgerRows).map(({ doc }) => doc.kind),
    task: view.all(collections.openTasks)[0]?.doc.state ?? 'failed',
  }
})

/** Whatever comes next keeps the hold, says so, and sends nothing. */
const checkRecovery = async (t: Test): Promise<void> => {
  const sent = bench.rig.sandbox.log.count()
  const next = await bench.rig.run(['goal', 'add', 'Another aim'])
  t.equal(next.status, 0, 'another mutating verb is not held up')
  t.match(next.stderr, /not recovered: 1 hold/)
  const after = await factsOf()
  t.equal(after.held, boundMicrousd, 'the hold is never given back')
  t.equal(after.settled, 0)
  t.equal(after.task, 'blocked')
  t.equal(bench.rig.sandbox.log.count(), sent, 'and sends nothing')
}

const before = ['ask.reserved', 'ask.before_dial', 'ask.contact_begin', 'ask.before_first_byte']
const after = ['ask.replied', 'ask.charge_known', 'ask.answer_sealed']

for (const step of before) {
  t.test(`A-091 a reservation altered at ${step} contacts nobody`, async (t) => {
    for (const [name, alter] of Object.entries({ ...bindings, ...others })) {
      await t.test(name, async (t) => {
        bench.reset()
        const ran = await bench.askWith(t, step, alter)
        bench.sentNothing(t)
        t.equal(ran.status, 7, ran.stderr)
        await releasedNothing(t, bench, ran)
        const { held, settled, kinds } = await factsOf()
        t.equal(held, boundMicrousd, 'the hold stays')
        t.equal(settled, 0)
        t.notOk(kinds.includes('release'))
        if (name in bindings) await checkRecovery(t)
      })
    }
  })
}

for (const step of after) {
  t.test(`A-091 A-117 a reservation altered at ${step} is not settled; the liability stays`,
    async (t) => {
      for (const [name, alter] of Object.entries(bindings)) {
        await t.test(name, async (t) => {
          bench.reset()
          const ran = await bench.askWith(t, step, alter)
          t.equal(bench.rig.inferences().length, 1)
          t.equal(bench.rig.billings().length, step === 'ask.replied' ? 0 : 1)
          t.equal(ran.status, 7, ran.stderr)
          await releasedNothing(t, bench, ran)
          const { held, settled, kinds } = await factsOf()
          t.equal(held, boundMicrousd)
          t.equal(settled, 0)
          t.notOk(kinds.includes('settle'))
          await checkRecovery(t)
        })
      }
    })
}

t.test('A-084 two ledgers, no ledger or a ceiling of zero: nothing is sent', async (t) => {
  const accounts = (work: (tx: Tx, id: string) => void): Alter => (tx) => {
    const [only] = tx.all(collections.ledgerAccounts)
    work(tx, only?.id ?? '')
  }
  const cases: Readonly<Record<string, Alter>> = {
    'two ledgers': accounts((tx, id) => {
      const doc = tx.get(collections.ledgerAccounts, id)
      if (doc) tx.put(collections.ledgerAccounts, 'led_2', { ...doc, ledger_id: 'led_2' })
    }),
    'no ledger': accounts((tx, id) => tx.remove(collections.ledgerAccounts, id)),
    'a ceiling of zero': accounts((tx, id) => {
      const doc = tx.get(collections.ledgerAccounts, id)
      if (doc) tx.put(collections.ledgerAccounts, id, { ...doc, ceiling_microusd: 0 })
    }),
    'another id': accounts((tx, id) => {
      const doc = tx.get(collections.ledgerAccounts, id)
      if (doc) tx.put(collections.ledgerAccounts, id, { ...doc, ledger_id: 'led_2' })
    }),
  }
  for (const [name, alter] of Object.entries(cases)) {
    for (const step of ['ask.queued', ...before]) {
      await t.test(`${name} at ${step}`, async (t) => {
        bench.reset()
        const ran = await bench.askWith(t, step, alter)
        bench.sentNothing(t)
        t.equal(ran.status, 7, ran.stderr)
        await releasedNothing(t, bench, ran)
      })
    }
    await t.test(`${name} at rest`, async (t) => {
      bench.reset()
      await bench.forge((tx) => alter(tx, undefined as never))
      const show = await bench.rig.run(['alpha', 'show', '--json'])
      t.equal(show.json().alpha_text.status, 'blocked')
      t.match(show.json().alpha_text.reason_code, /^(ledger_not_unique|ceiling_not_positive)$/)
      const ran = await bench.rig.ask()
      t.equal(ran.status, 7, ran.stderr)
      bench.sentNothing(t)
    })
  }
})
