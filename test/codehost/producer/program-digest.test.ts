/** What a program's file holds: read whole once, and again as soon as anything of it has changed. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
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

t.test('C-079 C-289 a program that was changed is read again, however quickly and whatever its time says', async (t) => {
  const path = join(t.testdir({}), 'program')
  const time = new Date('2026-01-01T00:00:00.000Z')
  for (let turn = 0; turn < 300; turn += 1) {
    const text = `program ${1_000 + turn}`
    writeFileSync(path, text)
    utimesSync(path, time, time)
    if (programDigest(path) !== digestOf(text)) throw new Error(`of turn ${turn - 1}, not ${turn}`)
  }
  const old = programDigest(path)
  writeFileSync(`${path}.new`, 'program 9999')
  utimesSync(`${path}.new`, time, time)
  renameSync(`${path}.new`, path)
  t.not(programDigest(path), old, 'another file in its place')
  t.equal(programDigest(path), digestOf('program 9999'))
})

t.test('what is no regular file has no digest, and what is not there throws', async (t) => {
  const dir = t.testdir({ file: 'text' })
  mkdirSync(join(dir, 'folder'))
  t.equal(programDigest(join(dir, 'folder')), null)
  symlinkSync(join(dir, 'file'), join(dir, 'link'))
  t.throws(() => programDigest(join(dir, 'link')), { code: 'ELOOP' })
  t.throws(() => programDigest(join(dir, 'none')), { code: 'ENOENT' })
})
