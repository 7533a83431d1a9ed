/** Crashes, races and changes while a digest is made: no text is ever bought twice. */
import { isoFromMs } from '../../src/base/clock.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
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
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  const ran = await world.run(['shots', 'digest', '--json'], { at: noArtifactsAt(world, 'digest') })
  t.hasStrict(ran.json(), { failed: 1, windows: [{ reason: 'result_not_stored', episode: null }] })
  const { operation_id: id } = ran.json().windows[0]
  t.hasStrict(findReservation(world.view(), id), { state: 'settled' })
  t.hasStrict((await world.digest()).json(), { failed: 0, not_repeated: 1 })
  t.equal(world.asked().length, 1)
  t.strictSame(verifyLedger(world.view()), [])
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
