/** What is believed to be the file that was read before: its facts alone decide. */
import { readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readLastUse, touchLastUse } from '../../src/governance/session/last-use.js'
import { FileMemo } from '../../src/state/file-memo.js'

const minuteAgo = (): Date => new Date(Date.now() - 60_000)

/** A file, and how often it was read through `Still`. */
const one = (t: Test, text: string) => {
  const path = join(t.testdir(), 'file')
  writeFileSync(path, text)
  const still = new FileMemo<string>()
  let reads = 0
  const read = (): string => {
    reads += 1
    return readFileSync(path, 'utf8')
  }
  return { path, look: () => still.of(statSync(path), read), reads: () => reads }
}

t.test('a file that stood still is read once, until any of its facts is another', async (t) => {
  const { path, look, reads } = one(t, 'a')
  utimesSync(path, minuteAgo(), minuteAgo())
  t.strictSame([look(), look(), look(), reads()], ['a', 'a', 'a', 1])
  const { mtime } = statSync(path)
  writeFileSync(path, 'bb')
  utimesSync(path, mtime, mtime)
  t.equal(look(), 'bb', 'another size')
  writeFileSync(path, 'cc')
  t.equal(look(), 'cc', 'another time')
  utimesSync(path, mtime, mtime)
  look()
  writeFileSync(`${path}.new`, 'dd')
  utimesSync(`${path}.new`, mtime, mtime)
  renameSync(`${path}.new`, path)
  t.equal(look(), 'dd', 'another file')
})

t.test('a file that was written a moment ago is read again, whatever its facts say', async (t) => {
  const { path, look } = one(t, 'a')
  const { mtime } = statSync(path)
  utimesSync(path, mtime, mtime)
  t.equal(look(), 'a')
  writeFileSync(path, 'b')
  utimesSync(path, mtime, mtime)
  t.equal(look(), 'b', 'written twice within the resolution of a time')
})

t.test('a last use that another process noted is seen at once', async (t) => {
  const dir = t.testdir()
  const root = 'root_00000000-0000-7000-8000-000000000000'
  touchLastUse(dir, root, 1_000)
  utimesSync(join(dir, 'run', 'sessions', root), minuteAgo(), minuteAgo())
  t.strictSame([readLastUse(dir, root), readLastUse(dir, root)], [1_000, 1_000])
  writeFileSync(join(dir, 'run', 'sessions', root), '2000\n')
  t.equal(readLastUse(dir, root), 2_000)
  touchLastUse(dir, root, 2_500, { everyMs: 1_000, seenMs: 1_000 })
  t.equal(readLastUse(dir, root), 2_000, 'what lies there counts, not what was seen before')
})
