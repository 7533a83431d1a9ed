/** Images whose files go: what was paid for stays, and what is gone does not leave. */
import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkLedger } from '../support/ledger.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran } from '../world/place.js'
import { World, type AnalysisWorld } from '../world/world.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { must } from '../support/must.js'
import { holding, nextImage, rowOf, sent } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

t.test('S-154 S-160 reanalysing an image whose file was deleted takes nothing away that was paid for', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png', 'b.png'))
  await must(world.run(['shots', 'analyze', '--json']))
  unlinkSync(`${world.folder}/a.png`)
  const before = { row: rowOf(world, 'a.png'), sent: sent(world) }
  const again = ['shots', 'reanalyze', before.row.observation_id]
  const ran = await world.run([...again, '--reason', 'manual_operator_request', '--json'])
  t.hasStrict(ran.json(), { items: [{ outcome: 'blocked', reason: 'source_missing' }] }, ran.stderr)
  t.strictSame({ row: rowOf(world, 'a.png'), sent: sent(world) }, before)
  const report = await must(world.run(['shots', 'report', '--json', '--since', '2026-11-20']))
  t.hasStrict(report.json().report.provenance.excluded, { source_missing: 0 })

  await t.test('a bulk leaves it out and says so, instead of taking it each time', async (t) => {
    const older = (name: string): Observation => {
      const row = rowOf(world, name)
      return {
        ...row, analysis_status: 'needs_reanalysis',
        payload: row.payload && { ...row.payload, prompt_version: 'svc.older.v0' },
      }
    }
    const [kept, other] = [older('a.png'), older('b.png')]
    await world.put(kept, other)
    const bulk = await world.run([
      'shots', 'reanalyze', '--needs', '--limit', '1', '--yes', '--json',
      '--reason', 'prompt_version_changed',
    ])
    t.equal(bulk.status, 0, bulk.stderr)
    t.match(bulk.stderr, /1 found, 1 would be sent/)
    t.match(bulk.stderr, /1 left out: their files are gone/)
    t.hasStrict(bulk.json(), { analyzed: 1 })
    t.hasStrict(rowOf(world, 'a.png'), {
      analysis_status: 'needs_reanalysis', classification: null, payload: kept.payload,
    })
  })
  checkLedger(t, world)
})

t.test('where an empty mount point is left of the disk that the images lay on, none of them counts as gone', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png'))
  const scan = () => world.run(['shots', 'scan', '--json'])
  must(await scan())
  unlinkSync(`${world.folder}/a.png`)
  t.equal((await scan()).status, 0, 'an emptied folder is one')
  const run = join(world.place.stateDir, 'run/shots')
  const [tick = ''] = readdirSync(run).filter((name) => name.startsWith('tick-'))
  const told = JSON.parse(readFileSync(join(run, tick), 'utf8'))
  t.ok(world.folder.startsWith(told.mount), 'where they lay is kept over an empty look')
  writeFileSync(join(run, tick), JSON.stringify({ ...told, mount: world.folder }))
  for (const again of [1, 2]) {
    const ran = await scan()
    t.strictSame([ran.status, ran.error().code], [3, 'folder_unmounted'], `look ${again}`)
  }
  const pass = await world.run(['shots', 'analyze', '--json'])
  t.hasStrict(pass.json(), { status: 'degraded', reason: 'folder_unmounted', analyzed: 0 })
  t.hasStrict(rowOf(world, 'a.png'), { analysis_status: 'pending', classification: null })
  world.file('b.png', nextImage(), '2026-11-20T11:00:00.000Z')
  t.equal((await scan()).status, 0, 'what lies there now is where the images lie')
  t.equal(JSON.parse(readFileSync(join(run, tick), 'utf8')).mount, told.mount)
})

const analyzeWith = (
  world: AnalysisWorld, step: string, happens: () => unknown,
): Promise<Ran> => {
  let done = false
  return world.run(['shots', 'analyze', '--json'], {
    at: async (at) => {
      if (done || at !== `analyze.${step}`) return
      done = true
      await happens()
    },
  })
}

t.test('S-154 S-021 an image that was read ahead and deleted before its turn is missing, and no byte of it leaves', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png', 'b.png'))
  const ran = await analyzeWith(world, 'replied', () => unlinkSync(`${world.folder}/b.png`))
  t.hasStrict(ran.json(), {
    analyzed: 1, blocked: 1, failed: 0, items: [{}, { reason: 'source_missing' }],
  }, ran.stderr)
  t.hasStrict(rowOf(world, 'b.png'), {
    analysis_status: 'pending', classification: 'source_missing', analyzer: { contact: 'none' },
  })
  t.equal(sent(world), 1)
  t.hasStrict((await world.run(['shots', 'analyze', '--json'])).json(), { scanned: 0 })
  checkLedger(t, world)
})

t.test('S-154 a deletion in front of the first byte is seen, and what was analysed before stays', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png'))
  await must(world.run(['shots', 'analyze', '--json']))
  const before = rowOf(world, 'a.png')
  let done = false
  const argv = ['shots', 'reanalyze', before.observation_id, '--json']
  const ran = await world.run([...argv, '--reason', 'manual_operator_request'], {
    at: (at) => {
      if (done || at !== 'analyze.before_first_byte') return
      done = true
      unlinkSync(`${world.folder}/a.png`)
    },
  })
  t.hasStrict(ran.json(), { items: [{ outcome: 'blocked', reason: 'source_missing' }] }, ran.stderr)
  const { analysis_status, payload, classification } = rowOf(world, 'a.png')
  t.strictSame({ analysis_status, payload, classification }, {
    analysis_status: 'succeeded', payload: before.payload, classification: null,
  })
  t.equal(sent(world), 1)
})

t.test('S-019 another file under the name waits for a later pass, and nothing of the old one leaves', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png'))
  const other = nextImage()
  const ran = await analyzeWith(world, 'claimed', () =>
    world.file('a.png', other, '2026-11-20T10:30:00.000Z'))
  t.hasStrict(ran.json(), { analyzed: 0, skipped: 1, failed: 0 }, ran.stderr)
  t.hasStrict(rowOf(world, 'a.png'), {
    analysis_status: 'pending', classification: null, analyzer: { contact: 'none' },
  })
  t.equal(sent(world), 0)
})

for (const status of [401, 403, 429]) {
  t.test(`S-136 S-137 a reply of ${status} stops the pass: one hold, the rest pending, and the receipt says why`, async (t) => {
    const world = await World.in(t).sandbox().state().session()
      .gateway(forImages).images(allowed).proof('screenshot')
      .with(holding('a.png', 'b.png', 'c.png'))
    world.sandbox.faults.reply({ status, body: '{}' }, { service: 'gateway', times: 3 })
    const ran = await world.run(['shots', 'analyze', '--json'])
    t.hasStrict(ran.json(), {
      status: 'degraded', reason: `http_status_${status}`, failed: 1, skipped: 2, analyzed: 0,
      held_microusd: 100_000,
    }, ran.stderr)
    t.equal(sent(world), 1)
    for (const name of ['b.png', 'c.png']) t.equal(rowOf(world, name).analysis_status, 'pending')
  })
}
