/** What the parent of an image folder tells of it, with real files. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { FolderHints } from '../../../src/shots/watch/hints.js'
import { lookOutFor, parentEntriesMax } from '../../../src/shots/watch/lookout.js'
import { patienceMs } from '../../support/speed.js'
import { t } from '../../support/tests-in-slices.js'

const until = async (found: () => boolean, what: string): Promise<void> => {
  const begin = performance.now()
  while (!found()) {
    if (performance.now() - begin > patienceMs()) throw new Error(`never came: ${what}`)
    await sleep(5)
  }
}

const placed = (t: Test) => {
  const parent = t.testdir()
  const folder = join(parent, 'pictures')
  mkdirSync(folder)
  return { parent, folder }
}

/** A lookout that has begun, and how often it told something. */
const lookingOut = async (t: Test, folder: string) => {
  let told = 0
  const lookout = lookOutFor(folder, () => {
    told += 1
  })
  t.teardown(() => lookout?.close())
  await lookout?.ready
  const tells = async (what: string, change: () => void): Promise<void> => {
    const before = told
    change()
    await until(() => told > before, what)
  }
  return { lookout, told: () => told, tells }
}

t.test('S-001 a folder that goes, comes back or is moved is told by its parent, and no file is', async (t) => {
  const { parent, folder } = placed(t)
  const away = join(parent, 'away')
  const changes: Readonly<Record<string, () => void>> = {
    'that it is gone': () => rmSync(folder, { recursive: true }),
    'that it is back': () => mkdirSync(folder),
    'that it was moved away': () => renameSync(folder, away),
    'that it was moved back': () => renameSync(away, folder),
  }
  const former: (() => number)[] = []
  // A new one each time: chokidar drops a second removal that follows within 100 ms.
  for (const [what, change] of Object.entries(changes)) {
    const { lookout, told, tells } = await lookingOut(t, folder)
    writeFileSync(join(parent, `beside ${what}.png`), '')
    mkdirSync(join(parent, `other ${what}`))
    t.equal(told(), 0, 'not what lies beside it')
    await tells(what, change)
    t.equal(told(), 1, what)
    lookout?.close()
    former.push(told)
  }
  t.strictSame(former.map((told) => told()), [1, 1, 1, 1], 'closed, it tells nothing')
})

t.test('a parent is watched with so many entries and not with more: each change costs a look at all', async (t) => {
  const { parent, folder } = placed(t)
  for (let at = 1; at < parentEntriesMax; at += 1) writeFileSync(join(parent, `${at}`), '')
  t.ok((await lookingOut(t, folder)).lookout)
  writeFileSync(join(parent, 'one more'), '')
  t.equal((await lookingOut(t, folder)).lookout, null)
  t.equal(lookOutFor(join(parent, 'nowhere/pictures'), () => undefined), null)
})

t.test('S-001 what a folder tells that lies elsewhere by now leads to the one at its path', async (t) => {
  const root = t.testdir()
  const path = (...names: string[]) => join(root, ...names, 'parent', 'pictures')
  mkdirSync(path('here'), { recursive: true })
  const hints: (string | null)[] = []
  const told = new FolderHints(path('here'), {
    hint: (name) => void hints.push(name), blind: () => t.fail('it sees'),
  })
  t.teardown(() => told.close())
  hints.length = 0
  renameSync(join(root, 'here'), join(root, 'away'))
  mkdirSync(path('here'), { recursive: true })
  writeFileSync(join(path('away'), 'letter.txt'), '')
  await until(() => hints.includes(null), 'that it is another folder')
  writeFileSync(join(path('here'), 'new.png'), '')
  await until(() => hints.includes('new.png'), 'a notice of the new folder')
  t.strictSame(hints.filter((name) => name !== null && name !== 'new.png'), [], 'and no other file')
})

t.test('S-001 a look finds a folder that was replaced where nobody looks out for it', async (t) => {
  const { parent, folder } = placed(t)
  for (let at = 0; at <= parentEntriesMax; at += 1) writeFileSync(join(parent, `${at}`), '')
  const hints: (string | null)[] = []
  const told = new FolderHints(folder, {
    hint: (name) => void hints.push(name), blind: () => t.fail('it sees'),
  })
  t.teardown(() => told.close())
  hints.length = 0
  told.check()
  t.strictSame(hints, [])
  renameSync(folder, join(parent, 'away'))
  mkdirSync(folder)
  told.check()
  t.strictSame(hints, [null])
  writeFileSync(join(folder, 'new.png'), '')
  await until(() => hints.includes('new.png'), 'a notice of the new folder')
})
