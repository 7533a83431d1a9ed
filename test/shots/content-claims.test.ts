/**
 * A paid request is bound to the bytes it was about: no new row of the same bytes, however it came
 * to be, sends them again by itself.
 */
import { cpSync, renameSync } from 'node:fs'
import type { Test } from 'tap'
import { settleCeiling } from '../support/fabric/settle-ceiling.js'
import { keptOf } from '../support/kept.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { greyPng } from '../support/png.js'
import { analyze, nextImage, scan, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages, slotFlags } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

/** How a request fails after it may have been sent. */
const failures = {
  refused: { fault: 'shot_prose' },
  truncated: { fault: 'shot_cut' },
  no_cost: { fault: 'no_cost' },
  reset: { fault: 'reset_before_headers' },
  killed: { stop: 'contact_intent' },
  killed_late: { stop: 'replied' },
  // Behind it the gateway is let alone for a while, so that nothing would be sent for another one.
  error: { fault: 'status_500' },
} as const
type Failure = keyof typeof failures
const names = Object.keys(failures) as Failure[]

const modified = '2026-11-20T10:00:00.000Z'

const failing = async (t: Test, world: AnalysisWorld, name: Failure): Promise<void> => {
  world.file(`${name}.png`, nextImage(), modified)
  await scan(world)
  const how = failures[name]
  if ('fault' in how) {
    world.sandbox.faults.set(how.fault, { service: 'gateway', times: 1 })
    await analyze(world)
    return
  }
  const ran = await world.place.spawn(['shots', 'analyze', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: `analyze.${how.stop}` }, coverage: false,
  })
  t.equal(ran.status, 137, ran.stderr)
}

/** Brings the authority of a restored state back, as an operator does. */
const grantAnew = async (world: AnalysisWorld): Promise<void> => {
  must(await world.run(['login', '--json']))
  await settleCeiling(world)
  must(await world.widen(slotFlags('screenshot', 'gateway.vision')))
  must(await world.prove('screenshot'))
}

/** Ways in which known bytes come to have a new row. */
const ways: Readonly<Record<string, (world: AnalysisWorld) => Promise<void>>> = {
  'a renamed folder': async (world) => {
    const other = world.place.path('renamed')
    renameSync(world.folder, other)
    await set(world, '--folder', other)
  },
  'clear-stale': async (world) => {
    const other = world.place.path('other')
    cpSync(world.folder, other, { recursive: true, preserveTimestamps: true })
    await set(world, '--folder', other)
    must(await world.run(['shots', 'clear-stale', '--yes', '--json']))
  },
  'an archived row': async (world) => {
    await set(world, '--folder', world.place.path('.'))
    must(await world.run(['shots', 'clear-stale', '--yes', '--json']))
    await set(world, '--folder', world.folder)
  },
  'another folder': async (world) => {
    const other = world.place.path('other')
    cpSync(world.folder, other, { recursive: true, preserveTimestamps: true })
    await set(world, '--folder', other)
  },
  'a restored backup': async (world) => {
    must(await world.run(['state', 'restore', world.place.path('backup'), '--yes', '--json']))
    await grantAnew(world)
  },
}

/** Requests about pictures that the gateway saw. */
const posts = (world: AnalysisWorld): number =>
  world.calls().filter(({ body }) => body.includes('svc_screenshot_analysis_v1')).length

t.test('S-168 whatever became of its one request, no bytes are sent again by a new row', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  must(await world.run(['state', 'backup', world.place.path('backup'), '--json']))
  for (const name of names) await failing(t, world, name)
  t.equal((await analyze(world)).json().scanned, 0)
  t.equal(posts(world), names.length - 1, 'each once, but the one killed before its bytes')
  const failed = keptOf(world)
  for (const [way, go] of Object.entries(ways)) {
    await t.test(`S-168 after ${way} every failed or uncertain image stays at its one POST`, async (t) => {
      failed()
      await go(world)
      await scan(world)
      for (let pass = 0; pass < 2; pass += 1) await analyze(world, '--limit', '20')
      t.equal(posts(world), 0, 'nothing was sent a second time')
      const rows = world.rows().filter((row) => row.archived_at === null)
      const here = rows.filter((row) => row.root === rows.at(-1)?.root)
      t.strictSame(
        here.map((row) => row.analysis_status), names.map(() => 'failed'), 'told as failed'
      )
      t.ok(here.every((row) => row.analyzer.operation_id !== null), 'with the operation')
      const list = await world.run(['shots', 'list', '--status', 'failed', '--json'])
      t.equal(list.json().length >= names.length, true)
      const check = await world.run(['state', 'check', '--json'])
      t.equal(check.status, 0, check.stdout)
      checkLedger(t, world)
      const [one] = here
      const other = await world.run([
        'shots', 'reanalyze', one?.observation_id ?? '', '--reason', 'manual_operator_request',
        '--json',
      ])
      t.hasStrict(other.error(), { reason: 'provider_failure_retry_needed' })
      const again = await world.run([
        'shots', 'reanalyze', one?.observation_id ?? '', '--reason', 'provider_failure_retry',
        '--json',
      ])
      t.hasStrict(again.json(), { analyzed: 1 }, again.stderr)
      t.equal(posts(world), 1, 'a person who says so sends it once more')
    })
  }
})

t.test('S-069 S-072 bytes of a suppressed image that come again are a duplicate and never a paid row', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const picture = (level: number): Buffer => greyPng(64, 48, 200, level)
  const at = (minute: number): string => `2026-11-20T10:0${minute}:00.000Z`
  world.file('a.png', picture(1), at(0))
  world.file('like-a.png', picture(9), at(1))
  world.file('b.png', greyPng(64, 48, 90), at(2))
  t.hasStrict(await scan(world), { ingested: 2, suppressed: 1 })
  world.file('again.png', picture(9), at(3))
  world.file('again-2.png', picture(9), at(4))
  t.hasStrict(
    await scan(world), { ingested: 0, suppressed: 0, reasons: { same_bytes_suppressed: 2 } }
  )
  t.hasStrict(await scan(world), { ingested: 0, known: 5 })
  t.hasStrict((await analyze(world)).json(), { analyzed: 2 })
  const bytes = picture(9).toString('base64')
  t.notOk(world.calls().some(({ body }) => body.includes(bytes)), 'they never left')
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)

  const other = world.place.path('renamed')
  renameSync(world.folder, other)
  await set(world, '--folder', other)
  await scan(world)
  t.equal(world.rows().length, 2, 'in a renamed folder neither')
})

t.test('S-168 after a copy that was made during a call is put back, its image is failed with the charge that the call had', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  world.file('a.png', nextImage())
  await scan(world)
  const backup = world.place.path('during')
  const ran = await world.run(['shots', 'analyze', '--json'], {
    at: async (step) => {
      if (step === 'analyze.before_first_byte') {
        must(await world.run(['state', 'backup', backup, '--json']))
      }
    },
  })
  t.hasStrict(ran.json(), { analyzed: 1 }, ran.stderr)
  must(await world.run(['state', 'restore', backup, '--yes', '--json']))
  await analyze(world)
  const [row] = world.rows()
  t.hasStrict(row, {
    analysis_status: 'failed', payload: null,
    analyzer: { contact: 'ended', reason: 'result_not_here' },
  })
  t.equal(posts(world), 1)
  checkLedger(t, world)
})
