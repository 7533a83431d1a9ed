/** From bare files to a report, and what is left of it all: receipts, no events. */
import t from 'tap'
import { sha256Hex } from '../../src/base/canonical.js'
import { receiptCollections } from '../../src/shots/receipts/receipt-rows.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'
import { nextImage } from '../support/shots.js'

t.test('the whole way of three files', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').proof('report').texts()
  const [first, second] = [nextImage(), nextImage()]
  world.file('a.png', first, moment(2, 1))
  world.file('b.png', second, moment(2, 2))
  world.file('again.png', first, moment(2, 3))
  const run = async (...argv: string[]) => {
    const ran = await world.run(['shots', ...argv])
    t.equal(ran.status, 0, `${argv.join(' ')}: ${ran.stderr}`)
    return ran
  }

  await t.test('S-005 bare files become hashed rows with local facts, duplicates, analyses, a digest and a report, by these commands alone', async (t) => {
    t.hasStrict((await run('scan', '--json')).json(), { ingested: 2, duplicate: 1 })
    const hashes = world.rows().map((row) => row.sha256).sort()
    t.strictSame(hashes, [first, second].map((bytes) => sha256Hex(bytes)).sort())
    for (const row of world.rows()) t.hasStrict(row, { format: 'png' })
    t.hasStrict((await run('analyze', '--json')).json(), { analyzed: 2, failed: 0, blocked: 0 })
    world.say('Two screenshots of one window.')
    t.hasStrict((await world.digest()).json(), { written: 1 })
    const { report } = (await run('report', '--json', '--since', moment(20))).json()
    t.equal(report.facts.count, 2)
    t.strictSame(world.rows().map((row) => row.analysis_status), ['succeeded', 'succeeded'])
  })

  await t.test('S-200 no event tells of it: each job left one numbered receipt chained to the one before, the audit has the setting, and steps show with --verbose alone', async (t) => {
    const receipts = world.view().all(receiptCollections.receipts).map(({ doc }) => doc)
    t.strictSame(receipts.map(({ number }) => number), [1, 2, 3])
    t.strictSame(receipts.map(({ job }) => job), [
      'screenshot_folder_ingest', 'screenshot_folder_analysis', 'screenshot_observation_digest',
    ])
    const audit = (await world.run(['audit', 'list', '--json'])).json()
    t.ok(audit.some((row: { what: string }) => /settings|config/.test(row.what)), 'the audit')
    t.equal((await run('scan', '--json')).stderr, '', 'nothing is told unasked')
    world.file('c.png', nextImage(), moment(2, 4))
    await run('scan', '--json')
    t.match((await run('analyze', '--json', '--verbose')).stderr, /\w+\.\w+/)
  })
})
