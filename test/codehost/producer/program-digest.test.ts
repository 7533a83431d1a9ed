/** What a program's file holds: read whole once, and again once anything of it has changed. */
import { createHash } from 'node:crypto'
import {
  mkdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { programDigest } from '../../../src/codehost/producer/program-digest.js'

const digestOf = (bytes: string | Buffer): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Bytes that this process has read so far, as the kernel counts them. */
const bytesRead = (): number =>
  Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1])

t.test('Node is read whole once, and its digest is the same afterwards', async (t) => {
  const node = process.execPath
  const bytes = readFileSync(node)
  const first = programDigest(node)
  t.equal(first, digestOf(bytes))
  const before = bytesRead()
  t.equal(programDigest(node), first)
  t.ok(bytesRead() - before < bytes.length / 10, 'it was not read again')
})

/** A process that begins in a minute: to it whatever is changed now has been still for long. */
const later = (): number => Date.now() + 60_000

t.test('C-079 C-289 a program that was changed is read again, whatever its size and time say', async (t) => {
  const path = join(t.testdir({}), 'program')
  const time = new Date('2026-01-01T00:00:00.000Z')
  const put = (to: string, text: string): void => {
    writeFileSync(to, text)
    utimesSync(to, time, time)
  }
  for (const text of ['program 1', 'program 2', 'program 3, longer']) {
    put(path, text)
    for (const look of ['first', 'second']) {
      t.equal(programDigest(path, later()), digestOf(text), `${text}, ${look} look`)
    }
  }
  put(`${path}.new`, 'program 4, longer')
  renameSync(`${path}.new`, path)
  t.equal(programDigest(path, later()), digestOf('program 4, longer'), 'another file in its place')
})

t.test('C-079 what changed just before this process began, or since, is read each time: the next change may have the same time', async (t) => {
  const size = 2_000_000
  const path = join(t.testdir({ program: Buffer.alloc(size, 1) }), 'program')
  const readBy = (startedMs?: number): number => {
    const before = bytesRead()
    t.equal(programDigest(path, startedMs), digestOf(Buffer.alloc(size, 1)))
    return bytesRead() - before - size
  }
  for (const startedMs of [undefined, Date.now(), Date.now() + 1_000]) {
    for (const look of ['first', 'second']) t.ok(readBy(startedMs) >= 0, `${look} look: whole`)
  }
  readBy(later())
  t.ok(readBy(later()) < 0, 'what was still for long is not read again')
})

t.test('what is no regular file has no digest, and what is not there throws', async (t) => {
  const dir = t.testdir({ file: 'text' })
  mkdirSync(join(dir, 'folder'))
  t.equal(programDigest(join(dir, 'folder')), null)
  symlinkSync(join(dir, 'file'), join(dir, 'link'))
  t.throws(() => programDigest(join(dir, 'link')), { code: 'ELOOP' })
  t.throws(() => programDigest(join(dir, 'none')), { code: 'ENOENT' })
})
