/** Switch, sizes and gates of the digest job. */
import { moneyText } from '../../src/base/money.js'
import { digestDueCollection, dropDigestDue, dueHoursBefore } from '../../src/shots/digest/due.js'
import { digestTick } from '../../src/shots/digest/tick.js'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { must } from '../support/must.js'
import { observationOf, payloadRefOf } from '../support/observations.js'
import { betweenLookAndClaim } from '../support/shots.js'
import { bodyOf, forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World, type TextWorld } from '../world/world.js'
import { keptOf } from '../support/kept.js'
import { t } from '../support/tests-in-slices.js'

/** A blocked row of this time. */
const blocked = (folder: string, at: string, reason: string) => {
  const row = observationOf(folder, `${reason}.png`, { captured_at: at })
  return { ...row, analyzer: { ...row.analyzer, reason } }
}

t.test('switches and bounds of the job', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const digestWith = (env: Record<string, string>, ...flags: string[]) =>
    world.run(['shots', 'digest', '--json', ...flags], { env })
  const back = keptOf(world)

  await t.test('S-138 the job runs unless it is switched off, by the environment or by a setting',
    async (t) => {
    await world.analysed({ name: 'a.png', at: moment(2, 1) })
    const off = await digestWith({ SCREENSHOT_OBSERVATION_DIGEST_ENABLED: 'false' })
    t.equal(off.status, 0)
    t.hasStrict(off.json(), { status: 'disabled', windows: [], receipt_id: null })
    t.strictSame(world.episodes(), [])
    t.equal(world.asked().length, 0)
    world.say('Unset: it runs.')
    t.hasStrict((await digestWith({})).json(), { status: 'ok', written: 1 })
  })

  await t.test('S-141 a text longer than the bound is refused whole; the bound counts code '
    + 'points and follows its setting', async (t) => {
    back()
    await world.analysed({ name: 'b.png', at: moment(3, 1) })
    world.say('x'.repeat(10_000))
    const long = await digestWith({})
    t.equal(long.status, 9)
    t.hasStrict(long.json(), { status: 'degraded', failed: 1, reason: 'text_too_long' })
    t.strictSame(world.episodes(), [], 'nothing of it is stored')
    await world.analysed({ name: 'c.png', at: moment(4, 1) }, { name: 'd.png', at: moment(5, 1) })
    const limit = { SCREENSHOT_OBSERVATION_DIGEST_MAX_CHARS: '20' }
    world.say('🙂'.repeat(20))
    world.say('🙂'.repeat(21), { after: 1 })
    const both = (await digestWith(limit)).json()
    t.hasStrict(both, { written: 1, failed: 1 })
    const kept = world.episodes().find((one) => one.window_start === moment(5))
    t.equal(kept?.content_chars, 20)
    const system = String(bodyOf(world.asked().at(-1)).messages[0]?.content)
    t.match(system, 'at most 20 characters')
  })

  await t.test('S-140 the window follows its setting, and only an aligned end names one',
    async (t) => {
    back()
    await world.analysed({ name: 'e.png', at: moment(70, 12) })
    world.say('Ten minutes.')
    const ran = await digestWith(
      { SCREENSHOT_OBSERVATION_DIGEST_WINDOW_MIN: '10' }, '--window-end', moment(70, 20),
    )
    t.hasStrict(ran.json().windows, [{ window_start: moment(70, 10), window_end: moment(70, 20) }])
    const odd = await digestWith({}, '--window-end', moment(70, 7))
    t.equal(odd.status, 3)
    t.equal(odd.error().code, 'window_not_aligned')
    t.equal((await digestWith({}, '--retry')).status, 2)
    t.equal((await digestWith({}, '--window-end', 'yesterday')).status, 3)
  })

  await t.test('a tick works on four windows at most, those of a day first, then older ones from '
    + 'the newest on; an empty one never', async (t) => {
    back()
    const asked = world.asked().length
    const at = [20, 19, 18, 17, 16, 15]
    await world.analysed(...at.map((back) => ({ name: `w${back}.png`, at: moment(back, 3) })))
    await world.analysed(...[60, 100, 61].map((back) => ({
      name: `old${back}.png`, at: moment(back, 3),
    })))
    for (let n = 0; n < 9; n += 1) world.say(`Text ${n}.`, { after: n })
    const first = (await digestWith({})).json()
    t.equal(first.written, 4)
    t.strictSame(first.windows.map((one: { window_start: string }) => one.window_start), [
      moment(20), moment(19), moment(18), moment(17),
    ])
    const next = (await digestWith({})).json()
    t.strictSame(next.windows.map((one: { window_start: string }) => one.window_start), [
      moment(61), moment(60), moment(16), moment(15),
    ])
    t.hasStrict((await digestWith({})).json(), {
      written: 1, windows: [{ window_start: moment(100) }],
    })
    t.equal((await digestWith({})).json().written, 0)
    t.equal(world.asked().length, asked + 9)
    const empty = (await digestWith({}, '--window-end', moment(40))).json()
    t.hasStrict(empty.windows, [{ outcome: 'empty', episode: null, observation_count: 0 }])
    t.equal(world.asked().length, asked + 9)
  })

  await t.test('an older window waits for its images that are to be analysed, and is looked at '
    + 'again when one of it is', async (t) => {
    back()
    const asked = world.asked().length
    await world.analysed({ name: 'one.png', at: moment(70, 3) })
    await world.put(observationOf(world.folder, 'two.png', {
      captured_at: moment(70, 5), analysis_status: 'pending',
    }))
    t.equal((await digestWith({})).json().written, 0)
    world.say('Both.')
    await world.analysed({ name: 'three.png', at: moment(100, 3) })
    t.hasStrict((await digestWith({})).json(), { windows: [{ window_start: moment(100) }] })
    t.equal(world.asked().length, asked + 1, 'what waits keeps nothing older back')
    const due = (): readonly string[] =>
      world.view().all(digestDueCollection).map(({ id }) => id)
    const hourOf = (iso: string): string => `${iso.slice(0, 13)}:00:00.000Z`
    t.strictSame(due(), [hourOf(moment(100)), hourOf(moment(70))])
    await digestWith({})
    t.strictSame(due(), [hourOf(moment(70))], 'an hour that asks for nothing is looked at once')
  })

  await t.test('an older window waits for its images that wait for room or for a proof themselves, '
    + 'and for none that is blocked otherwise', async (t) => {
    back()
    const waiting = ['budget_exhausted', 'ceiling_exceeded', 'proof_stale', 'proof_missing']
    const stays = ['before_consent', 'image_damaged', 'cloud_upload_off']
    for (const [n, reason] of [...waiting, ...stays].entries()) {
      await world.analysed({ name: `beside-${reason}.png`, at: moment(70 + n, 3) })
      await world.put(blocked(world.folder, moment(70 + n, 5), reason))
      world.say(`Text ${n}.`, { after: n })
    }
    const first = (await digestWith({})).json()
    t.strictSame(first.windows.map((one: { window_start: string }) => one.window_start),
      [moment(76), moment(75), moment(74)])
    t.equal((await digestWith({})).json().written, 0, 'and each goes on waiting')
  })

  await t.test('a change that comes between the look and the drop of an hour is not forgotten',
    async (t) => {
    back()
    await world.analysed({ name: 'one.png', at: moment(70, 3) })
    const before = dueHoursBefore(world.view(), moment(60), 24)
    await world.analysed({ name: 'two.png', at: moment(70, 4) })
    const { store } = world.ctx('write').gov
    await store.transact('test', (tx) => dropDigestDue(tx, before))
    t.equal(dueHoursBefore(store.read(), moment(60), 24).length, 1)
    await store.transact('test', (tx) =>
      dropDigestDue(tx, dueHoursBefore(tx, moment(60), 24)))
    t.equal(dueHoursBefore(store.read(), moment(60), 24).length, 0)
    store.close()
  })

  await t.test('the last hour of the calendar is none of before', async (t) => {
    back()
    await world.analysed({ name: 'late.png', at: '9999-12-31T23:10:00.000Z' })
    t.strictSame(dueHoursBefore(world.view(), moment(60), 24), [])
  })

  await t.test('a change is not forgotten either where the hour was dropped since the look',
    async (t) => {
    back()
    await world.analysed({ name: 'one.png', at: moment(70, 3) })
    const { store } = world.ctx('write').gov
    const before = dueHoursBefore(store.read(), moment(60), 24)
    await store.transact('another tick', (tx) => dropDigestDue(tx, before))
    store.close()
    await world.analysed({ name: 'two.png', at: moment(70, 4) })
    const later = world.ctx('write').gov.store
    await later.transact('test', (tx) => dropDigestDue(tx, before))
    t.equal(dueHoursBefore(later.read(), moment(60), 24).length, 1)
    later.close()
  })

  await t.test('an older window waits for no image that nobody will analyse: its file is gone, or '
    + 'it lies under another folder', async (t) => {
    back()
    await world.analysed({ name: 'one.png', at: moment(70, 3) }, { name: 'b.png', at: moment(80) })
    await world.put(observationOf(world.folder, 'gone.png', {
      captured_at: moment(70, 5), analysis_status: 'pending', classification: 'source_missing',
    }))
    await world.put(observationOf('/elsewhere', 'left.png', {
      captured_at: moment(80, 5), analysis_status: 'pending',
    }))
    world.say('One.')
    world.say('The other.', { after: 1 })
    t.hasStrict((await digestWith({})).json(), {
      windows: [{ window_start: moment(80) }, { window_start: moment(70) }],
    })
  })

  await t.test('every gate of the settings blocks a digest alone', async (t) => {
    back()
    const asked = world.asked().length
    await world.analysed({ name: 'g.png', at: moment(6, 3) })
    const gates = [
      ['--analysis', 'off', 'on', 'analysis_off'],
      ['--cloud-upload', 'off', 'on', 'cloud_upload_off'],
      ['--fallbacks', 'allow', 'deny', 'fallbacks_not_denied'],
      ['--data-collection', 'allow', 'deny', 'data_collection_not_denied'],
      ['--zdr', 'off', 'on', 'zdr_not_on'],
    ] as const
    for (const [flag, closed, open, reason] of gates) {
      await world.run(['shots', 'config', 'set', flag, closed])
      const ran = await digestWith({})
      t.equal(ran.status, 7, reason)
      t.hasStrict(ran.json(), { status: 'blocked', blocked: 1, reason })
      const told = await world.run(['shots', 'digest'])
      t.match(told.stderr, `next: Run \`sallyport shots setup ${flag} ${open}\`.`, reason)
      await world.run(['shots', 'config', 'set', flag, open])
    }
    t.equal(world.asked().length, asked, 'nothing was sent')
  })

  await t.test('the bound of the source is what a text holds where it is below the slot',
    async (t) => {
    back()
    const bounds = [['40000', 40_000], ['900000', 100_000]] as const
    for (const [at, [bound, held]] of bounds.entries()) {
      await world.run(['shots', 'config', 'set', '--request-cost-bound-microusd', bound])
      await world.analysed({ name: `bound-${bound}.png`, at: moment(24 + at, 3) })
      world.say('No cost.', { cost: null })
      const ran = await digestWith({}, '--window-end', moment(23 + at))
      t.hasStrict(ran.json(), { held_microusd: held }, ran.stderr)
      await world.analysed({ name: `two-${bound}.png`, at: moment(24 + at, 4) })
      world.say('No cost.', { cost: null })
      const report = ['--since', moment(24 + at), '--until', moment(23 + at), '--conclude']
      const concluded = await world.run(['shots', 'report', ...report])
      t.match(concluded.stderr, `full bound of ${moneyText(held)}`)
    }
  })
})

t.test('the job takes no older window of before the consent, which a person may name', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  must(await world.run(['policy', 'revoke', '--json']))
  await world.analysed({ name: 'a.png', at: moment(70, 3) })
  await world.analysed({ name: 'half.png', at: moment(110, 3) })
  must(await world.widen(['--slot', 'report', '--model', 'gateway/acme/report-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.digest']))
  await world.analysed({ name: 'b.png', at: moment(90, 3) })
  await world.analysed({ name: 'other-half.png', at: moment(110, 8) })
  const asked = world.asked().length
  world.say('After the consent.')
  t.hasStrict((await world.digest()).json(), { windows: [{ window_start: moment(90) }] })
  t.equal((await world.digest()).json().written, 0)
  t.equal(world.asked().length, asked + 1)
  world.say('By name.')
  t.hasStrict((await world.digest('--window-end', moment(69))).json(), { written: 1 })
})

/** Another consent than the one that there was. */
const regrant = async (world: TextWorld): Promise<void> => {
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen(['--slot', 'report', '--model', 'gateway/acme/report-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.digest']))
}

t.test('an older window waits for no room while no image may be sent at all: no pass takes up what it holds', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await regrant(world)
  await world.analysed({ name: 'a.png', at: moment(70, 3) })
  await world.put(blocked(world.folder, moment(70, 5), 'budget_exhausted'))
  world.say('One.')
  t.hasStrict((await world.digest()).json(), {
    written: 1, windows: [{ window_start: moment(70) }],
  })
})

t.test('a tick takes no older window under a consent that was given while it bought the first', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 3) }, { name: 'b.png', at: moment(70, 3) },
    { name: 'c.png', at: moment(90, 3) })
  let done = false
  const ran = await world.run(['shots', 'digest', '--json'], {
    at: async (step) => {
      if (step !== 'digest.replied' || done) return
      done = true
      await regrant(world)
    },
  })
  t.hasStrict(ran.json(), { written: 0, failed: 1, not_repeated: 2 }, ran.stderr)
  t.equal(world.asked().length, 1, 'the one that was under way')
  t.strictSame(world.episodes(), [])
})

t.test('a tick that began without a consent takes no older window under one of meanwhile', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const [, gone] = await world.analysed({ name: 'a.png', at: moment(70, 3) },
    { name: 'b.png', at: moment(90, 3) })
  // An hour that asks for nothing is dropped, in a record of its own before anything is bought.
  await world.change(gone?.observation_id ?? '', { classification: 'source_missing' })
  must(await world.run(['policy', 'revoke', '--json']))
  const claims = world.view().all(claimCollection).length
  const receipt = await digestTick(betweenLookAndClaim(world, () => regrant(world)))
  t.hasStrict(receipt, {
    written: 0, windows: [{ outcome: 'not_repeated', reason: 'inputs_changed' }],
  })
  t.equal(world.view().all(claimCollection).length, claims)
})

t.test('S-104 S-026 without a model there is no episode and no text', async (t) => {
  const world = await World.in(t).state().session().images()
  await world.put(observationOf(world.folder, 'a.png', {
    captured_at: moment(2, 1), analysis_status: 'succeeded', payload: payloadRefOf(),
  }))
  const ran = await world.run(['shots', 'digest', '--json'])
  t.equal(ran.status, 7)
  t.hasStrict(ran.json(), { status: 'blocked', written: 0, windows: [{ episode: null }] })
  t.strictSame((await world.run(['shots', 'digests', '--json'])).json(), [])
})

t.test('S-104 a slot that was never proved writes no digest', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  const ran = await world.digest()
  t.hasStrict(ran.json(), { status: 'blocked', reason: 'proof_missing' })
  t.hasStrict(ran.error(), { code: 'digest_blocked', reason: 'proof_missing' })
  t.equal(world.asked().length, 0)
  const told = await world.run(['shots', 'digest'])
  t.match(told.stderr, 'next: Run `sallyport gateway prove report')
})
