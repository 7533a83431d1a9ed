/** Images whose files go: what was paid for stays, and what is gone does not leave. */
import { unlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Observation } from '../../src/shots/rows.js'
import { checkLedger } from '../alpha/rig.js'
import type { Ran } from '../harness.js'
import { greyPng, makeGatewayWorld, type GatewayWorld } from './rig.js'

t.setTimeout(120_000)

let seed = 20_000

const must = async (ran: Promise<Ran>): Promise<Ran> => {
  const done = await ran
  if (done.status !== 0) throw new Error(done.stderr)
  return done
}

const prepared = async (t: Test, ...names: readonly string[]): Promise<GatewayWorld> => {
  const world = await makeGatewayWorld(t)
  await must(world.rig.prove('screenshot'))
  for (const [n, name] of names.entries()) {
    world.file(name, greyPng(64, 48, (seed += 1)), `2026-11-20T10:0${n}:00.000Z`)
  }
  await must(world.run(['shots', 'scan', '--json']))
  return world
}

const rowOf = (world: GatewayWorld, name: string): Observation => {
  const row = world.rows().find(({ paths }) => paths[0]?.name.text === name)
  if (row === undefined) throw new Error(`no row of ${name}`)
  return row
}

const sent = (world: GatewayWorld): number =>
  world.rig.calls().filter(({ body }) => body.includes('svc_screenshot_analysis_v1')).length

t.test('S-154 S-160 reanalysing an image whose file was deleted takes nothing away that was paid for', async (t) => {
  const world = await prepared(t, 'a.png', 'b.png')
  await must(world.run(['shots', 'analyze', '--json']))
  unlinkSync(`${world.folder}/a.png`)
  const before = { row: rowOf(world, 'a.png'), sent: sent(world) }
  const again = ['shots', 'reanalyze', before.row.observation_id]
  const ran = await world.run([...again, '--reason', 'manual_operator_request', '--json'])
  t.match(ran.json(), { items: [{ outcome: 'blocked', reason: 'source_missing' }] }, ran.stderr)
  t.same({ row: rowOf(world, 'a.png'), sent: sent(world) }, before)
  const report = await must(world.run(['shots', 'report', '--json', '--since', '2026-11-20']))
  t.match(report.json().report.provenance.excluded, { source_missing: 0 })

  await t.test('a bulk leaves it out and says so, instead of taking it each time', async (t) => {
    await world.put(...['a.png', 'b.png'].map((name) => ({
      ...rowOf(world, name), analysis_status: 'needs_reanalysis' as const,
    })))
    const bulk = await world.run([
      'shots', 'reanalyze', '--needs', '--limit', '1', '--yes', '--json',
      '--reason', 'prompt_version_changed',
    ])
    t.equal(bulk.status, 0, bulk.stderr)
    t.match(bulk.stderr, /1 found, 1 would be sent/)
    t.match(bulk.stderr, /1 left out: their files are gone/)
    t.match(bulk.json(), { analyzed: 1 })
    t.match(rowOf(world, 'a.png'), {
      analysis_status: 'needs_reanalysis', classification: null, payload: before.row.payload,
    })
  })
  checkLedger(t, world.rig)
})
