/** A retry that is refused before contact: what it was about stays what it was. */
import t, { type Test } from 'tap'
import type { Observation } from '../../src/shots/observations/rows.js'
import { checkLedger } from '../support/ledger.js'
import { greyPng } from '../support/png.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran } from '../world/place.js'
import { World, type AnalysisWorld } from '../world/world.js'

t.setTimeout(120_000)

let seed = 22_000

const must = async (ran: Promise<Ran>): Promise<Ran> => {
  const done = await ran
  if (done.status !== 0) throw new Error(done.stderr)
  return done
}

const rowOf = (world: AnalysisWorld, name: string): Observation => {
  const row = world.rows().find(({ paths }) => paths[0]?.name.text === name)
  if (row === undefined) throw new Error(`no row of ${name}`)
  return row
}

const set = (world: AnalysisWorld, ...flags: string[]): Promise<Ran> =>
  must(world.run(['shots', 'config', 'set', '--json', ...flags]))

const names = ['a.png', 'b.png']

/** Two images whose requests nobody knows the end of. */
const uncertain = async (t: Test): Promise<AnalysisWorld> => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  await must(world.prove('screenshot'))
  for (const [n, name] of names.entries()) {
    world.file(name, greyPng(64, 48, (seed += 1)), `2026-11-20T10:0${n}:00.000Z`)
  }
  await must(world.run(['shots', 'scan', '--json']))
  world.sandbox.faults.set('reset_before_headers', { service: 'gateway', times: 2 })
  await world.run(['shots', 'analyze', '--json'])
  return world
}

/** What later passes do with a newer image while the two wait. */
const newerGoes = async (t: Test, world: AnalysisWorld): Promise<void> => {
  const calls = world.calls().length
  world.file('new.png', greyPng(64, 48, (seed += 1)), '2026-11-20T11:00:00.000Z')
  await must(world.run(['shots', 'scan', '--json']))
  for (const expected of [{ analyzed: 1, skipped: 0 }, { scanned: 0, skipped: 0 }]) {
    const ran = await world.run(['shots', 'analyze', '--json', '--limit', '2'])
    t.match(ran.json(), expected, ran.stderr)
  }
  t.equal(rowOf(world, 'new.png').analysis_status, 'succeeded')
  t.equal(world.calls().length, calls + 1, 'and nothing uncertain is sent again')
  for (const name of names) {
    t.match(rowOf(world, name), {
      analysis_status: 'failed', analyzer: { contact: 'uncertain' },
    }, name)
  }
}

t.test('S-168 a retry that is refused before contact leaves an uncertain image failed and uncertain, and newer images go on', async (t) => {
  const world = await uncertain(t)
  const before = names.map((name) => rowOf(world, name))
  t.ok(before.every((row) => row.analyzer.contact === 'uncertain'))
  for (const row of before) {
    let done = false
    const argv = ['shots', 'reanalyze', row.observation_id, '--json']
    const ran = await world.run([...argv, '--reason', 'provider_failure_retry'], {
      at: async (at) => {
        if (done || at !== 'analyze.claimed') return
        done = true
        await set(world, '--cloud-upload', 'off')
      },
    })
    t.match(ran.json(), { items: [{ outcome: 'blocked', reason: 'cloud_upload_off' }] })
    await set(world, '--cloud-upload', 'on')
  }
  for (const [n, name] of names.entries()) {
    const { analysis_status, analyzer: { reason, detail, contact } } = rowOf(world, name)
    const was = before[n]
    t.same({ analysis_status, reason, detail, contact }, {
      analysis_status: 'failed', reason: was?.analyzer.reason, detail: was?.analyzer.detail,
      contact: 'uncertain',
    })
  }
  await newerGoes(t, world)
  checkLedger(t, world)
})

for (const status of ['blocked', 'pending'] as const) {
  t.test(`S-168 an uncertain image that an earlier version left ${status} is failed again and keeps nothing from going on`, async (t) => {
    const world = await uncertain(t)
    await world.put(...names.map((name): Observation => {
      const row = rowOf(world, name)
      const reason = status === 'blocked' ? 'cloud_upload_off' : null
      return { ...row, analysis_status: status, analyzer: { ...row.analyzer, reason } }
    }))
    await newerGoes(t, world)
  })
}
