/** What repairs and restores make and rename survives a power cut: folders are synced, too. */
import { unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { backupState } from '../../src/state/care/backup.js'
import { keepUnreferenced } from '../../src/state/care/kept.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { again, placeOf, put, specs } from '../support/state/notes.js'
import { World } from '../world/world.js'

type Event = readonly ['made' | 'synced', string] | readonly ['renamed', string, string]

/** A disk that tells what came into folders, and which of those were synced. */
const recording = (): { readonly files: Files, readonly events: Event[] } => {
  const events: Event[] = []
  const paths = new Map<number, string>()
  const made = (path: string): void => void events.push(['made', path])
  return {
    events,
    files: {
      ...nodeFiles,
      open: (path, intent) => {
        const isNew = nodeFiles.stat(path) === undefined
        const fd = nodeFiles.open(path, intent)
        paths.set(fd, path)
        if (isNew) made(path)
        return fd
      },
      mkdir: (path) => (nodeFiles.mkdir(path), made(path)),
      link: (from, to) => (nodeFiles.link(from, to), made(to)),
      rename: (from, to) => (nodeFiles.rename(from, to), void events.push(['renamed', from, to])),
      sync: (fd) => (nodeFiles.sync(fd), void events.push(['synced', paths.get(fd) ?? ''])),
    },
  }
}

/** Renames that a power cut may undo, or that may lead to a folder that lacks what was in it. */
const notDurable = (events: readonly Event[]): readonly string[] => events.flatMap((event, at) => {
  if (event[0] !== 'renamed') return []
  const [, from, to] = event
  const later = new Set(events.slice(at).flatMap(([kind, path]) => (kind === 'synced' ? path : [])))
  const inside = events.slice(0, at).flatMap(([kind, path], n) =>
    (kind === 'made' && path.startsWith(`${from}/`) ? [[dirname(path), n] as const] : []))
  const open = inside.filter(([folder, n]) => !events.slice(n, at)
    .some(([kind, path]) => kind === 'synced' && path === folder))
  return [
    ...[dirname(from), dirname(to)].filter((folder) => !later.has(folder))
      .map((folder) => `${folder} is not synced behind a rename from ${from} to ${to}`),
    ...open.map(([folder]) => `${folder} is not synced before it is renamed`),
  ]
})

const works = [
  'a repair', 'a restore over a state', 'a restore into a new place',
  'who keeps aside what no record names',
] as const

for (const what of works) {
  t.test(`${what} makes durable what it renames, and the folders that it renames with all that is in them`, async (t) => {
    const world = await World.in(t).store()
    const { store } = world
    await put(store, 'a', 1)
    const { stored_sha256: name } = store.artifacts.write('test', Buffer.from('content'))
    const backup = world.place.path('backup')
    await backupState(store, backup)
    store.close()
    const place = { ...placeOf(store), specs }
    const { files, events } = recording()
    if (what === 'a repair') {
      unlinkSync(store.places.state)
      await repairState({ ...place, files, onLoss: async () => undefined })
    } else if (what.startsWith('who')) {
      await keepUnreferenced(again(t, store, 'write', { files }), () => new Set())
    } else {
      writeFileSync(join(store.places.artifacts, name.slice(0, 2), name), 'not what its name says')
      const dir = what.endsWith('place') ? world.place.path('fresh') : place.dir
      await restoreState({ ...place, dir, files, backup })
    }
    t.ok(events.some(([kind]) => kind === 'renamed'))
    t.strictSame(notDurable(events), [])
  })
}
