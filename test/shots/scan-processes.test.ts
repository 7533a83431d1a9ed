/** Scans as real processes: several at once, killed, without a socket, and very many files. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { shotCollections as c } from '../../src/shots/observations/observation-rows.js'
import { distinctImage as image, killScans, scanMany } from '../support/soak/kill-scans.js'
import { after } from '../support/observations.js'
import { needsStrace } from '../support/soak/strace.js'
import { t } from '../support/tests-in-slices.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'

t.test('S-002 killed at any step and at a moment between: same observations, none lost, none doubled, receipts chain', async (t) => {
  const report = await killScans(t, 7)
  t.comment(JSON.stringify(report))
  t.strictSame(report.broken, [])
  t.ok(report.killed >= 6, `${report.killed} of 7 were killed`)
})

t.test('S-002 S-069 two processes that scan one folder at once give each image once', async (t) => {
  const world = await World.in(t).state().session().images()
  const files = 150
  for (let i = 0; i < files; i += 1) world.file(`${i}.png`, image(i * 7), after(i * 2_000_000))
  const both = await Promise.all([1, 2, 3].map(() => world.place.spawn(
    ['shots', 'scan', '--json', '--limit', '1000'], { coverage: false })))
  for (const ran of both) t.equal(ran.status, 0, ran.stderr)
  const receipts = both.map((ran) => ran.json())
  t.equal(receipts.reduce((sum, one) => sum + one.ingested, 0), files)
  for (const one of receipts) {
    t.equal(one.scanned, files)
    t.equal(one.ingested + one.duplicate, files)
  }
  t.equal(world.rows().length, files)
  t.equal(new Set(world.rows().map((row) => row.sha256)).size, files)
  t.equal(world.view().all(c.folders)[0]?.doc.observations, files)
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})

const hook = join(process.cwd(), 'test/support/watch-sockets.mjs')

t.test('S-146 a scan opens no socket and looks no name up, told from inside', async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 5; i += 1) world.file(`${i}.png`, image(i * 9), after(i * 2_000_000))
  const file = world.place.path('sockets.json')
  const ran = await world.place.spawn(['shots', 'scan', '--json'], {
    nodeArgs: ['--import', hook], env: { SOCKETS_SEEN_FILE: file }, coverage: false,
  })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(ran.json().scanned, 5)
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), [])
})

t.test('S-146 reading commands of screenshots make no socket by the system calls', {
  skip: needsStrace,
}, async (t) => {
  const world = await World.in(t).state().session().images()
  for (let i = 0; i < 5; i += 1) world.file(`${i}.png`, image(i * 9), after(i * 2_000_000))
  t.equal((await world.run(['shots', 'scan'])).status, 0)
  const calls = world.place.path('calls.txt')
  const newest = world.file('one-more.png', image(400))
  const app = join(await builtApp(), 'sallyport.js')
  const verbs = [['scan'], ['list'], ['explain', newest], ['status'], ['report']]
  for (const words of verbs) {
    rmSync(calls, { force: true })
    spawnSync('strace', [
      '-f', '-qq', '-e', 'trace=network', '-e', 'signal=none', '-o', calls, process.execPath,
      app, 'shots', ...words,
    ], { cwd: world.place.cwd, env: world.place.env })
    const seen = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n') : []
    t.strictSame(seen.filter((line) => /\b(socket|connect)\(/.test(line)), [], words.join(' '))
  }
  t.equal(world.rows().length, 6)
})

t.test('S-130 S-002 thousands of files at once are taken in one scan of that limit', async (t) => {
  const files = 2_500
  const { first, again } = await scanMany(t, files)
  t.hasStrict(first, { scanned: files, ingested: files, deferred: 0, rejected: 0 })
  t.hasStrict(again, { scanned: files, known: files, recorded: false })
})
