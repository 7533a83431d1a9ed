/** Images that the settings leave out, and files that cannot be read for a moment. */
import { mkdirSync } from 'node:fs'
import { isRowSelected } from '../../src/shots/analysis/privacy.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { movedClock } from '../support/clock.js'
import { observationOf } from '../support/observations.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { nextImage, rowOf, scan, sent, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

const analyze = async (world: AnalysisWorld) =>
  (await world.run(['shots', 'analyze', '--json'])).json()

/** One image in the folder and one in a folder below. */
const twoFolders = async (world: AnalysisWorld): Promise<void> => {
  await set(world, '--recursive', 'on')
  mkdirSync(`${world.folder}/below`)
  world.file('below/a.png', nextImage(), '2026-11-20T10:00:00.000Z')
  world.file('top.png', nextImage(), '2026-11-20T10:01:00.000Z')
  await scan(world)
}

t.test('S-021 with recursive off an image of a folder below is blocked and stays here; on again it goes', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(twoFolders)
  await set(world, '--recursive', 'off')
  t.hasStrict(
    await analyze(world), { analyzed: 1, blocked: 1, items: [{ reason: 'recursive_off' }, {}] }
  )
  t.equal(sent(world), 1)
  t.hasStrict(rowOf(world, 'below/a.png'), {
    analysis_status: 'blocked', classification: null, analyzer: { reason: 'recursive_off' },
  })
  t.hasStrict(await analyze(world), {
    scanned: 0, restored: 0, passed_over_reasons: [{ reason: 'recursive_off', count: 1 }],
  })
  await set(world, '--recursive', 'on')
  t.hasStrict(await analyze(world), { analyzed: 1, restored: 1 })
  t.equal(rowOf(world, 'below/a.png').analysis_status, 'succeeded')
})

t.test('S-021 recursive that is switched off while such an image waits keeps it here', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(twoFolders)
  let done = false
  const ran = await world.run(['shots', 'analyze', '--json', '--limit', '1'], {
    at: async (at) => {
      if (done || at !== 'analyze.claimed') return
      done = true
      await set(world, '--recursive', 'off')
    },
  })
  t.hasStrict(ran.json(), { analyzed: 0, items: [{ reason: 'recursive_off' }] }, ran.stderr)
  t.equal(sent(world), 0)
  const paths = [...observationOf(world.folder, 'below/a.png').paths]
  t.notOk(isRowSelected({ paths }, false))
  t.ok(isRowSelected({ paths: [...paths, ...observationOf(world.folder, 'b.png').paths] }, false))
})

t.test('S-019 a file that cannot be read for a moment is tried again by the next pass, and takes no other one\'s place', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(twoFolders)
  await world.put({
    ...rowOf(world, 'below/a.png'), analysis_status: 'blocked',
    analyzer: { ...rowOf(world, 'below/a.png').analyzer, reason: 'file_unreadable' },
  })
  t.hasStrict(await analyze(world), { restored: 1, analyzed: 2, passed_over: 0 })
  t.equal(rowOf(world, 'below/a.png').analysis_status, 'succeeded')
})

t.test('S-019 a file that can be read again has its turn behind any number of files that stay unreadable', async (t) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(twoFolders)
  const unreadable = (row: Observation): Observation => ({
    ...row, analysis_status: 'blocked',
    analyzer: { ...row.analyzer, reason: 'file_unreadable' },
  })
  await world.put(
    ...Array.from({ length: 150 }, (_, n) => unreadable(observationOf(
      world.folder, `${'x'.repeat(300)}${n}.png`,
      { captured_at: '2026-11-19T10:00:00.000Z', observed_revision: 1_000 }))),
    unreadable(rowOf(world, 'below/a.png')), unreadable(rowOf(world, 'top.png')),
  )
  for (let pass = 0; pass < 3; pass += 1) {
    await analyze(world)
    clock.advance(60_000)
  }
  t.equal(rowOf(world, 'below/a.png').analysis_status, 'succeeded')
  t.equal(rowOf(world, 'top.png').analysis_status, 'succeeded')
})

t.test('S-019 a file that stays unreadable keeps its reason and lets newer images go', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(twoFolders)
  // A name that the kernel refuses, whoever asks.
  const name = `${'x'.repeat(300)}.png`
  await world.put(observationOf(world.folder, name, {
    analysis_status: 'pending', observed_revision: 1_000,
    analyzer: { ...observationOf('/x', 'x').analyzer, reason: null },
  }))
  t.hasStrict(await analyze(world), { analyzed: 2, blocked: 1, skipped: 0 })
  t.hasStrict(rowOf(world, name).analyzer, { reason: 'file_unreadable' })
  t.hasStrict(await analyze(world), {
    scanned: 0, restored: 0, passed_over_reasons: [{ reason: 'file_unreadable', count: 1 }],
  })
})
