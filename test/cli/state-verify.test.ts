/** A backup is read whole without being restored. */
import {
  existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { canonicalJson, sha256Hex } from '../../src/base/canonical.js'
import { flipBit } from '../support/state/forge.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

/** Names, sizes and times of everything below a folder. */
const snapshotOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(dir, name))
    return `${name} ${size} ${mtimeMs}`
  })

/** The same for files that were changed: each with its length and hash of now. */
const rehashed = (dir: string): void => retold(dir, (facts) => ({
  ...facts, files: (facts['files'] as [string, number, string][]).map(([name]) => {
    const bytes = readFileSync(join(dir, 'state', name))
    return [name, bytes.length, sha256Hex(bytes)]
  }),
}))

/** A line of canonical JSON with its digest, changed. */
const relined = (path: string, change: (told: Line) => object): void => {
  const text = canonicalJson(change(JSON.parse(readFileSync(path, 'utf8').slice(0, -66)) as Line))
  writeFileSync(path, `${text} ${sha256Hex(text)}\n`)
}
interface Line { readonly state?: object }

/** A state with a paid answer, and a backup of it. */
const backedUp = async () => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  must(await rig.run(['state', 'compact']))
  must(await rig.ask())
  const dir = rig.place.path('backup')
  must(await rig.run(['state', 'backup', dir]))
  const verify = (...more: string[]) => rig.run(['state', 'verify', dir, ...more])
  return { rig, dir, verify }
}

/** Changes what a backup says of itself, so that its own digest is true. */
const retold = (dir: string, change: (facts: Record<string, unknown>) => object): void => {
  const path = join(dir, 'backup.json')
  const facts = JSON.parse(readFileSync(path, 'utf8').slice(0, -66)) as Record<string, unknown>
  const text = canonicalJson(change(facts))
  writeFileSync(path, `${text} ${sha256Hex(text)}\n`)
}

t.test('a whole backup is told to be restorable, and nothing is written', async (t) => {
  const { rig, dir, verify } = await backedUp()
  const before = [...snapshotOf(dir), ...snapshotOf(rig.place.stateDir)]
  const found = must(await verify('--json')).json()
  t.hasStrict(found, { ok: true, loss: null, problems: [], problems_in_all: 0 })
  t.ok(found.documents > 0 && found.artifacts >= 2 && found.files > 5)
  t.match(must(await verify()).stdout, 'The backup can be restored.')
  t.strictSame([...snapshotOf(dir), ...snapshotOf(rig.place.stateDir)], before)
  rmSync(rig.place.stateDir, { recursive: true })
  t.equal(must(await verify('--json')).json().ok, true, 'it needs no state of its own')
})

t.test('one flipped bit of any file of a backup is told by the name of the file', async (t) => {
  const { dir, verify } = await backedUp()
  const { files } = JSON.parse(readFileSync(join(dir, 'backup.json'), 'utf8').slice(0, -66))
  for (const [name, bytes] of files as [string, number][]) {
    const path = join(dir, 'state', name)
    if (bytes === 0) continue
    flipBit(path, bytes >> 1, 3)
    const found = await verify('--json')
    t.strictSame([found.status, found.error().code], [12, 'backup_damaged'], name)
    const untrue = found.json().problems
      .filter(({ code }: { code: string }) => code === 'backup_file_untrue')
    t.hasStrict(untrue, [{ subject: name, severity: 'damage' }])
    flipBit(path, bytes >> 1, 3)
  }
  t.equal((await verify()).status, 0)
  const [last = ''] = files.at(-1)
  renameSync(join(dir, 'state', last), join(dir, 'moved'))
  symlinkSync(join(dir, 'moved'), join(dir, 'state', last))
  t.equal((await verify()).status, 12, 'a link is no file of a backup')
})

t.test('bytes that are not what the name of an artifact says are put in no place by a restore', async (t) => {
  const { rig, dir } = await backedUp()
  const { files } = JSON.parse(readFileSync(join(dir, 'backup.json'), 'utf8').slice(0, -66)) as {
    files: readonly (readonly [string, number, string])[]
  }
  const [untrue, sound] = files.filter(([name]) => name.startsWith('artifacts/'))
    .map(([name]) => name)
  writeFileSync(join(dir, 'state', untrue!), 'other')
  retold(dir, (facts) => ({
    ...facts, files: files.map((one) =>
      (one[0] === untrue ? [untrue, 5, sha256Hex('other')] : one)),
  }))
  rmSync(rig.place.stateDir, { recursive: true })
  await rig.run(['state', 'restore', dir, '--yes'])
  t.ok(existsSync(join(rig.place.stateDir, sound!)))
  t.notOk(existsSync(join(rig.place.stateDir, untrue!)))
})

t.test('a backup that is not what it says, lacks its key, or is none, is told', async (t) => {
  const { rig, dir, verify } = await backedUp()
  const { sequence } = must(await verify('--json')).json()
  retold(dir, (facts) => ({ ...facts, sequence: sequence + 1 }))
  const other = await verify('--json')
  t.equal(other.status, 12)
  t.hasStrict(other.json().problems, [{ code: 'backup_contradicts' }])
  retold(dir, (facts) => ({ ...facts, sequence }))
  t.equal((await verify()).status, 0)

  const keys = join(rig.place.configDir, 'keys')
  renameSync(keys, `${keys}.away`)
  const keyless = await verify('--json')
  t.strictSame([keyless.status, keyless.error().code], [7, 'backup_blocked'])
  t.hasStrict(keyless.json().problems, [{ code: 'key_missing' }])
  renameSync(`${keys}.away`, keys)

  flipBit(join(dir, 'backup.json'), 40, 1)
  const untold = await verify('--json')
  t.strictSame([untold.status, untold.error().code], [3, 'backup_invalid'])
  rmSync(dir, { recursive: true })
  const gone = await verify('--json')
  t.strictSame([gone.status, gone.error().code], [3, 'backup_missing'])
})

const witnessless: Readonly<Record<string, (path: string) => void>> = {
  'without its witness log': (path) => rmSync(path),
  'whose witness log is empty': (path) => writeFileSync(path, ''),
}

for (const [what, lose] of Object.entries(witnessless)) {
  t.test(`a backup of a state ${what} is refused, and a salvaged one says what it lacks`, async (t) => {
    const { rig, verify, dir } = await backedUp()
    lose(join(rig.place.stateDir, 'witness.log'))
    rmSync(dir, { recursive: true })
    const refused = await rig.run(['state', 'backup', dir, '--json'])
    t.strictSame([refused.status, refused.error().code], [12, 'witness_missing'])
    const made = must(await rig.run(['state', 'backup', dir, '--salvage', '--json'])).json()
    t.strictSame(made.loss, { damage: ['witness_missing'], artifacts: [] })
    const found = await verify('--json')
    t.strictSame(found.json().loss, made.loss)
    t.hasStrict(found.json(), { ok: true, problems: [{ severity: 'notice' }] })
    t.equal(found.status, 0, 'a restore makes a state of it')
    must(await rig.run(['state', 'restore', dir, '--yes']))
    t.equal((await rig.run(['state', 'check'])).status, 0)
  })
}

/** The same backup as a program of before would have made it. */
const asBefore = (dir: string): void => {
  const state = join(dir, 'state')
  const older = { format_version: 5 }
  relined(join(state, 'STATE'), (told) => ({ ...told, ...older }))
  for (const name of readdirSync(join(state, 'collections'))) {
    if (!name.startsWith('manifest')) continue
    relined(join(state, 'collections', name), (told) =>
      ({ ...told, ...older, state: { ...told.state, ...older } }))
  }
  rehashed(dir)
}

t.test('durability 10: a backup of the format of before is told to be restorable, and it is', async (t) => {
  const { rig, dir, verify } = await backedUp()
  asBefore(dir)
  const found = await verify('--json')
  t.hasStrict(found.json(), {
    ok: true, problems: [{ code: 'backup_format_older', severity: 'notice' }],
  })
  t.equal(found.status, 0)
  must(await rig.run(['state', 'restore', dir, '--yes']))
  t.equal((await rig.run(['state', 'check'])).status, 0)
  relined(join(dir, 'state', 'STATE'), (told) => ({ ...told, format_version: 99 }))
  rehashed(dir)
  t.hasStrict(failure(await verify('--json')), { status: 7, code: 'state_too_new' })
})
