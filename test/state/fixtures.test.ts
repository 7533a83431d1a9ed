/**
 * Stored state directories of each format and each kind of damage, opened for ever. They were made
 * once, by `make-fixtures`.
 */
import type { Test } from 'tap'
import {
  chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canonicalJson, sha256Hex } from '../../src/base/canonical.js'
import { SallyportError } from '../../src/base/errors.js'
import { backupState } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import { migrateState } from '../../src/state/care/migrate.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { decodeLogHeader } from '../../src/state/log/format.js'
import { formatVersion } from '../../src/state/paths.js'
import { decodeStateFile } from '../../src/state/state-file.js'
import { openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import {
  fingerprintOf, forgeLogHeader, forgeState, newestLog, truncateTo,
} from '../support/state/forge.js'
import { items, notes, numbers, specs } from '../support/state/notes.js'
import {
  colourCounts, countedColours, dueEntries, entriesIn, things,
} from '../support/state/things.js'
import { t } from '../support/tests-in-slices.js'

const indexed = [...specs, things, colourCounts]
const derived = [countedColours]
const folder = join(dirname(fileURLToPath(import.meta.url)), 'fixtures')

const unpackInto = (base: string, name: string): { dir: string; configDir: string } => {
  const files = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as
    Record<string, string>
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(base, path), Buffer.from(text, 'base64'), { mode: 0o600 })
  }
  for (const empty of ['artifacts', 'run']) {
    mkdirSync(join(base, 'state', empty), { recursive: true, mode: 0o700 })
  }
  chmodSync(join(base, 'state'), 0o700)
  return { dir: join(base, 'state'), configDir: join(base, 'config') }
}

const unpack = (t: Test, name: string): { dir: string; configDir: string } =>
  unpackInto(t.testdir(), name)

interface Expected {
  /** Code of the error that opening gives, where it does. */
  readonly open?: string
  /** Notes that reading gives. */
  readonly read?: readonly string[]
  /** Outcome of a write. */
  readonly write: 'ok' | 'damaged'
  readonly check: readonly string[]
  readonly anchor?: string
  /** Codes of what a repair did, and the notes afterwards. */
  readonly repair: readonly string[] | 'refused'
  readonly after?: readonly string[]
  readonly itemsAfter?: number
}

const all = ['a', 'artifact', 'b', 'c']
const base = ['a', 'artifact']
const lost = ['generation_rebuilt', 'records_lost']
const mended = ['bits_mended']

const expectations: Readonly<Record<string, Expected>> = {
  manifest: {
    read: all, write: 'damaged', check: ['manifest_damaged'], repair: ['files_mended'],
    after: all,
  },
  'manifest-missing': {
    read: all, write: 'ok', check: ['spare_damaged'], repair: [], after: all,
  },
  'block-bit': {
    write: 'damaged', check: ['collection_damaged'], repair: ['files_mended'], after: all,
  },
  block: {
    write: 'damaged', check: ['collection_damaged'], repair: ['generation_rebuilt'], after: all,
  },
  index: { write: 'damaged', check: ['collection_damaged'], repair: ['files_mended'], after: all },
  'file-missing': {
    write: 'damaged', check: ['collection_damaged'],
    repair: ['generation_rebuilt'], after: all,
  },
  'block-in-both-generations': {
    write: 'damaged', check: ['collection_damaged'],
    repair: ['generation_rebuilt', 'documents_lost'], after: ['artifact', 'b', 'c'], itemsAfter: 0,
  },
  'log-missing': {
    read: base, write: 'damaged', check: ['log_missing'], repair: lost, after: base,
  },
  // Damage of entries of an index.
  entries: {
    read: all, write: 'ok', check: ['collection_damaged'],
    repair: ['generation_rebuilt', 'indexes_rebuilt'], after: all,
  },
  'forged-entry': {
    read: all, write: 'ok', check: ['index_differs'], repair: ['indexes_rebuilt'], after: all,
  },
  sound: { read: all, write: 'ok', check: [], repair: [], after: all },
  'torn-tail': {
    read: [...base, 'b'], write: 'ok', check: ['log_torn'], repair: ['torn_tail_cut'],
    after: [...base, 'b'],
  },
  'untrue-last-record': {
    read: [...base, 'b'], write: 'damaged', check: ['log_ambiguous'], repair: mended, after: all,
  },
  'untrue-record-before-others': {
    read: base, write: 'damaged', check: ['log_damaged'], repair: mended, after: all,
  },
  'flipped-length': {
    read: [...base, 'b'], write: 'damaged', check: ['log_ambiguous'], repair: mended, after: all,
  },
  'log-header': {
    read: all, write: 'damaged', check: ['log_header_damaged'], repair: ['generation_rebuilt'],
    after: all,
  },
  'state-file': {
    open: 'state_file_damaged', write: 'damaged', check: ['state_file_damaged'],
    repair: ['state_file_rebuilt'], after: all,
  },
  'zeroed-tail': {
    read: all, write: 'damaged', check: ['log_ambiguous'], repair: lost, after: all,
  },
  'forged-payload': {
    read: all, write: 'damaged', check: ['log_bad_payload'], repair: lost, after: all,
  },
  'forged-document': {
    write: 'ok', check: ['document_damaged'], repair: [],
  },
  'anchor-missing': {
    read: all, write: 'ok', check: ['anchor_missing'], anchor: 'missing', repair: [], after: all,
  },
  'old-copy': {
    read: all, write: 'ok', check: ['anchor_behind'], anchor: 'behind',
    repair: ['anchor_behind'], after: all,
  },
}

const readNotes = (store: FileStore): string[] | string => {
  try {
    return Object.keys(numbers(store))
  } catch (error) {
    return error instanceof SallyportError ? error.kind : String(error)
  }
}

const tryWrite = (store: FileStore): Promise<string> =>
  store.transact('test', (tx) => {
    tx.get(notes, 'b')
    tx.put(notes, 'z', { n: 1, text: '' })
    tx.remove(notes, 'z')
  }).then(() => 'ok', (error) => String(error.kind))

/** A loss moves the anchor again, and so does a mark. */
const standingAfter = ({ anchor = 'ok', repair }: Expected): string =>
  repair.includes('records_lost') || repair.includes('documents_lost') ? 'ok' : anchor

const names = readdirSync(folder).map((name) => name.replace(/\.json$/, '')).sort()

const kinds = Object.keys(expectations)
const unreleased = [1, 2, 3, 4]
/** Formats that a step leads on from. */
const older = [5, 6]

t.test('durability 12: there is a stored fixture of each format and of each kind of damage', async (t) => {
  t.strictSame(names, [
    ...unreleased.map((format) => `format-${format}-sound`),
    ...[...older, formatVersion].flatMap((format) =>
      kinds.map((kind) => `format-${format}-${kind}`)),
  ].sort())
})

for (const name of names.filter((one) => /^format-[5-9]-/.test(one))) {
  const kind = name.replace(/^format-\d+-/, '')
  const isOld = !name.startsWith(`format-${formatVersion}-`)
  // Indexes of an earlier format are looked at, and made again, when it is changed.
  const isMended = (code: string): boolean => isOld && code.startsWith('index')
  const expected = expectations[kind]
  t.test(`durability 12: ${name} opens, or is refused, as it always did`, async (t) => {
    if (expected === undefined) throw new Error('no expectation')
    const place = unpack(t, name)
    const report = checkState({ ...place, specs: indexed })
    const codes = report.problems.map(({ code }) => code)
    const old = isOld && expected.open === undefined ? ['state_too_old'] : []
    const isAnchor = (code: string): boolean => code.startsWith('anchor_')
    t.strictSame([...new Set(codes)],
      [...expected.check.filter((code) => !isOld || !isAnchor(code) && !isMended(code)), ...old])
    if (isOld) {
      const code = expected.open ?? 'state_too_old'
      for (const mode of ['read', 'write'] as const) {
        t.throws(() => openStore({ ...place, mode }), { code })
      }
    } else if (expected.open === undefined) {
      const store = openStore({ ...place, mode: 'write' }) as FileStore
      const seen = readNotes(store)
      t.strictSame(seen, expected.read ?? 'damaged')
      t.equal(store.anchor().status, expected.anchor ?? 'ok')
      t.equal(await tryWrite(store), expected.write)
      store.close()
    } else {
      t.throws(() => openStore({ ...place, mode: 'read' }), { code: expected.open })
    }
    const repair = await repairState({
      ...place, specs: indexed, derived,
      onLoss: (store) => store.transact('loss', (tx) => tx.mark()),
    })
    const done = repair.done.map((problem) => problem.code)
    const cut = kind === 'torn-tail' && !isOld
    const mendings = [...expected.repair].filter((code) => !isMended(code))
    t.strictSame(done, [...(cut ? [] : mendings), ...(isOld ? ['format_changed'] : [])])
    const after = openStore({ ...place, mode: 'write' }) as FileStore
    if (isOld) t.equal(after.anchor().status, standingAfter(expected))
    if (expected.after !== undefined) t.strictSame(readNotes(after), expected.after)
    const view = after.read()
    t.equal(view.all(items).length, expected.itemsAfter ?? 5)
    t.strictSame(entriesIn(view), dueEntries(view.all(things).map(({ id, doc }) => [id, doc])))
    t.equal(view.all(things).length, 4)
    t.strictSame(view.all(colourCounts).map(({ doc }) => doc), [{ count: 4 }])
    t.equal(await tryWrite(after), 'ok')
    after.close()
  })
}

for (const format of older) {
  t.test(`durability 10: a change from format ${format} that only raised STATE is taken up again`, async (t) => {
    const place = unpack(t, `format-${format}-sound`)
    forgeState(place.dir, { format_version: format + 1 })
    t.throws(() => openStore({ ...place, mode: 'read' }), { code: 'state_too_old' })
    const { done } = await repairState({ ...place, specs: indexed })
    t.strictSame(done.map(({ code }) => code), ['format_changed'])
    const store = openStore({ ...place, mode: 'read' }) as FileStore
    t.strictSame(readNotes(store), all)
    store.close()
  })
}

/** A refusal whose way on can be gone: it sends nobody to a repair. */
const tooOld = {
  kind: 'blocked', code: 'state_too_old', next: /no program brings it.*init --state-dir/,
} as const

/** A folder that says of itself that it is a whole backup of a state. */
const backupOf = (
  dir: string, to: string, newest = { epoch: 1, sequence: 1, chain: '0'.repeat(64) },
): string => {
  cpSync(dir, join(to, 'state'), { recursive: true })
  const { store_id: storeId } = decodeStateFile(readFileSync(join(dir, 'STATE'))) ?? {}
  const files = Object.entries(fingerprintOf(join(to, 'state')))
    .map(([name, sha256]) => [name, statSync(join(to, 'state', name)).size, sha256])
  const text = canonicalJson({
    schema: 'sallyport.backup.v1', store_id: storeId, created_at: '2026-01-01T00:00:00.000Z',
    ...newest, files,
  })
  writeFileSync(join(to, 'backup.json'), `${text} ${sha256Hex(text)}\n`)
  return to
}

const logsOf = (dir: string): readonly (readonly [number, number])[] =>
  readdirSync(join(dir, 'wal')).filter((name) => name.endsWith('.log')).map((name) => {
    const head = decodeLogHeader(readFileSync(join(dir, 'wal', name)))
    return [head?.header.epoch ?? 0, head?.header.format_version ?? 0] as const
  })

for (const format of older) {
  t.test(`durability 10: a backup of format ${format} is restored in the present one, its chain gone on from`, async (t) => {
    const place = { ...unpack(t, `format-${format}-sound`), specs: indexed, derived }
    const log = newestLog(place.dir)
    const chain = readFileSync(log, 'latin1').slice(-65, -1)
    t.strictSame(logsOf(place.dir).map(([, of]) => of), [2, 2])
    rmSync(join(place.dir, 'run'), { recursive: true })
    const backup = backupOf(
      place.dir, join(place.dir, '..', 'backup'), { epoch: 3, sequence: 5, chain })
    rmSync(place.dir, { recursive: true })
    await restoreState({
      ...place, backup, afterRestore: (store) => store.transact('restored', (tx) => tx.mark()),
    })
    t.strictSame(logsOf(place.dir), [[4, 3]])
    const header = decodeLogHeader(readFileSync(newestLog(place.dir)))?.header
    t.hasStrict(header, { base_sequence: 5, base_chain: chain })
    const store = openStore({ ...place, mode: 'write' }) as FileStore
    t.strictSame(readNotes(store), all)
    t.equal(await tryWrite(store), 'ok')
    store.close()
    t.ok(checkState(place).ok)
  })
}

t.test('a log of the format before does not go on from what is of the present one', async (t) => {
  const place = unpack(t, `format-${formatVersion}-sound`)
  const log = newestLog(place.dir)
  truncateTo(log, decodeLogHeader(readFileSync(log))?.end ?? 0)
  forgeLogHeader(log, { schema: 'sallyport.log.v2', format_version: 2 })
  const store = openStore({ ...place, mode: 'write' }) as FileStore
  t.equal(store.health().damage?.code, 'log_damaged')
  t.equal(await tryWrite(store), 'damaged')
  store.close()
  t.notOk(checkState({ ...place, specs: indexed }).ok)
  const { done } = await repairState({ ...place, specs: indexed })
  t.strictSame(done.map(({ code }) => code), lost)
  t.strictSame(logsOf(place.dir).at(-1), [4, 3])
})

for (const format of unreleased) {
  t.test(`durability 12: format ${format} was never released: it is refused on every way, and nothing is changed`, async (t) => {
    const place = { ...unpack(t, `format-${format}-sound`), specs: indexed }
    const before = fingerprintOf(place.dir)
    for (const mode of ['read', 'write'] as const) {
      t.throws(() => openStore({ ...place, mode }), tooOld, `to ${mode}, so to back it up`)
    }
    t.hasStrict(checkState(place), { ok: false, problems: [{ code: 'state_too_old' }] })
    await t.rejects(repairState(place), tooOld)
    await t.rejects(migrateState(place), tooOld)
    const backup = backupOf(place.dir, join(place.dir, '..', 'backup'))
    const elsewhere = { ...place, dir: join(place.dir, '..', 'elsewhere') }
    await t.rejects(restoreState({ ...elsewhere, backup }), tooOld)
    t.notOk(existsSync(elsewhere.dir))
    t.strictSame(fingerprintOf(place.dir), before)
  })

  t.test(`durability 12: no backup is put over a state of format ${format}, whose debts nobody can read`, async (t) => {
    const place = unpack(t, `format-${formatVersion}-sound`)
    const store = openStore({ ...place, mode: 'write' })
    const backup = join(place.dir, '..', 'backup')
    await backupState(store, backup)
    store.close()
    rmSync(place.dir, { recursive: true })
    unpackInto(join(place.dir, '..'), `format-${format}-sound`)
    const before = fingerprintOf(place.dir)
    await t.rejects(restoreState({ ...place, backup }), tooOld)
    t.strictSame(fingerprintOf(place.dir), before)
  })
}

t.test('durability 12: the artifact, profile and witness of the stored state still open', async (t) => {
  const place = unpack(t, 'format-5-sound')
  await repairState(place)
  const store = openStore({ ...place, mode: 'read' })
  const text = store.read().get(notes, 'artifact')?.text ?? ''
  const ref = JSON.parse(text) as Parameters<typeof store.artifacts.read>[1]
  t.equal(store.artifacts.read('fixture.v1', ref).toString(), 'private content')
  t.strictSame(store.profile, { schema: 'test.profile.v1', name: 'fixture' })
  t.strictSame(store.witness.lines(), ['revision 1'])
  store.close()
})
