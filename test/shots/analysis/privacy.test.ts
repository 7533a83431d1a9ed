/** Whether a file is still the one that was read, and whether there is one at all, by its name. */
import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isSourceGone, isUnchanged } from '../../../src/shots/analysis/privacy.js'
import { readOnce } from '../../../src/shots/scan/read-once.js'
import type { Observation } from '../../../src/shots/observations/observation-rows.js'

const folderOf = (t: Test): string => {
  const folder = mkdtempSync(join(tmpdir(), 'privacy-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A file of one size and one time, whatever is in it. */
const put = (folder: string, name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  utimesSync(path, 1_700_000_000, 1_700_000_000)
  return path
}

t.test('another file of the same size and time, put in the place of the one that was read, is another one', async (t) => {
  const folder = folderOf(t)
  const path = put(folder, 'a.png', 'first')
  const read = readOnce(folder, 'a.png', Date.now())
  if (read.kind !== 'read') throw new Error(read.kind)
  const source = { name: 'a.png', facts: read.facts }
  t.ok(isUnchanged(folder, source))
  const { ino } = statSync(path)
  renameSync(put(folder, 'b.png', 'other'), path)
  t.not(statSync(path).ino, ino)
  t.notOk(isUnchanged(folder, source))
  t.notOk(isUnchanged(folder, { ...source, name: 'none.png' }))
})

t.test('the file of an image is gone only once it is at none of its paths', async (t) => {
  const folder = folderOf(t)
  const name = (text: string) => ({ name: { text, bytes_base64: null } })
  const row = {
    root: folder, paths: [name('a.png'), name('b.png')],
  } as unknown as Pick<Observation, 'root' | 'paths'>
  const [a, b] = [put(folder, 'a.png', 'one'), put(folder, 'b.png', 'one')]
  t.notOk(isSourceGone(row))
  rmSync(a)
  t.notOk(isSourceGone(row))
  rmSync(b)
  t.ok(isSourceGone(row))
})
