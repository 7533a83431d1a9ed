/** From older formats to the present one: ended at every step, run again, never on a full disk. */
import { SallyportError } from '../../src/base/errors.js'
import { checkState } from '../../src/state/care/check.js'
import { migrateState } from '../../src/state/care/migrate.js'
import { repairState } from '../../src/state/care/repair.js'
import { formatVersion } from '../../src/state/paths.js'
import { decodeStateFile } from '../../src/state/state-file.js'
import type { FileStore } from '../../src/state/store.js'
import { openStore } from '../../src/state/store.js'
import type { Plan } from '../support/state/faults.js'
import { Stopped, faulty, memoryLock, plan } from '../support/state/faults.js'
import type { MemFiles } from '../support/state/mem-files.js'
import { items, notes, put, specs } from '../support/state/notes.js'
import { errorOf } from '../support/state/notes.js'
import { storedDisk } from '../support/state/stored.js'
import { t } from '../support/tests-in-slices.js'

const site = { dir: '/tmp/state', configDir: '/tmp/config' }

/** A lived-in state directory of an older format on a disk in memory. */
const oldDisk = (format: number): MemFiles => storedDisk(`format-${format}-sound`)

/** The names of the steps from each format that one leads on from. */
const stepsFrom = [
  [5, ['aimed stops', 'chains without epochs']], [6, ['chains without epochs']],
] as const

const stateOf = (disk: MemFiles): string => {
  const store = openStore({ ...site, files: disk, lock: memoryLock(), mode: 'read' }) as FileStore
  try {
    const view = store.read()
    const { damage } = store.health()
    return damage?.code ??
      JSON.stringify([view.all(notes), view.all(items), store.anchor(), store.witness.lines()])
  } finally {
    store.close()
  }
}

const migrated = async (disk: MemFiles, to: Plan = plan()): Promise<void> => {
  try {
    await migrateState({ ...site, files: faulty(disk, to), lock: memoryLock() })
  } catch (error) {
    const isMeant = error instanceof Stopped || to.stopped || error instanceof SallyportError
    if (!isMeant) throw error
  }
}

const cuts = [['kept', 0], ['dropped', 0], ['garbled', 1], ['garbled', 2]] as const

const formatIn = (disk: MemFiles): number =>
  decodeStateFile(disk.contentOf('/tmp/state/STATE'))?.format_version ?? 0

for (const [format, steps] of stepsFrom) {
  t.test(`durability 12: format ${format}: documents, marks, anchor and witness are the same in the new format`, async (t) => {
    const disk = oldDisk(format)
    t.hasStrict(errorOf(() => stateOf(disk)), { kind: 'blocked', code: 'state_too_old' })
    t.strictSame(await migrateState({ ...site, files: disk, lock: memoryLock() }), {
      from: format, to: formatVersion, steps: [...steps],
    })
    const [kept, grown, anchor, lines] = JSON.parse(stateOf(disk)) as
      [{ id: string }[], object[], object, string[]]
    t.strictSame(kept.map(({ id }) => id), ['a', 'artifact', 'b', 'c'])
    t.equal(grown.length, 5)
    t.hasStrict(anchor, { status: 'ok', policyRevision: 1, isOwn: true })
    t.strictSame(lines, ['revision 1'])
    t.ok(checkState({ ...site, files: disk, specs }).ok)
  })

  t.test(`durability 10: format ${format}: a migration that is ended at any step is taken up again; the old program never answers`, async (t) => {
    const counted = plan()
    const whole = oldDisk(format)
    await migrated(whole, counted)
    const expected = stateOf(whole)
    const raised = counted.seen.findIndex((call) => call === 'rename /tmp/state/STATE')
    const segments = counted.seen.findIndex((call) => call.includes('/collections/'))
    t.ok(raised >= 0 && raised < segments, 'STATE is raised before anything else is written')
    const wrong: string[] = []
    for (let at = 1; at <= counted.calls; at += 1) {
      for (const [mode, seed] of cuts) {
        const disk = oldDisk(format)
        await migrated(disk, plan(at, 'stop'))
        const after = disk.crash(mode, seed * 1000 + at)
        const isNew = formatIn(after) === formatVersion
        const opened = await Promise.resolve().then(() => stateOf(after))
          .catch((error: unknown) => error instanceof SallyportError ? error.code : 'thrown')
        const allowed = isNew ? ['state_too_old', expected] : ['state_too_old']
        const name = `${counted.seen[at - 1]} ${mode} ${seed}`
        if (!allowed.includes(opened)) wrong.push(`${name}: ${opened}`)
        const { loss } = await repairState({ ...site, files: after, lock: memoryLock() })
        if (loss.records_after !== null) wrong.push(`${name}: a loss`)
        if (stateOf(after) !== expected) wrong.push(`${name}: another state`)
        const store = openStore({ ...site, files: after, lock: memoryLock(), mode: 'write' })
        await put(store, 'after', 1)
        await (store as FileStore).exclusive('fold', () => (store as FileStore).checkpoint())
        store.close()
        if (!checkState({ ...site, files: after, specs }).ok) wrong.push(`${name}: check`)
      }
    }
    t.strictSame(wrong, [])
  })

  t.test(`format ${format}: whichever call of a migration fails, the old documents are there and it is run again`, async (t) => {
    const counted = plan()
    const whole = oldDisk(format)
    await migrated(whole, counted)
    const expected = stateOf(whole)
    const wrong: string[] = []
    for (let at = 1; at <= counted.calls; at += 1) {
      for (const fault of ['EIO', 'ENOSPC'] as const) {
        const disk = oldDisk(format)
        await migrated(disk, plan(at, fault))
        await migrated(disk)
        if (stateOf(disk) !== expected) wrong.push(`${counted.seen[at - 1]} ${fault}`)
      }
    }
    t.strictSame(wrong, [])
  })

  t.test(`format ${format}: a disk without room is refused before anything changes`, async (t) => {
    const disk = oldDisk(format)
    disk.freeLeft = 500
    await t.rejects(migrateState({ ...site, files: disk, lock: memoryLock() }), {
      kind: 'failed', code: 'disk_full',
    })
    t.equal(formatIn(disk), format)
  })

  t.test(`format ${format}: a damaged state is repaired before its format is changed`, async (t) => {
    const disk = oldDisk(format)
    const path = '/tmp/state/collections/000000000002.1.seg'
    const bytes = Buffer.from(disk.contentOf(path))
    bytes[40] = (bytes[40] ?? 0) ^ 1
    disk.overwrite(path, bytes)
    await t.rejects(migrateState({ ...site, files: disk, lock: memoryLock() }), {
      kind: 'damaged', code: 'migration_refused',
    })
    t.equal(formatIn(disk), format)
  })
}

t.test('a state whose newest manifest is untrue does not change its format from the one before', async (t) => {
  for (const [format] of stepsFrom) {
    const disk = oldDisk(format)
    const folder = '/tmp/state/collections'
    const newest = disk.list(folder).filter((name) => name.startsWith('manifest.')).sort().at(-1)
    const path = `${folder}/${newest}`
    disk.overwrite(path, disk.contentOf(path).subarray(0, 100))
    await t.rejects(migrateState({ ...site, files: disk, lock: memoryLock() }), {
      kind: 'damaged', code: 'migration_refused',
    })
    t.equal(formatIn(disk), format)
  }
})

t.test('a state in which something stands in the place of a folder does not change its format', async (t) => {
  for (const [format] of stepsFrom) {
    const disk = oldDisk(format)
    disk.close(disk.open('/tmp/state/stages', 'create'))
    await t.rejects(migrateState({ ...site, files: disk, lock: memoryLock() }), {
      kind: 'damaged', code: 'folder_replaced', details: { folder: 'stages' },
    })
    t.equal(formatIn(disk), format)
  }
})
