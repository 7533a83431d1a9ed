/** What `state check` says: ok and status agree, doctor's modes are named, it is bounded. */
import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stateCheck } from '../../src/fabric/state-contract.js'
import type { CheckReport } from '../../src/state/care/check.js'
import type { Problem } from '../../src/state/types.js'
import { World } from '../world/world.js'

const report = (problems: readonly Problem[]): CheckReport => ({
  ok: problems.length === 0, store_id: null, epoch: 1, sequence: 1, log_records: 0, documents: 0,
  artifacts: 0, anchor: 'ok', problems,
})

t.test('a report lists the first twenty of a kind and says how many there are', (t) => {
  const found = Array.from({ length: 2000 }, (_, i) => ({
    code: 'artifact_damaged', severity: 'damage' as const, message: 'x', subject: String(i),
  }))
  const document = stateCheck.document(report([
    ...found, { code: 'leftovers', severity: 'notice', message: 'y' },
  ]))
  t.equal(document.problems.length, 21)
  t.strictSame(document.more, { artifact_damaged: 2000 })
  t.hasStrict(stateCheck.failure(report(found)), { details: { damage: 2000 } })
  t.equal(stateCheck.document(report([])).more, undefined)
  t.end()
})

t.test('open modes of key folder, key and anchor and leftovers there are notices, and the state is sound', async (t) => {
  const world = await World.in(t).state()
  const { configDir } = world.place
  const keys = join(configDir, 'keys')
  for (const name of readdirSync(keys)) {
    if (/\.(key|anchor)$/.test(name)) chmodSync(join(keys, name), 0o644)
  }
  chmodSync(keys, 0o755)
  const left = join(keys, `.tmp-1-${'0'.repeat(16)}-1`)
  writeFileSync(left, '')
  const checked = await world.run(['state', 'check', '--json'])
  t.strictSame([checked.status, checked.json().ok], [0, true], 'ok and the status agree')
  const codes = checked.json().problems.map((one: Problem) => one.code).sort()
  t.strictSame(codes, ['key_leftovers', 'mode_open', 'mode_open', 'mode_open'])
  utimesSync(left, 1, 1)
  await world.json(['state', 'compact'])
  t.equal(existsSync(left), false, 'swept when it is old')
})

t.test('a backup sweeps what a killed one left beside it a day ago, and nothing else', async (t) => {
  const world = await World.in(t).state()
  const old = world.place.path(`.monday.new-${'a'.repeat(12)}`)
  const foreign = world.place.path(`.monday.new-${'b'.repeat(12)}`)
  const young = world.place.path(`.monday.new-${'c'.repeat(12)}`)
  for (const folder of [old, foreign, young]) mkdirSync(join(folder, 'state'), { recursive: true })
  writeFileSync(join(foreign, 'notes.txt'), '')
  for (const folder of [old, foreign]) utimesSync(folder, 1, 1)
  await world.json(['state', 'backup', 'tuesday'])
  t.strictSame([old, foreign, young].map((path) => existsSync(path)), [false, true, true])
})
