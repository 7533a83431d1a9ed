/**
 * The engine with small orders of the test's own, over real TLS: one without money and without a
 * lane, one that sends eight at a time, and what every order gets whatever it brings.
 */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fail, SallyportError } from '../../src/base/errors.js'
import { runOrder } from '../../src/contact/engine.js'
import { markRoute } from '../../src/contact/routes.js'
import { liveGuards } from '../../src/state/holds/guard.js'
import type { Gov } from '../../src/governance/context.js'
import { tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { collections } from '../../src/governance/rows.js'
import { noteRecorded, stopsRecorded } from '../../src/governance/stops/recent.js'
import { bench, getOf, orderOf, theRoute } from '../support/contact-bench.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'

t.test('an order without money and without a lane runs to its end and leaves no ledger row',
  async (t) => {
    const one = await bench(t)
    const kept = await runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url))]))
    t.equal(kept, 'reply')
    t.matchStrict(theRoute(one), {
      runtime: 'test_small', provider: 'sandbox', outcome: 'ok', contacted_at: String,
    })
    t.equal(theRoute(one)?.model, undefined, 'what is contacted is no model')
    const view = one.world.view()
    t.strictSame(
      [...view.all(collections.ledgerRows), ...view.all(collections.openReservations)], []
    )
    t.strictSame(one.steps, [
      'claimed', 'slot', 'reserved', 'before_resolve', 'before_dial', 'contact_begin',
      'contact_intent', 'before_first_byte', 'replied', 'charge_known', 'finished',
    ].map((step) => `small.${step}`))
    t.equal(liveGuards(one.world.place.stateDir), 0)
  })

t.test('eight reads at a time share one contact mark, one look-up and connections', async (t) => {
  const one = await bench(t)
  const before = one.world.view().sequence
  const order = orderOf(one, (send) => Promise.all(
    Array.from({ length: 8 }, () => send(getOf(one.url))),
  ), { session: true })
  t.equal(await runOrder(one.ctx, order), Array.from({ length: 8 }, () => 'reply').join(','))
  t.equal(one.world.sandbox.log.all({ service: 'provider' }).length, 8)
  const checks = one.steps.filter((step) => step === 'small.before_first_byte')
  t.equal(checks.length, 8, 'each is checked by itself')
  t.equal(one.world.view().sequence - before, 3, 'hold, mark and end: three records')
})

/** A store whose transactions wait for something, where they are meant to. */
const waitingFor = (
  store: Gov['store'], isMeant: () => boolean, opened: Promise<unknown>,
): Gov['store'] => new Proxy(store, {
  get: (of, name: keyof typeof store) => {
    if (name === 'transact' && isMeant()) {
      return (...given: Parameters<typeof of.transact>) =>
        opened.then(() => of.transact(...given))
    }
    const found: unknown = of[name]
    return typeof found === 'function' ? found.bind(of) as unknown : found
  },
})

t.test('while the mark that reads share is not durable none of them goes on', async (t) => {
  const one = await bench(t)
  const { gov } = one.ctx
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => { open = resolve })
  let isAsked = false
  const store = waitingFor(gov.store, () => isAsked, opened)
  const begun = () => one.steps.filter((step) => step === 'small.contact_begin').length
  one.at((step) => { isAsked ||= step === 'small.contact_begin' })
  const ended = runOrder({ ...one.ctx, gov: { ...gov, store } }, orderOf(one, (send) =>
    Promise.all([send(getOf(one.url)), send(getOf(one.url))])))
  await until('both ask', () => begun() === 2)
  await setImmediate()
  t.notOk(one.steps.includes('small.contact_intent'))
  open()
  t.equal(await ended, 'reply,reply')
})

/** A store whose `read` goes on giving the rows of now, whatever is recorded later. */
const behind = (store: Gov['store']): Gov['store'] => {
  const seen = store.read()
  return new Proxy(store, {
    get: (of, name: keyof typeof store) => {
      if (name === 'read') return () => seen
      const found: unknown = of[name]
      return typeof found === 'function' ? found.bind(of) as unknown : found
    },
  })
}

for (const step of ['claimed', 'before_resolve', 'before_dial', 'before_first_byte'] as const) {
  t.test(`what was recorded at ${step} keeps a request back, also where a view at hand is older`, async (t) => {
    const one = await bench(t)
    const { gov } = one.ctx
    one.at(async (at) => {
      if (at !== `small.${step}`) return
      await one.world.transact((tx) => noteRecorded(tx, { kind: 'root', target: 'root_other' }))
    })
    const order = orderOf(one, async (send) => [await send(getOf(one.url))], {
      authority: (view) => {
        if (stopsRecorded(view) > 0) throw fail.unauthorized('small_closed', 'It was closed.')
        return 1
      },
    })
    t.equal(await runOrder({ ...one.ctx, gov: { ...gov, store: behind(gov.store) } }, order),
      'small_closed')
    t.equal(one.world.sandbox.log.all().length, 0)
  })
}

t.test('A-026 a step with full authority goes out once an operation', async (t) => {
  const one = await bench(t)
  const kept = await runOrder(one.ctx, orderOf(one, async (send) => {
    const first = await send(getOf(one.url, { authority: 'full' }))
    return [first, await send(getOf(one.url, { authority: 'full' }))]
  }))
  t.equal(kept, 'reply,already_contacted')
  t.equal(one.world.sandbox.log.all({ service: 'provider' }).length, 1)
})

t.test('rows of a step are durable before it goes out, and tell what came of it after', async (t) => {
  const one = await bench(t)
  const told = new Set<string>()
  await runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url, {
    mark: () => void told.add(`marked ${one.world.sandbox.log.all().length}`),
    record: (_tx, _now, wire) => void told.add(wire.kind),
  }))]))
  t.strictSame([...told], ['marked 0', 'reply'])
})

for (const step of ['claimed', 'reserved', 'before_dial', 'contact_intent'] as const) {
  t.test(`A-183 a stop at ${step} sends nothing and says so`, async (t) => {
    const one = await bench(t)
    one.at((at) => { if (at === `small.${step}`) one.stop() })
    const kept = await runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url))]))
    t.equal(kept, 'small_cancelled')
    t.equal(one.world.sandbox.log.all().length, 0)
    t.ok(one.waits.every((now) => now?.sent !== true), 'a face could promise that nothing left')
    t.equal(one.waits.at(-1), null, 'and knows that it has ended')
  })
}

t.test('a stop ends a read that is under way; what was sent stays possible', async (t) => {
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => { answer = resolve })
  let arrived = false
  const one = await bench(t, () => {
    arrived = true
    return answered
  })
  const ended = runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url))]))
  await until('the request is there', () => arrived)
  t.hasStrict(one.waits.at(-1), { for: 'reply', sent: true, step: 'small', taskId: null })
  one.stop()
  t.equal(await ended, 'small_cancelled')
  answer()
  t.matchStrict(theRoute(one), { outcome: 'bad', contacted_at: String })
})

t.test('a defect after the claim ends the operation and goes on up', async (t) => {
  const one = await bench(t)
  one.at((at) => { if (at === 'small.reserved') throw new TypeError('a defect') })
  await t.rejects(runOrder(one.ctx, orderOf(one, async () => [])), { message: 'a defect' })
  t.hasStrict(theRoute(one), { outcome: 'bad', contacted_at: null })
  t.equal(liveGuards(one.world.place.stateDir), 0)
})

t.test('A-124 an end that cannot be recorded is told by what was sent', async (t) => {
  for (const sent of [true, false]) {
    const one = await bench(t)
    const refused = fail.failed('disk_full', 'The disk is full.')
    const order = orderOf(one, async (send) => [await send(getOf(one.url, sent ? {} : {
      request: () => { throw fail.rejected('too_large', 'Too large.') },
    }))], { close: () => { throw refused } })
    const error: unknown = await runOrder(one.ctx, order).catch((thrown: unknown) => thrown)
    t.hasStrict(error, sent
      ? { code: 'disk_full', reason: 'outcome_not_recorded', details: { small: 'yes' } }
      : { code: 'too_large', kind: 'rejected' })
    t.ok(error instanceof SallyportError)
  }
})

t.test('what is sealed and named by no row leaves the disk', async (t) => {
  const one = await bench(t)
  const { artifacts } = one.ctx.gov.store
  const sealed = artifacts.write('test', Buffer.from('claimed for'))
  const order = orderOf(one, async () => [], {
    sealed, claim: () => { throw fail.conflict('claimed_before', 'Claimed before.') },
  })
  await t.rejects(runOrder(one.ctx, order), { code: 'claimed_before' })
  await runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url))], {
    keep: () => artifacts.write('test', Buffer.from('kept for nothing')),
  }))
  t.strictSame(artifacts.list(), [])
})

t.test('A-183 a stop before the start makes no claim and leaves no row', async (t) => {
  const one = await bench(t)
  const before = one.world.view().sequence
  one.stop()
  await t.rejects(runOrder(one.ctx, orderOf(one, async () => [])), { code: 'small_cancelled' })
  t.equal(one.world.view().sequence, before)
})

t.test('A-026 the guard is held from before the claim until the end', async (t) => {
  const one = await bench(t)
  const held: number[] = []
  const look = (): void => void held.push(liveGuards(one.world.place.stateDir))
  one.at(look)
  await runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url))], {
    claim: (_tx, _now, { operationId }) => {
      look()
      return { kind: 'claimed', claimed: operationId }
    },
  }))
  t.ok(held.length > 5)
  t.ok(held.every((count) => count === 1), 'recovery never takes it for dead')
})

t.test('A-124 a defect after something was sent never ends the operation as unsent', async (t) => {
  const one = await bench(t)
  let unsent = 0
  await t.rejects(runOrder(one.ctx, orderOf(one, async (send) => {
    await send(getOf(one.url))
    throw new TypeError('a defect')
  }, { unsent: (why) => {
    unsent += 1
    return [why]
  } })), { message: 'a defect' })
  t.equal(unsent, 0)
  t.matchStrict(theRoute(one), { outcome: null, contacted_at: String }, 'it is left to recovery')
})

t.test('a stop during the claim is recorded as well', async (t) => {
  const one = await bench(t)
  let told = false
  await runOrder(one.ctx, orderOf(one, async () => [], {
    claim: (_tx, _now, { operationId }) => {
      one.stop()
      return { kind: 'claimed', claimed: operationId }
    },
    onStop: () => { told = true },
  }))
  t.equal(told, true)
})

t.test('a stop that comes at the very end is recorded before the operation is over', async (t) => {
  const one = await bench(t)
  const { gov, signal } = one.ctx
  let [told, open] = [false, (): void => undefined]
  const opened = new Promise<void>((resolve) => { open = resolve })
  one.at((step) => {
    if (step !== 'small.finished') return
    one.stop()
    void setImmediate().then(open)
  })
  const store = waitingFor(gov.store, () => signal.aborted, opened)
  await runOrder({ ...one.ctx, gov: { ...gov, store } }, orderOf(one, async () => [], {
    onStop: () => { told = true },
  }))
  t.equal(told, true)
})

t.test('A-197 the lane is free again when the operation has ended', async (t) => {
  const one = await bench(t)
  await runOrder(one.ctx, orderOf(one, async (send) => [await send(getOf(one.url))], {
    lane: 'normal',
  }))
  const holder = tryHoldFile(join(one.world.place.stateDir, 'run', 'lane', 'holder'))
  t.ok(holder)
  holder?.release()
})

t.test('A-154 authority is asked at each of the four points, and each may refuse', async (t) => {
  for (const refused of [1, 2, 3, 4]) {
    const one = await bench(t)
    const asked: string[] = []
    const order = orderOf(one, async (send) => [await send(getOf(one.url))], {
      authority: (_view, boundary) => {
        // The mark is judged inside a transaction, which may run more than once.
        const again = boundary === 'mark' && asked.at(-1) === 'mark'
        const point = again ? asked.length : asked.push(boundary)
        if (point === refused) throw fail.blocked('refused_here', 'Refused.')
        return 1
      },
    })
    t.equal(await runOrder(one.ctx, order), 'refused_here')
    t.strictSame(asked, ['check', 'check', 'mark', 'check'].slice(0, refused))
    t.equal(one.world.sandbox.log.all().length, 0)
  }
})

t.test('a route that was never decided cannot be marked as contacted', async (t) => {
  const one = await bench(t)
  const { store } = one.ctx.gov
  await t.rejects(store.transact('test', (tx) => markRoute(tx, 'op_none', 'now')),
    new TypeError('a prepared operation has a route row'))
  t.equal(theRoute(one), undefined)
})
