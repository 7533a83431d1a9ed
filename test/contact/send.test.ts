/** The contact mark: what is asked again inside its record, and that no old copy forgets it. */
import type { Test } from 'tap'
import { fail } from '../../src/base/errors.js'
import { runOrder } from '../../src/contact/engine.js'
import type { Step } from '../../src/contact/order.js'
import { newStop } from '../../src/governance/stops/act.js'
import { stopsRecorded, noteRecorded } from '../../src/governance/stops/recent.js'
import { anchorOf } from '../support/anchor.js'
import {
  bench, getOf, orderOf, theRoute, type Bench, type Seen,
} from '../support/contact-bench.js'
import { t } from '../support/tests-in-slices.js'

/** Steps whose mark is a record of its own. */
const marked: readonly Step<number>['authority'][] = ['full', 'effect']

/** One step after the other. */
const sends = async (count: number, send: () => Promise<Seen[number]>): Promise<Seen> => {
  const seen = []
  for (let n = 0; n < count; n += 1) seen.push(await send())
  return seen
}

/** Puts a stop that its own living record has yet to spend: nobody else records it meanwhile. */
const putStop = async (t: Test, { world: { gov: { store, clock } } }: Bench): Promise<void> => {
  const by = { principal: null, root: null, verb: 'test' }
  const stop = newStop(clock, { kind: 'alpha', target: null }, by)
  const guard = await store.holds.hold('stop', stop.id)
  t.teardown(() => guard.release())
  await store.stops.put(stop)
}

/** What happens behind the second check and before the mark, and what the order comes to. */
const happens: Readonly<Record<string, readonly [
  (t: Test, one: Bench) => void | Promise<void>, string,
]>> = {
  'the operator stops': [(_t, one) => one.stop(), 'small_cancelled'],
  'a stop is put': [putStop, 'closed_by_save'],
  'authority is withdrawn': [
    (_t, { world }) => world.transact((tx) => noteRecorded(tx, { kind: 'root', target: 'root_x' })),
    'small_closed',
  ],
}

for (const authority of marked) {
  for (const [what, [act, reason]] of Object.entries(happens)) {
    t.test(`where ${what} between the check and the mark, the ${authority} step is not marked`, async (t) => {
      const one = await bench(t)
      one.at((step) => (step === 'small.contact_begin' ? act(t, one) : undefined))
      const order = orderOf(one, async (send) => [await send(getOf(one.url, { authority }))], {
        party: () => ({ provider: 'sandbox' }),
        authority: (view, boundary) => {
          // Any later look would be too late for the mark.
          if (boundary === 'mark' && stopsRecorded(view) > 0) {
            throw fail.unauthorized('small_closed', 'It was closed.')
          }
          return 1
        },
      })
      t.equal(await runOrder(one.ctx, order), reason)
      t.matchStrict(theRoute(one), { contacted_at: null, outcome: 'bad' })
      t.equal(one.world.sandbox.log.all().length, 0)
    })
  }

  t.test(`the mark of each ${authority} step moves the anchor before anything leaves`, async (t) => {
    const one = await bench(t)
    const anchors: string[] = []
    one.at((step) => {
      if (/contact_(?:begin|intent)$/.test(step)) anchors.push(anchorOf(one.world.place))
    })
    const steps = authority === 'effect' ? 2 : 1
    const order = orderOf(one, (send) => sends(steps, () => send(getOf(one.url, { authority }))))
    t.equal(await runOrder(one.ctx, order), Array(steps).fill('reply').join(','))
    t.equal(anchors.length, 2 * steps)
    for (let n = 0; n < steps; n += 1) t.not(anchors[2 * n], anchors[2 * n + 1], `mark ${n + 1}`)
  })

  t.test(`rows of an order are in the record of the first mark of ${authority} steps, and in no other`, async (t) => {
    const one = await bench(t)
    const counts: number[] = []
    one.at((step) => {
      if (step === 'small.contact_intent') counts.push(stopsRecorded(one.world.view()))
    })
    const steps = authority === 'effect' ? 2 : 1
    const order = orderOf(one, (send) => sends(steps, () => send(getOf(one.url, { authority }))), {
      mark: (tx) => noteRecorded(tx, { kind: 'root', target: 'root_x' }),
    })
    t.equal(await runOrder(one.ctx, order), Array(steps).fill('reply').join(','))
    t.strictSame(counts, Array(steps).fill(1))
  })
}
