import {
  appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { openStore } from '../../src/state/store.js'
import type { CollectionSpec } from '../../src/state/types.js'
import type { Place, Ran } from '../world/place.js'
import { zeroBlock } from '../support/state/forge.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

/** Names, sizes and times of everything below a folder. */
const snapshotOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const { size, mtimeMs, mode } = statSync(path)
      return `${path} ${size} ${mtimeMs} ${mode}`
    })
    .sort()

const ok = async (place: Place, ...argv: string[]): Promise<Ran> => {
  const ran = await place.run(argv)
  if (ran.status !== 0) throw new Error(`${argv.join(' ')}: ${ran.status} ${ran.stderr}`)
  return ran
}

const begun = async (t: { teardown(fn: () => void): void }): Promise<Place> => {
  const place = World.in(t).place
  await ok(place, 'init')
  return place
}

const newestLog = (place: Place): string => {
  const wal = join(place.stateDir, 'wal')
  const name = readdirSync(wal).filter((one) => one.endsWith('.log')).sort().at(-1) as string
  return join(wal, name)
}

t.test('without a state directory the state verbs end with 10 and name init', async (t) => {
  const place = World.in(t).place
  const verbs = [['check'], ['repair'], ['compact'], ['backup', 'there']]
  for (const words of verbs) {
    const ran = await place.run(['state', ...words])
    t.equal(ran.status, 10, words.join(' '))
    t.match(ran.stderr, /next: .*sallyport init/, words.join(' '))
    t.equal(existsSync(place.stateDir), false, 'nothing was made')
  }
})

t.test('check finds a new state sound, and changes no byte', async (t) => {
  const place = await begun(t)
  const before = snapshotOf(place.dir)
  const ran = await ok(place, 'state', 'check', '--json')
  const report = ran.json()
  t.strictSame([report.ok, report.anchor, report.problems], [true, 'ok', []])
  t.ok(report.documents > 0)
  t.match((await ok(place, 'state', 'check')).stdout, 'The state is sound.')
  t.strictSame(snapshotOf(place.dir), before)
})

t.test('check ends with 12 for damage, repair mends it, and check is content again', async (t) => {
  const place = await begun(t)
  await ok(place, 'login')
  zeroBlock(newestLog(place), statSync(newestLog(place)).size - 80, 10)
  const found = await place.run(['state', 'check', '--json'])
  t.strictSame([found.status, found.error().code, found.json().ok], [12, 'state_damaged', false])
  t.ok(found.error().details.damage > 0)
  t.match((await place.run(['state', 'check'])).stdout, /^damage {2}\w+: /)
  const refused = await place.run(['logout'])
  t.equal(refused.status, 12, 'writes are refused')
  t.match(refused.stderr, 'sallyport policy revoke')

  const repaired = (await ok(place, 'state', 'repair', '--json')).json()
  t.equal(repaired.changed, true)
  t.ok(repaired.loss.records_after !== null, 'it says what was lost')
  t.ok(existsSync(repaired.copied_to), 'it copied first')
  t.equal((await place.run(['state', 'check', '--json'])).status, 0)
  t.match((await ok(place, 'state', 'repair')).stdout, 'Nothing had to be repaired.')
})

t.test('repair says in words what it lost', async (t) => {
  const place = await begun(t)
  await ok(place, 'login')
  zeroBlock(newestLog(place), statSync(newestLog(place)).size - 80, 10)
  const { stdout } = await ok(place, 'state', 'repair')
  t.match(stdout, /Lost: at least 1 records after record \d+/)
  t.match(stdout, 'The policy is revoked and every session has ended.')
  t.equal((await ok(place, 'status', '--json')).json().policy.state, 'revoked')
  t.equal((await place.run(['session', 'show'])).status, 4)
})

t.test('what a person names as lost must be a file of the state that cannot be read', async (t) => {
  const place = await begun(t)
  const unknown = await place.run(['state', 'repair', '--lost', 'wal/none.log', '--json'])
  t.strictSame([unknown.status, unknown.error().code], [3, 'lost_file_unknown'])
  const name = 'wal/000000000001.log'
  const whole = await place.run(['state', 'repair', '--lost', name, '--lost', 'STATE', '--json'])
  t.strictSame([whole.status, whole.error().code], [3, 'lost_file_readable'])
  t.equal(whole.error().details.file, name)
  t.equal((await place.run(['state', 'check', '--json'])).status, 0)
})

t.test('a torn last record behind all that a process ended with: check and repair say what is known',
  async (t) => {
  const place = await begun(t)
  appendFileSync(newestLog(place), 'torn')
  const found = await place.run(['state', 'check', '--json'])
  t.equal(found.json().problems[0].severity, 'torn')
  const { stdout } = await ok(place, 'state', 'repair')
  t.match(stdout, 'no process is known to have ended behind it')
  t.notMatch(stdout, 'acknowledged', 'more than that is not known')
})

t.test('a missing key blocks and is no damage', async (t) => {
  const place = await begun(t)
  rmSync(join(place.configDir, 'keys'), { recursive: true })
  const found = await place.run(['state', 'check', '--json'])
  t.strictSame([found.status, found.error().code], [7, 'state_blocked'])
})

t.test('a witness log that does not vouch for the policy blocks', async (t) => {
  const place = await begun(t)
  writeFileSync(join(place.stateDir, 'witness.log'), '', { mode: 0o600 })
  await ok(place, 'policy', 'revoke')
  writeFileSync(join(place.stateDir, 'witness.log'), '', { mode: 0o600 })
  const found = await place.run(['state', 'check', '--json'])
  t.equal(found.status, 7)
  t.match(found.json().problems.map((one: { code: string }) => one.code).join(), 'witness_')
})

t.test('a witness log of another history is that of the backup once it was put back', async (t) => {
  const place = await begun(t)
  await ok(place, 'policy', 'revoke')
  await ok(place, 'state', 'backup', 'copy')
  const witness = join(place.stateDir, 'witness.log')
  writeFileSync(witness, readFileSync(witness, 'utf8').replaceAll(/[0-9a-f]{64}/g, 'f'.repeat(64)))
  t.equal((await place.run(['state', 'check'])).status, 7)
  await ok(place, 'state', 'restore', 'copy', '--yes')
  t.hasStrict((await ok(place, 'state', 'check', '--json')).json(), { ok: true })
})

t.test('backup and restore: the documents come back, revoked, with every session ended',
  async (t) => {
  const place = await begun(t)
  await ok(place, 'login')
  const made = (await ok(place, 'state', 'backup', 'copy', '--json')).json()
  t.equal(made.to, place.path('copy'))
  t.match((await place.run(['state', 'backup', 'copy', '--json'])).error().code, 'backup_exists')
  t.match((await ok(place, 'state', 'backup', 'copy2')).stdout,
    /\d+ files, .* the key is not in it/)
  const keys = readdirSync(place.path('copy'), { recursive: true }).map(String)
  t.notOk(keys.some((name) => name.endsWith('.key')), 'no key in the backup')

  const refused = await place.run(['state', 'restore', 'copy', '--json'])
  t.strictSame([refused.status, refused.error().code], [2, 'input_required'])
  const terminal = { stdin: true, stdout: true }
  const declined = await place.run(['state', 'restore', 'copy'], { terminal, answers: [false] })
  t.equal(declined.status, 130)
  t.equal((await place.run(['session', 'show'])).status, 0, 'nothing happened so far')

  const restored = await ok(place, 'state', 'restore', 'copy', '--yes')
  t.match(restored.stdout, /Restored up to record \d+; the policy is revoked/)
  t.match(restored.stdout, 'What was there before: ')
  t.equal((await place.run(['session', 'show'])).status, 4)
  const status = (await ok(place, 'status', '--json')).json()
  t.equal(status.policy.state, 'revoked')
  t.equal((await ok(place, 'state', 'check', '--json')).json().anchor, 'ok')
})

t.test('a restore over a state that lost its STATE asks as over a whole one, and keeps what was there', async (t) => {
  const place = await begun(t)
  await ok(place, 'state', 'backup', 'copy')
  rmSync(join(place.stateDir, 'STATE'))
  const refused = await place.run(['state', 'restore', 'copy', '--json'])
  t.strictSame([refused.status, refused.error().code], [2, 'input_required'])
  const restored = (await ok(place, 'state', 'restore', 'copy', '--yes', '--json')).json()
  t.type(restored.copied_to, 'string')
})

t.test('a restore into nothing needs no answer, and needs the key folder', async (t) => {
  const place = await begun(t)
  await ok(place, 'state', 'backup', 'copy')
  rmSync(place.stateDir, { recursive: true })
  const restored = (await ok(place, 'state', 'restore', 'copy', '--json')).json()
  t.strictSame([restored.copied_to, restored.anchor], [null, 'ok'])
  rmSync(place.stateDir, { recursive: true })
  rmSync(join(place.configDir, 'keys'), { recursive: true })
  t.equal((await place.run(['state', 'restore', 'copy'])).status, 7)
  mkdirSync(place.path('empty'))
  for (const [name, code] of [['empty', 'backup_invalid'], ['nope', 'backup_missing']] as const) {
    const ran = await place.run(['state', 'restore', name, '--json'])
    t.strictSame([ran.status, ran.error().code], [3, code])
  }
})

t.test('an old copy put back by hand is seen as behind its anchor and blocks', async (t) => {
  const place = await begun(t)
  cpSync(place.stateDir, place.path('old'), { recursive: true })
  await ok(place, 'policy', 'revoke')
  rmSync(place.stateDir, { recursive: true })
  cpSync(place.path('old'), place.stateDir, { recursive: true })
  const found = await place.run(['state', 'check', '--json'])
  t.strictSame([found.status, found.json().anchor], [7, 'behind'])
  t.match((await place.run(['state', 'check'])).stderr, 'next: See `sallyport help anchor`.')
  const topic = (await ok(place, 'help', 'anchor')).stdout
  t.match(topic, /state backup DIR[^]*state restore DIR/, 'the remedy, which works:')
  await ok(place, 'state', 'backup', 'copy')
  await ok(place, 'state', 'restore', 'copy', '--yes')
  t.equal((await ok(place, 'state', 'check', '--json')).json().anchor, 'ok')
  t.equal((await ok(place, 'status', '--json')).json().policy.state, 'revoked')
})

t.test('compact folds the log and keeps everything', async (t) => {
  const place = await begun(t)
  const before = (await ok(place, 'state', 'check', '--json')).json()
  const folded = (await ok(place, 'state', 'compact', '--json')).json()
  t.ok(folded.log_bytes_before > 0)
  const after = (await ok(place, 'state', 'check', '--json')).json()
  t.strictSame([after.ok, after.documents, after.log_records], [true, before.documents, 0])
  t.match((await ok(place, 'state', 'compact')).stdout, /^Folded .* of log up to record \d+; 0 /)
})

t.test('a held lock ends with 11 after --wait, and readers do not mind', async (t) => {
  const place = await begun(t)
  const held = tryHoldFile(join(place.stateDir, 'lock'))
  t.ok(held, 'the lock is ours')
  const ran = await place.run(['state', 'compact', '--wait', '0', '--json'])
  t.equal(ran.status, 11)
  t.equal((await place.run(['state', 'check'])).status, 0)
  held?.release()
  t.equal((await place.run(['state', 'compact', '--wait', '0'])).status, 0)
})

t.test('a command that wrote folds a long log at its end, and one that reads changes nothing',
  async (t) => {
  const place = World.in(t).place
  t.equal((await place.run(['init', '--json'])).status, 0)
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'write' })
  const text = 'x'.repeat(100_000)
  const shape: CollectionSpec<string> = { name: 'long_texts', schema: v.string(), partition: 'one' }
  for (let i = 0; i < 12; i += 1) {
    await store.transact('test', (tx) => tx.put(shape, 'same', text + String(i)))
  }
  // It is not closed: the process that wrote may have been killed.
  const logs = (): string[] => readdirSync(join(place.stateDir, 'wal'))
    .filter((name) => name.endsWith('.log')).sort()
  const before = logs()
  t.equal((await place.run(['status', '--json'])).status, 0)
  t.strictSame(logs(), before)
  t.equal((await place.run(['login', '--json'])).status, 0)
  t.not(logs().at(-1), before.at(-1), 'a new log')
  t.ok(statSync(join(place.stateDir, 'wal', logs().at(-1) ?? '')).size < 100_000)
  t.equal((await place.run(['state', 'check', '--json'])).json().ok, true)
  store.close()
})
