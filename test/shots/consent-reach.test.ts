/** From when a consent reaches, and whose: clocks, regrants and people who left. */
import { writeFileSync } from 'node:fs'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { collections } from '../../src/governance/rows.js'
import { systemClock } from '../../src/base/clock.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { checkLedger } from '../support/ledger.js'
import { observationOf } from '../support/observations.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { must } from '../support/must.js'
import { holding, nextImage, rowOf, sent, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

/** The consent ends and another one is given. */
const regrant = async (world: AnalysisWorld): Promise<void> => {
  await must(world.run(['policy', 'revoke', '--json']))
  await must(world.widen([
    '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision',
  ]))
}

t.test('S-021 what was taken in before the consent stays here although the clock was ahead then', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const ahead = { ...systemClock, wallMs: () => systemClock.wallMs() + 3_600_000 }
  world.file('old.png', nextImage())
  await must(world.run(['shots', 'scan', '--json'], { clock: ahead }))
  await regrant(world)
  await take(world, 'new.png')
  const granted = rowOf(world, 'new.png').observed_at
  t.ok(rowOf(world, 'old.png').observed_at > granted, 'its time lies after the consent')
  const ran = await world.run(['shots', 'analyze', '--json'])
  t.hasStrict(ran.json(), { analyzed: 1, blocked: 1 }, ran.stderr)
  t.hasStrict(rowOf(world, 'old.png'), {
    analysis_status: 'blocked', payload: null, analyzer: { reason: 'before_consent' },
  })
  t.equal(rowOf(world, 'new.png').analysis_status, 'succeeded')
  t.equal(sent(world), 1)
  checkLedger(t, world)
})

t.test('S-021 a thousand images from before the consent keep none from its turn that it reaches', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'new.png')
  const blocked = (row: Observation): Observation => ({
    ...row, analysis_status: 'blocked', analyzer: { ...row.analyzer, reason: 'analysis_off' },
  })
  await world.put(
    blocked(rowOf(world, 'new.png')),
    ...Array.from({ length: 1_001 }, (_, n) => blocked(observationOf(world.folder, `${n}.png`, {
      captured_at: '2026-11-19T10:00:00.000Z', observed_revision: 1,
    }))),
  )
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), {
    restored: 1, analyzed: 1,
  })
})

for (const step of ['claimed', 'reserved'] as const) {
  t.test(`S-021 S-159 an image that waits at ${step} while the consent ends and another is given does not go out`, async (t) => {
    const world = await World.in(t).sandbox().state().session()
      .gateway(forImages).images(allowed).proof('screenshot')
    await take(world, 'a.png')
    let done = false
    const ran = await world.run(['shots', 'analyze', '--json'], {
      at: async (at) => {
        if (done || at !== `analyze.${step}`) return
        done = true
        await regrant(world)
        await must(world.prove('screenshot', { args: ['--if-stale'] }))
      },
    })
    t.hasStrict(ran.json(), {
      analyzed: 0, blocked: 1, items: [{ reason: 'before_consent', cost_microusd: null }],
    }, ran.stderr)
    t.hasStrict(rowOf(world, 'a.png'), {
      analysis_status: 'blocked', payload: null,
      analyzer: { reason: 'before_consent', contact: 'none' },
    })
    t.equal(sent(world), 0)
    t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { scanned: 0 })
    checkLedger(t, world)
  })
}

t.test('S-159 a reanalysis that waits does not go out under a consent that was given meanwhile, and what it had stays', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  await must(world.run(['shots', 'analyze', '--json']))
  const before = rowOf(world, 'a.png')
  let done = false
  const argv = ['shots', 'reanalyze', before.observation_id, '--json']
  const ran = await world.run([...argv, '--reason', 'manual_operator_request'], {
    at: async (at) => {
      if (done || at !== 'analyze.claimed') return
      done = true
      await regrant(world)
    },
  })
  t.hasStrict(ran.json(), { analyzed: 0, blocked: 1 }, ran.stderr)
  const { analysis_status, payload, analyzer } = rowOf(world, 'a.png')
  t.strictSame([analysis_status, payload], [before.analysis_status, before.payload])
  t.equal(analyzer.contact, 'ended')
  t.equal(sent(world), 1)
})

t.test('S-021 S-159 a bulk goes on under no consent that was given after its yes', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png', 'b.png'))
  await must(world.run(['shots', 'analyze', '--json']))
  await world.put(...world.rows().map((row) => ({
    ...row, analysis_status: 'blocked' as const,
    analyzer: { ...row.analyzer, reason: 'before_consent' },
  })))
  let claims = 0
  const ran = await world.run([
    'shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--yes', '--json',
  ], {
    at: async (at) => {
      if (at !== 'analyze.finished') return
      claims += 1
      if (claims > 1) return
      await regrant(world)
      await must(world.prove('screenshot', { args: ['--if-stale'] }))
    },
  })
  t.hasStrict(ran.json(), {
    analyzed: 1, blocked: 1, items: [{ outcome: 'succeeded' }, { reason: 'before_consent' }],
  }, ran.stderr)
  t.equal(sent(world), 3, 'the second image waits for somebody who asks under the new consent')
  t.equal(rowOf(world, 'b.png').analyzer.reason, 'before_consent')
  checkLedger(t, world)
})

t.test('S-021 S-126 the consent of a disabled owner opens no gate: no claim, no byte, and remote routing is not safe', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  const phrase = world.place.path('phrase')
  writeFileSync(phrase, 'a phrase that is long enough\n')
  await must(world.run(['principal', 'add', 'other', '--passphrase-file', phrase, '--json']))
  const [owner] = world.view().all(collections.principals).map(({ doc }) => doc)
    .filter((one) => one.name !== 'other')
  await must(world.run([
    'login', '--json', '--replace', '--owner', 'other', '--passphrase-file', phrase,
  ]))
  await must(world.run(['principal', 'disable', owner?.name ?? '', '--yes', '--json']))
  const before = world.calls().length
  const claims = world.view().all(claimCollection).length
  const reasons = { status: 'blocked', reason: 'principal_disabled' }
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { ...reasons, blocked: 1 })
  for (let pass = 0; pass < 2; pass += 1) {
    t.hasStrict(
      (await world.run(['shots', 'analyze', '--json'])).json(), { restored: 0, blocked: 0 }
    )
  }
  t.equal(world.view().all(claimCollection).length, claims)
  t.equal(world.calls().length, before)
  t.hasStrict(rowOf(world, 'a.png').analyzer, { reason: 'principal_disabled', attempts: 0 })
  const status = (await world.run(['shots', 'status', '--json'])).json()
  t.match(JSON.stringify(status), 'principal_disabled')
  t.match(JSON.stringify(status), '"remote_routing_safe":false')
  await take(world, 'b.png')
  t.hasStrict(rowOf(world, 'b.png'), {
    analysis_status: 'blocked', analyzer: { reason: 'principal_disabled' },
  })
  await regrant(world)
  await must(world.prove('screenshot'))
  await take(world, 'c.png')
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { analyzed: 1 })
})
