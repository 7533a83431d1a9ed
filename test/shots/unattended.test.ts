/** What cron runs: no session is there to ask for, and what stands still is told by a status. */
import { renameSync } from 'node:fs'
import { systemClock } from '../../src/base/clock.js'
import { must } from '../support/must.js'
import { analyze, nextImage, scan } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

t.test('S-024 S-107 report, its conclusion, list and digests need no session, as the jobs do not', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  must(await world.run(['shots', 'digest', '--json']))
  must(await world.run(['logout']))
  t.equal(must(await world.run(['shots', 'list', '--json'])).json().length, 1)
  t.equal(must(await world.run(['shots', 'digests', '--json'])).json().length, 1)
  must(await world.run(['shots', 'report', '--json']))
  const line = ['shots', 'report', '--since', '2026-01-01', '--conclude', '--json']
  const said = must(await world.run(line))
  t.ok(said.json().conclusion, 'on the consent alone')
})

t.test('S-154 a missing folder is one reason and one status, told in text by every verb', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  world.file('a.png', nextImage())
  await scan(world)
  const [row] = world.rows()
  renameSync(world.folder, `${world.folder}-gone`)
  const lines = [
    ['shots', 'scan'], ['shots', 'analyze'], ['shots', 'run', '--once'],
    ['shots', 'reanalyze', row?.observation_id ?? '', '--reason', 'manual_operator_request'],
  ]
  for (const line of lines) {
    const ran = await world.run([...line, '--json'])
    t.strictSame([ran.status, ran.error().code, ran.error().reason],
      [3, 'folder_missing', 'folder_missing'], line.join(' '))
    t.match((await world.run(line)).stderr, /screenshot folder is not there/, line.join(' '))
  }
  const status = must(await world.run(['shots', 'status', '--json'])).json()
  t.equal(status.screenshot_folder.summary_failure, 'folder_missing')
  t.match((await world.run(['shots', 'status'])).stdout, 'folder_missing')
  t.equal(world.rows()[0]?.analysis_status, 'pending', 'and nothing is lost')
})

t.test('S-121 an analysis that stands still is told by --max-analysis-age, however new the images are', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const status = (...flags: string[]) => world.run(['shots', 'status', '--json', ...flags])
  world.file('a.png', nextImage(), new Date().toISOString())
  await scan(world)
  const none = await status('--max-analysis-age', '2h', '--max-age', '2h')
  t.strictSame([none.status, none.error().code], [7, 'newest_analysis_too_old'])
  must(await analyze(world))
  must(await status('--max-analysis-age', '2h', '--max-age', '2h'))
  const later = { clock: { ...systemClock, wallMs: () => Date.now() + 3 * 3_600_000 } }
  const old = await world.run(['shots', 'status', '--json', '--max-analysis-age', '2h'], later)
  t.strictSame([old.status, old.error().code], [7, 'newest_analysis_too_old'])
})
