/**
 * Stored state directories of each format and each kind of damage, opened for ever. They were made
 * once, by `make-fixtures`.
 */
import t from 'tap'
import type { Test } from 'tap'
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SallyportError } from '../../src/base/errors.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { decodeStateFile, encodeStateFile } from '../../src/state/state-file.js'
import { openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import { items, notes, numbers, specs } from '../support/state/notes.js'
import {
  colourCounts, countedColours, dueEntries, entriesIn, things,
} from '../support/state/things.js'

const indexed = [...specs, things, colourCounts]
const derived = [countedColours]
const folder = join(dirname(fileURLToPath(import.meta.url)), 'fixtures')

const unpack = (t: Test, name: string): { dir: string; configDir: string } => {
  const base = t.testdir()
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

/** Damage that format 1 did not know, or that ends otherwise since. */
const expectations2: Readonly<Record<string, Expected>> = {
  manifest: {
    read: all, write: 'damaged', check: ['manifest_damaged'], repair: ['generation_rebuilt'],
    after: all,
  },
  'manifest-missing': { read: all, write: 'ok', check: [], repair: [], after: all },
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
}

const expectations: Readonly<Record<string, Expected>> = {
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
  manifest: {
    read: base, write: 'damaged', check: ['manifest_damaged'], repair: ['generation_rebuilt'],
    after: all,
  },
  'manifest-missing': {
    read: base, write: 'damaged', check: ['manifest_damaged'], repair: ['generation_rebuilt'],
    after: all,
  },
  'collection-file': {
    write: 'damaged', check: ['collection_damaged'], repair: ['generation_rebuilt'], after: all,
  },
  'collection-file-in-both-generations': {
    read: all, write: 'ok', check: ['collection_damaged'],
    repair: ['generation_rebuilt', 'documents_lost'], after: all, itemsAfter: 0,
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
    read: all, write: 'ok', check: ['anchor_behind'], anchor: 'behind', repair: [], after: all,
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

const kindsOf2 = [...new Set([...Object.keys(expectations), ...Object.keys(expectations2)])]
  .filter((kind) => !kind.startsWith('collection-file'))

/** Damage of entries of an index. */
const expectations3: Readonly<Record<string, Expected>> = {
  entries: {
    read: all, write: 'ok', check: ['collection_damaged'],
    repair: ['generation_rebuilt', 'indexes_rebuilt'], after: all,
  },
  'forged-entry': {
    read: all, write: 'ok', check: ['index_differs'], repair: ['indexes_rebuilt'], after: all,
  },
}

t.test('durability 12: there is a stored fixture of each format and of each kind of damage', async (t) => {
  t.strictSame(names, [
    ...Object.keys(expectations).map((kind) => `format-1-${kind}`),
    ...kindsOf2.map((kind) => `format-2-${kind}`),
    ...[3, 4, 5].flatMap((format) =>
      [...kindsOf2, ...Object.keys(expectations3)].map((kind) => `format-${format}-${kind}`)),
  ].sort())
})

for (const name of names) {
  const kind = name.replace(/^format-\d+-/, '')
  const isOld = !name.startsWith('format-5-')
  // Indexes of an earlier format are looked at, and made again, when it is changed.
  const isMended = (code: string): boolean => isOld && code.startsWith('index')
  // Before format 3 there were no indexes, and none of these.
  const thingsThere = /^format-[12]-/.test(name) ? 0 : 4
  const isFirst = name.startsWith('format-1-')
  const expected = (isFirst ? undefined : expectations2[kind]) ?? expectations[kind]
    ?? expectations3[kind]
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
    t.equal(view.all(things).length, thingsThere)
    t.strictSame(view.all(colourCounts).map(({ doc }) => doc),
      thingsThere === 0 ? [] : [{ count: thingsThere }])
    t.equal(await tryWrite(after), 'ok')
    after.close()
  })
}

for (const format of [2, 3, 4]) {
  t.test(`durability 10: a change from format ${format} that only raised STATE is taken up again`, async (t) => {
    const place = unpack(t, `format-${format}-sound`)
    const path = join(place.dir, 'STATE')
    const state = decodeStateFile(readFileSync(path))
    if (state === undefined) throw new Error('no STATE')
    writeFileSync(path, encodeStateFile({ ...state, format_version: format + 1 }))
    t.throws(() => openStore({ ...place, mode: 'read' }), { code: 'state_too_old' })
    const { done } = await repairState({ ...place, specs: indexed })
    t.strictSame(done.map(({ code }) => code), ['format_changed'])
    const store = openStore({ ...place, mode: 'read' }) as FileStore
    t.strictSame(readNotes(store), all)
    store.close()
  })
}

t.test('durability 12: the artifact, profile and witness of the stored state still open', async (t) => {
  const place = unpack(t, 'format-1-sound')
  await repairState(place)
  const store = openStore({ ...place, mode: 'read' })
  const text = store.read().get(notes, 'artifact')?.text ?? ''
  const ref = JSON.parse(text) as Parameters<typeof store.artifacts.read>[1]
  t.equal(store.artifacts.read('fixture.v1', ref).toString(), 'private content')
  t.strictSame(store.profile, { schema: 'test.profile.v1', name: 'fixture' })
  t.strictSame(store.witness.lines(), ['revision 1'])
  store.close()
})
