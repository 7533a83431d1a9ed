/** From when a consent reaches, and whose: clocks, regrants and people who left. */
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import type { Observation } from '../../src/shots/rows.js'
import { checkLedger } from '../alpha/rig.js'
import type { Ran } from '../harness.js'
import { greyPng, makeGatewayWorld, type GatewayWorld } from './rig.js'

t.setTimeout(120_000)

let seed = 21_000

const must = async (ran: Promise<Ran>): Promise<Ran> => {
  const done = await ran
  if (done.status !== 0) throw new Error(done.stderr)
  return done
}

const prepared = async (t: Test): Promise<GatewayWorld> => {
  const world = await makeGatewayWorld(t)
  await must(world.rig.prove('screenshot'))
  return world
}

const take = async (world: GatewayWorld, name: string): Promise<void> => {
  world.file(name, greyPng(64, 48, (seed += 1)))
  await must(world.run(['shots', 'scan', '--json']))
}

const rowOf = (world: GatewayWorld, name: string): Observation => {
  const row = world.rows().find(({ paths }) => paths[0]?.name.text === name)
  if (row === undefined) throw new Error(`no row of ${name}`)
  return row
}

const sent = (world: GatewayWorld): number =>
  world.rig.calls().filter(({ body }) => body.includes('svc_screenshot_analysis_v1')).length

/** The consent ends and another one is given. */
const regrant = async (world: GatewayWorld): Promise<void> => {
  await must(world.run(['policy', 'revoke', '--json']))
  await must(world.rig.widen([
    '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision',
  ]))
}

t.test('S-021 what was taken in before the consent stays here although the clock was ahead then', async (t) => {
  const world = await prepared(t)
  const ahead = { ...systemClock, wallMs: () => systemClock.wallMs() + 3_600_000 }
  world.file('old.png', greyPng(64, 48, (seed += 1)))
  await must(world.run(['shots', 'scan', '--json'], { clock: ahead }))
  await regrant(world)
  await take(world, 'new.png')
  const granted = rowOf(world, 'new.png').observed_at
  t.ok(rowOf(world, 'old.png').observed_at > granted, 'its time lies after the consent')
  const ran = await world.run(['shots', 'analyze', '--json'])
  t.match(ran.json(), { analyzed: 1, blocked: 1 }, ran.stderr)
  t.match(rowOf(world, 'old.png'), {
    analysis_status: 'blocked', payload: null, analyzer: { reason: 'before_consent' },
  })
  t.equal(rowOf(world, 'new.png').analysis_status, 'succeeded')
  t.equal(sent(world), 1)
  checkLedger(t, world.rig)
})

for (const step of ['claimed', 'reserved'] as const) {
  t.test(`S-021 S-159 an image that waits at ${step} while the consent ends and another is given does not go out`, async (t) => {
    const world = await prepared(t)
    await take(world, 'a.png')
    let done = false
    const ran = await world.run(['shots', 'analyze', '--json'], {
      at: async (at) => {
        if (done || at !== `analyze.${step}`) return
        done = true
        await regrant(world)
        await must(world.rig.prove('screenshot', { args: ['--if-stale'] }))
      },
    })
    t.match(ran.json(), {
      analyzed: 0, blocked: 1, items: [{ reason: 'before_consent', cost_microusd: null }],
    }, ran.stderr)
    t.match(rowOf(world, 'a.png'), {
      analysis_status: 'blocked', payload: null,
      analyzer: { reason: 'before_consent', contact: 'none' },
    })
    t.equal(sent(world), 0)
    t.match((await world.run(['shots', 'analyze', '--json'])).json(), { scanned: 0 })
    checkLedger(t, world.rig)
  })
}

t.test('S-159 a reanalysis that waits does not go out under a consent that was given meanwhile, and what it had stays', async (t) => {
  const world = await prepared(t)
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
  t.match(ran.json(), { analyzed: 0, blocked: 1 }, ran.stderr)
  const { analysis_status, payload, analyzer } = rowOf(world, 'a.png')
  t.same([analysis_status, payload], [before.analysis_status, before.payload])
  t.equal(analyzer.contact, 'ended')
  t.equal(sent(world), 1)
})
