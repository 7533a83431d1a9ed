/** What repairs and restores make and rename survives a power cut: folders are synced, too. */
import { unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { backupState } from '../../src/state/care/backup.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { placeOf, put, specs } from '../support/state/notes.js'
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
  const after = events.slice(at).some(([kind, path]) => kind === 'synced' && path === dirname(to))
  const inside = events.slice(0, at).flatMap(([kind, path], n) =>
    (kind === 'made' && path.startsWith(`${from}/`) ? [[dirname(path), n] as const] : []))
  const open = inside.filter(([folder, n]) => !events.slice(n, at)
    .some(([kind, path]) => kind === 'synced' && path === folder))
  return [
    ...(after ? [] : [`${dirname(to)} is not synced behind a rename to ${to}`]),
    ...open.map(([folder]) => `${folder} is not synced before it is renamed`),
  ]
})

for (const what of ['a repair', 'a restore over a state', 'a restore into a new place'] as const) {
  t.test(`${what} makes durable what it renames, and the folders that it renames with all that is in them`, async (t) => {
    const world = await World.in(t).store()
    const { store } = world
    await put(store, 'a', 1)
    store.artifacts.write('test', Buffer.from('content'))
    const backup = world.place.path('backup')
    await backupState(store, backup)
    store.close()
    const place = { ...placeOf(store), specs }
    const { files, events } = recording()
    if (what === 'a repair') {
      unlinkSync(store.places.state)
      await repairState({ ...place, files, onLoss: async () => undefined })
    } else {
      const dir = what.endsWith('place') ? world.place.path('fresh') : place.dir
      await restoreState({ ...place, dir, files, backup })
    }
    t.ok(events.some(([kind]) => kind === 'renamed'))
    t.strictSame(notDurable(events), [])
  })
}
