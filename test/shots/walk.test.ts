/** The walk of an image folder: what it names, whatever the working folder of the process is. */
import {
  chmodSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmdirSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { walkImageFolder, type Listing } from '../../src/shots/scan/walk.js'

const bytes = (folder: string, latin1: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(latin1, 'latin1')])

const seen = ({ names, stamps, folders, unreadable }: Listing) => ({
  files: names.map((name, i) => [name, ...stamps.subarray(i * 4, i * 4 + 4)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  folders: [...folders].sort(), unreadable: [...unreadable].sort(),
})

/** Files in folders of all kinds of names; gives what a walk must say of them. */
const filled = (t: Test) => {
  const folder = join(t.testdir({ images: {}, elsewhere: {} }), 'images')
  const folders = ['plain', 'plain/deeper', 'sp ace', 'K\xc3\xbcche', 'not\xffutf8', '-p']
  for (const name of folders) mkdirSync(bytes(folder, name))
  const names = ['', ...folders.map((one) => `${one}/`)].flatMap((below) =>
    ['a.png', 'b \xe4\xff.JPG', '-rf.jpeg'].map((name) => `${below}${name}`))
  for (const name of names) writeFileSync(bytes(folder, name), name, 'latin1')
  writeFileSync(join(folder, '.hidden.png'), '')
  symlinkSync('../a.png', join(folder, 'plain/link.png'))
  symlinkSync('../elsewhere', join(folder, 'outside'))
  writeFileSync(join(folder, '../elsewhere/x.png'), 'x')
  const files = [...names].sort().map((name) => {
    const { size, mtimeMs, ctimeMs, ino } = lstatSync(bytes(folder, name))
    return [name, size, mtimeMs, ctimeMs, ino]
  })
  return { folder, files, folders: [...folders].sort() }
}

t.test('S-001 files of any names in folders of any names are found, and the working folder is what it was', (t) => {
  const { folder, files, folders } = filled(t)
  const before = process.cwd()
  t.strictSame(seen(walkImageFolder(folder, true)), { files, folders, unreadable: [] })
  t.equal(process.cwd(), before)
  const flat = files.filter(([name]) => !String(name).includes('/'))
  t.strictSame(seen(walkImageFolder(folder, false)), { files: flat, folders: [], unreadable: [] })
  t.equal(process.cwd(), before)
  t.throws(() => walkImageFolder(join(folder, 'gone'), true), { code: 'ENOENT' })
  t.throws(() => walkImageFolder(join(folder, 'a.png'), true), { code: 'ENOTDIR' })
  t.equal(process.cwd(), before)
  t.end()
})

t.test('S-001 a working folder that was moved, closed to everybody or removed is gone back to all the same', (t) => {
  const { folder, files, folders } = filled(t)
  const [place, moved] = [join(folder, '../place'), join(folder, '../moved')]
  const before = process.cwd()
  const { ino } = lstatSync(join(folder, '..'))
  mkdirSync(place)
  const found: unknown[] = []
  const look = (change: () => void): void => {
    change()
    found.push(seen(walkImageFolder(folder, true)))
  }
  process.chdir(place)
  try {
    look(() => renameSync(place, moved))
    found.push(lstatSync('..').ino)
    look(() => chmodSync(moved, 0))
    look(() => rmdirSync(moved))
    found.push(readlinkSync('/proc/self/cwd').endsWith(' (deleted)'))
  } finally {
    process.chdir(before)
  }
  const walked = { files, folders, unreadable: [] }
  t.strictSame(found, [walked, ino, walked, walked, true])
  t.end()
})
