/** Crashes, races and changes while a digest is made: no text is ever bought twice. */
import { isoFromMs } from '../../src/base/clock.js'
import { fail } from '../../src/base/errors.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import type { ShotsContext } from '../../src/shots/context.js'
import { digestFailure } from '../../src/shots/digest/digest-contract.js'
import { digestTick, digestWindow } from '../../src/shots/digest/tick.js'
import { noArtifactsAt } from '../support/no-artifacts.js'
import { betweenLookAndClaim } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment, windowStart } from '../world/texts.js'
import { World } from '../world/world.js'

t.test('S-105 a digest killed before contact is made by the next tick, one killed after it is never sent again', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const killAt = async (step: string): Promise<void> => {
    const ran = await world.place.spawn(['shots', 'digest', '--json'], {
      entry: 'test', env: { TEST_STOP_AT: `digest.${step}` }, coverage: false,
    })
    t.equal(ran.status, 137, `killed at ${step}: ${ran.stderr}`)
  }
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  await killAt('contact_begin')
  t.equal(world.asked().length, 0)
  t.hasStrict((await world.digest()).json(), { written: 1 })
  t.equal(world.asked().length, 1)
  for (const [at, step] of ['replied', 'charge_known'].entries()) {
    const [row] = await world.analysed({ name: `${step}.png`, at: moment(4 + at, 1) })
    const asked = world.asked().length
    await killAt(step)
    t.equal(world.asked().length, asked + 1)
    const later = (await world.digest()).json()
    t.hasStrict(later, { written: 0, failed: 0, not_repeated: at + 1 }, step)
    const mine = later.windows.find((one: { window_start: string }) =>
      one.window_start === moment(4 + at))
    t.hasStrict(mine, { outcome: 'not_repeated', reason: 'charge_unknown', episode: null })
    t.equal(world.asked().length, asked + 1, `${step}: no second request`)
    const claim = world.view().all(claimCollection).map(({ doc }) => doc)
      .filter((one) => one.purpose === 'gateway.digest').sort((a, b) =>
        (a.claimed_at < b.claimed_at ? 1 : -1))[0]
    t.equal(findReservation(world.view(), claim?.operation_id ?? '')?.state, 'unknown')
    t.ok(row)
  }
  await world.analysed({ name: 'last.png', at: moment(6, 1) })
  await killAt('finished')
  t.equal(world.episodes().length, 2, 'charge and episode are one record')
  t.hasStrict((await world.digest()).json(), { written: 0, unchanged: 2 })
  t.strictSame(verifyLedger(world.view()), [])
})

t.test('a digest that cannot be written is lost, its charge is settled and it is not bought again by itself', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(3, 1) }, { name: 'b.png', at: moment(2, 1) })
  const ran = await world.run(['shots', 'digest', '--json'], { at: noArtifactsAt(world, 'digest') })
  t.hasStrict([ran.status, ran.error().code], [1, 'result_not_stored'])
  t.hasStrict(ran.json(), {
    failed: 1, reason: 'result_not_stored',
    windows: [{ reason: 'result_not_stored', episode: null }],
  })
  const { operation_id: id } = ran.json().windows[0]
  t.hasStrict(findReservation(world.view(), id), { state: 'settled' })
  t.equal(world.asked().length, 1, 'the next one would be lost, too')
  t.hasStrict((await world.digest()).json(), { failed: 0, written: 1, not_repeated: 1 })
  t.equal(world.asked().length, 2)
  t.strictSame(verifyLedger(world.view()), [])
})

t.test('a tick that is stopped, or waits in vain, tells what it did, and begins no further window', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const files = [1, 2, 3, 4].map((back) => ({ name: `${back}.png`, at: moment(back, 1) }))
  await world.analysed(...files)
  const stoppedAt = (step: string) => {
    const stop = new AbortController()
    return world.run(['shots', 'digest', '--json'], {
      stop: stop.signal, at: (seen) => void (seen === step && stop.abort()),
    })
  }
  const unsent = await stoppedAt('digest.before_dial')
  t.hasStrict([unsent.status, unsent.error().code], [130, 'digest_cancelled'])
  t.hasStrict(unsent.json(), { status: 'degraded', reason: 'call_cancelled', failed: 1 })
  t.equal(unsent.error().details.operation_id, unsent.json().windows[0].operation_id)
  const { waiting } = (await world.run(['status', '--json'])).json()
  t.notOk(waiting.some(({ what }: { what: string }) => what === 'run'), 'it has not failed')
  const busy = await world.run(['shots', 'digest', '--json'], {
    at: (step) => {
      if (step === 'digest.reserved') throw fail.locked('lane_busy', 'Another request kept it.')
    },
  })
  t.hasStrict([busy.status, busy.error().code, busy.json().failed], [11, 'digest_degraded', 1])
  t.equal(world.asked().length, 0)
  const paid = await stoppedAt('digest.replied')
  t.hasStrict([paid.status, paid.error().code], [130, 'digest_cancelled'])
  t.hasStrict(paid.json(), { status: 'degraded', reason: 'cancelled', written: 1, failed: 0 })
  t.type(paid.json().receipt_id, 'string')
  t.hasStrict(paid.error().details, { written: 1, failed: 0 })
  world.sandbox.faults.set('reset_before_headers', { service: 'gateway', times: 1 })
  const unknown = await stoppedAt('digest.finished')
  t.hasStrict([unknown.status, unknown.error().code], [7, 'digest_charge_unknown'])
  t.hasStrict(unknown.json(), { reason: 'cancelled', failed: 1 })
  t.equal(world.asked().length, 2)
})

t.test('what refuses a tick between two windows leaves a receipt of what may have been sent, and a stop always does', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(3, 1) }, { name: 'b.png', at: moment(2, 1) })
  const tickWith = (change: (here: ReturnType<typeof world.ctx>) => Partial<ShotsContext>) => {
    const here = world.ctx('write')
    return digestTick({ ...here, ...change(here) })
  }
  /** A tick that is refused when it asks for its client so often; one window asks three times. */
  const refusedAt = (number: number, error: Error) => {
    let left = number
    return tickWith(({ gateway }) => ({
      gateway: { ...gateway, client: async () => {
        left -= 1
        if (left < 1) throw error
        return gateway.client()
      } },
    }))
  }
  const leaky = fail.rejected('debug_output', 'It would print the request.')
  await t.rejects(refusedAt(1, leaky), { code: 'debug_output' })
  const stopped = await refusedAt(1, fail.cancelled('call_cancelled', 'Stopped.'))
  t.hasStrict(stopped, { status: 'degraded', reason: 'call_cancelled', windows: [] })
  const sent = await refusedAt(4, leaky)
  t.hasStrict(sent, { status: 'degraded', reason: 'debug_output', failed: 1 })
  t.type(sent.receipt_id, 'string')
  t.hasStrict(digestFailure(sent), { kind: 'blocked', reason: 'charge_unknown' })
  const unwritten = await tickWith(({ gov }) => {
    const transact: typeof gov.store.transact = async (verb, ...rest) => {
      if (verb === 'shots digest') throw fail.cancelled('lock_wait_stopped', 'Stopped.')
      return gov.store.transact(verb, ...rest)
    }
    const store = new Proxy(gov.store, {
      get: (target, name) => {
        const found: unknown = name === 'transact' ? transact : Reflect.get(target, name, target)
        return typeof found === 'function' ? found.bind(target) : found
      },
    })
    return { gov: { ...gov, store } }
  })
  t.hasStrict(unwritten, { reason: 'lock_wait_stopped', receipt_id: null, failed: 1 })
})

t.test('races', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await t.test('S-105 two digests of one window at once buy one text', async (t) => {
    await world.analysed({ name: 'a.png', at: moment(2, 1) })
    const both = await Promise.all([world.digest(), world.digest()])
    const receipts = both.map((ran) => ran.json())
    t.equal(world.asked().length, 1)
    t.equal(world.episodes().length, 1)
    t.equal(receipts.reduce((sum, one) => sum + one.written, 0), 1)
    t.hasStrict((await world.digest()).json(), { unchanged: 1, failed: 0 })
  })

  await t.test('S-106 a member that is reanalysed while the digest is made leaves a text of the old analysis, which the next tick replaces', async (t) => {
    const [row] = await world.analysed({ name: 'b.png', at: moment(4, 1) })
    world.say('About the old one.')
    const ran = await world.run(['shots', 'digest', '--json'], {
      at: async (step) => {
        if (step === 'digest.replied' && row !== undefined) {
          await world.reanalysed(row, { summary: 'The new analysis.' })
        }
      },
    })
    t.hasStrict(ran.json(), { written: 1 })
    world.say('About the new one.')
    t.hasStrict((await world.digest()).json(), { updated: 1 })
    t.match(String(world.asked().at(-1)?.body), 'The new analysis.')
    const [episode] = world.episodes().filter((one) => one.window_start === moment(4))
    t.equal(episode?.revision, 2)
  })

  await t.test('what comes into a window while a tick buys the one before is in its text', async (t) => {
    await world.analysed({ name: 'e.png', at: moment(9, 1) }, { name: 'f.png', at: moment(8, 1) })
    let isLate = true
    const ran = await world.run(['shots', 'digest', '--json'], {
      at: async (step) => {
        if (step !== 'digest.replied' || !isLate) return
        isLate = false
        await world.analysed({ name: 'g.png', at: moment(8, 2) })
      },
    })
    t.equal(ran.status, 0, ran.stderr)
    t.hasStrict(ran.json(), { written: 2, failed: 0, not_repeated: 0 })
    t.match(String(world.asked().at(-1)?.body), 'g.png')
  })

  await t.test('an image ahead of the clock does not fail the digest of the running window', async (t) => {
    await world.analysed({ name: 'h.png', at: moment(0) })
    t.hasStrict((await world.digest()).json(), { written: 1, failed: 0 })
    await world.analysed({ name: 'i.png', at: isoFromMs(windowStart(-1) - 1) })
    t.hasStrict((await world.digest()).json(), { updated: 1, failed: 0 }, 'it is part of it')
    t.hasStrict((await world.digest()).json(), { updated: 0, failed: 0 })
  })

  await t.test('S-166 a member that goes between look and claim keeps everything unsent', async (t) => {
    const asked = world.asked().length
    const rows = await world.analysed(
      { name: 'c.png', at: moment(6, 1) }, { name: 'd.png', at: moment(6, 2) },
    )
    const member = rows[0]?.observation_id ?? ''
    const here = betweenLookAndClaim(world, () =>
      world.change(member, { classification: 'source_missing' }))
    const receipt = await digestWindow(here, { windowEnd: moment(5) })
    t.hasStrict(receipt.windows, [{ outcome: 'failed', reason: 'inputs_changed', episode: null }])
    t.equal(world.asked().length, asked)
    const other = rows[1]?.observation_id ?? ''
    await world.change(member, { classification: null })
    const tick = await digestTick(betweenLookAndClaim(world, () =>
      world.change(other, { classification: 'source_missing' })))
    t.hasStrict(tick, { status: 'ok', failed: 0 }, 'a tick looks again at the next')
    t.hasStrict(tick.windows.filter(({ reason }) => reason === 'inputs_changed'),
      [{ outcome: 'not_repeated', episode: null }])
    t.equal(world.asked().length, asked)
  })
})
