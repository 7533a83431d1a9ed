/** Packs and streams: what they give back, what they open for it, and what refuses to open. */
import fc from 'fast-check'
import {
  mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../../src/base/canonical.js'
import { checkState } from '../../../src/state/care/check.js'
import { storedPath } from '../../../src/state/artifact-folder.js'
import { streamPieceBytes } from '../../../src/state/pieces/stream.js'
import { packPieceBytesMax } from '../../../src/state/pieces/pack.js'
import { createStore } from '../../../src/state/store.js'
import type { ArtifactRef, Artifacts } from '../../../src/state/types.js'
import { memoryLock } from '../../support/state/faults.js'
import { MemFiles } from '../../support/state/mem-files.js'
import { again, errorOf, placeOf } from '../../support/state/notes.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const label = 'test.plan.v1'
const piece = streamPieceBytes

/** Bytes that differ at each place. */
const bytesOf = (length: number, seed = 1): Buffer => {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i += 1) bytes[i] = (i * 31 + (i >> 8) * 7 + seed) & 0xff
  return bytes
}

const inMemory = (): { readonly artifacts: Artifacts; readonly disk: MemFiles } => {
  const disk = new MemFiles()
  const { artifacts } = createStore({
    dir: '/tmp/state', configDir: '/tmp/config', files: disk, lock: memoryLock(), profile: {},
  })
  return { artifacts, disk }
}

const pathOf = (ref: ArtifactRef): string => storedPath('/tmp/state/artifacts', ref.stored_sha256)

const streamOf = (artifacts: Artifacts, content: Buffer, cut = 100_000): ArtifactRef => {
  const writer = artifacts.writeStream(label)
  for (let at = 0; at < content.length; at += cut) writer.write(content.subarray(at, at + cut))
  return writer.finish({ sha256: sha256Hex(content), bytes: content.length })
}

const packOf = (artifacts: Artifacts, bodies: Readonly<Record<string, Buffer>>): ArtifactRef => {
  const writer = artifacts.writePack(label)
  for (const [name, body] of Object.entries(bodies)) writer.add(name, body)
  return writer.finish()
}

const wholeOf = (artifacts: Artifacts, ref: ArtifactRef): Buffer => {
  const reader = artifacts.openStream(label, ref)
  try {
    return Buffer.concat([...reader.pieces()])
  } finally {
    reader.close()
  }
}

t.test('a stream comes back whole around each border of a piece, in any cut, and by any range', (t) => {
  const { artifacts, disk } = inMemory()
  for (const length of [0, 1, piece - 1, piece, piece + 1, 2 * piece, 2 * piece + 5]) {
    const content = bytesOf(length)
    for (const cut of [length + 1, piece, 65_536, piece - 1]) {
      const ref = streamOf(artifacts, content, cut)
      t.strictSame([ref.sha256, ref.bytes], [sha256Hex(content), length])
      t.equal(sha256Hex(disk.contentOf(pathOf(ref))), ref.stored_sha256)
      t.ok(wholeOf(artifacts, ref).equals(content), `${length} by ${cut}`)
    }
  }
  const content = bytesOf(3 * piece + 7)
  const ref = streamOf(artifacts, content)
  const reader = artifacts.openStream(label, ref)
  for (const [from, length, opened] of [
    [0, 10, 1], [piece - 1, 1, 1], [piece - 1, 2, 2], [piece, piece, 1], [3 * piece, 99, 1],
    [3 * piece + 7, 1, 0], [9 * piece, 5, 0], [0, 0, 0], [5, 3 * piece, 4],
  ] as const) {
    const before = reader.opened
    const part = Buffer.concat([...reader.range(from, length)])
    t.ok(part.equals(content.subarray(from, from + length)), `${from} ${length}`)
    t.equal(reader.opened - before, opened)
  }
  t.equal(reader.bytes, content.length)
  reader.close()
  t.throws(() => [...reader.pieces()], new TypeError('the artifact is closed'))
  t.end()
})

t.test('a pack gives back each body, and opens one piece for it', (t) => {
  const { artifacts } = inMemory()
  const bodies = Object.fromEntries(Array.from({ length: 60 }, (_, i) =>
    [`src/${i}.ts`, bytesOf((i * 7919) % 200_000, i)]))
  bodies['two MiB'] = bytesOf(2 * 1024 * 1024)
  bodies['empty'] = Buffer.alloc(0)
  bodies['some'] = bytesOf(1_000)
  bodies['as long as a piece'] = bytesOf(packPieceBytesMax)
  const ref = packOf(artifacts, bodies)
  const sum = Object.values(bodies).reduce((all, body) => all + body.length, 0)
  t.equal(ref.bytes, sum)
  const reader = artifacts.openPack(label, ref)
  t.strictSame(reader.bodies, Object.entries(bodies).map(([name, body]) =>
    ({ name, bytes: body.length, sha256: sha256Hex(body) })))
  reader.close()
  for (const [name, body] of Object.entries(bodies)) {
    const one = artifacts.openPack(label, ref)
    t.ok(one.read(name).equals(body), name)
    t.equal(one.opened, body.length === 0 ? 0 : 1)
    one.close()
  }
  const all = artifacts.openPack(label, ref)
  for (const name of Object.keys(bodies)) all.read(name)
  t.ok(all.opened < 12, `${all.opened} pieces, each opened once where bodies are read in order`)
  t.hasStrict(errorOf(() => all.read('other')), { code: 'pack_body_not_found' })
  all.close()
  const none = packOf(artifacts, {})
  t.strictSame(artifacts.openPack(label, none).bodies, [])
  t.end()
})

t.test('a body longer than a piece is written and read in parts, beside others', (t) => {
  const { artifacts } = inMemory()
  const long = bytesOf(2 * packPieceBytesMax + 12_345)
  const parts = function* (): Generator<Buffer> {
    for (let at = 0; at < long.length; at += 700_001) yield long.subarray(at, at + 700_001)
  }
  const writer = artifacts.writePack(label)
  writer.add('first', bytesOf(10))
  t.strictSame(writer.add('long', parts()), {
    name: 'long', bytes: long.length, sha256: sha256Hex(long),
  })
  writer.add('last', bytesOf(20))
  t.throws(() => writer.add('last', bytesOf(1)), new TypeError('a pack has two bodies of one name'))
  const ref = writer.finish()
  const reader = artifacts.openPack(label, ref)
  t.ok(reader.read('long').equals(long))
  t.equal(reader.opened, 3)
  t.ok([...reader.chunks('long')].every(({ length }) => length <= packPieceBytesMax))
  t.ok(reader.read('first').equals(bytesOf(10)))
  t.ok(reader.read('last').equals(bytesOf(20)))
  reader.close()
  t.end()
})

t.test('a pack of more bodies than its index may name is refused, and leaves nothing', (t) => {
  const { artifacts, disk } = inMemory()
  const writer = artifacts.writePack(label)
  for (let n = 0; n < 4_200; n += 1) writer.add(`${n}`.padStart(4_096, '/'), Buffer.alloc(0))
  t.hasStrict(errorOf(() => writer.finish()), { kind: 'rejected', code: 'pack_too_large' })
  t.strictSame(disk.list('/tmp/state/artifacts'), [])
  t.end()
})

t.test('any bodies in any cut come back, and any stream', async (t) => {
  const { artifacts } = inMemory()
  const body = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 4 })
  await fc.assert(fc.asyncProperty(fc.array(body, { maxLength: 8 }), async (bodies) => {
    const writer = artifacts.writePack(label)
    bodies.forEach((parts, i) => void writer.add(String(i), parts))
    const reader = artifacts.openPack(label, writer.finish())
    bodies.forEach((parts, i) => t.ok(reader.read(String(i)).equals(Buffer.concat(parts))))
    reader.close()
    const stream = artifacts.writeStream(label)
    for (const part of bodies.flat()) stream.write(part)
    t.ok(wholeOf(artifacts, stream.finish()).equals(Buffer.concat(bodies.flat())))
  }), { numRuns: 40 })
})

t.test('a stream that is not of the length or digest that was told, or too long, is not stored', (t) => {
  const { artifacts, disk } = inMemory()
  const content = bytesOf(1000)
  const told = { sha256: sha256Hex(content), bytes: 1000 }
  for (const [expected, code] of [
    [{ ...told, bytes: 999 }, 'content_differs'],
    [{ ...told, sha256: sha256Hex('x') }, 'content_differs'],
  ] as const) {
    const writer = artifacts.writeStream(label)
    writer.write(content)
    t.hasStrict(errorOf(() => writer.finish(expected)), { kind: 'rejected', code })
    t.throws(() => writer.finish(),
      new TypeError('the artifact is published or abandoned'), 'it is over')
  }
  const short = artifacts.writeStream(label, { bytesMax: 1000 })
  short.write(content.subarray(0, 999))
  short.write(content.subarray(999))
  const other = artifacts.writeStream(label, { bytesMax: 1000 })
  other.write(content.subarray(0, 999))
  t.hasStrict(errorOf(() => other.write(content.subarray(0, 2))), { code: 'content_too_long' })
  t.throws(() => other.write(content.subarray(0, 1)),
    new TypeError('the artifact is published or abandoned'))
  t.strictSame(artifacts.list(), [])
  t.strictSame(disk.list('/tmp/state/artifacts'), [], 'nothing is left')
  short.finish(told)
  t.equal(artifacts.list().length, 1)
  t.end()
})

t.test('every flipped byte of a stream and of a pack refuses, or changes nothing that is given', (t) => {
  const { artifacts, disk } = inMemory()
  const content = bytesOf(300)
  const stream = streamOf(artifacts, content)
  const bodies = { a: bytesOf(100, 1), b: bytesOf(90, 2), c: Buffer.alloc(0) }
  const pack = packOf(artifacts, bodies)
  const readPack = (): string => {
    const reader = artifacts.openPack(label, pack)
    try {
      return JSON.stringify(Object.keys(bodies).map((name) => reader.read(name).toString('hex')))
    } finally {
      reader.close()
    }
  }
  const whole = readPack()
  for (const [ref, read] of [
    [stream, () => wholeOf(artifacts, stream).toString('hex')], [pack, readPack],
  ] as const) {
    const before = disk.contentOf(pathOf(ref))
    const given = read()
    for (let at = 0; at < before.length; at += 1) {
      const flipped = Buffer.from(before)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      disk.overwrite(pathOf(ref), flipped)
      const error = errorOf(read)
      t.hasStrict(error, { kind: 'damaged', code: 'artifact_damaged' }, `byte ${at}`)
      t.hasStrict(errorOf(() => artifacts.verify(label, ref)), { code: 'artifact_damaged' })
    }
    for (const cut of [0, 3, 19, 20, 21, 40, before.length - 1]) {
      disk.overwrite(pathOf(ref), before.subarray(0, cut))
      t.hasStrict(errorOf(read), { code: 'artifact_damaged' }, `cut at ${cut}`)
    }
    disk.overwrite(pathOf(ref), Buffer.concat([before, Buffer.alloc(1)]))
    t.hasStrict(errorOf(read), { code: 'artifact_damaged' }, 'a byte more')
    disk.overwrite(pathOf(ref), before)
    t.equal(read(), given)
  }
  t.equal(readPack(), whole)
  t.end()
})

t.test('pieces that changed places, that stand twice, that are missing or from another file are refused', (t) => {
  const { artifacts, disk } = inMemory()
  const full = piece + 16
  const content = bytesOf(4 * piece)
  const [one, two] = [streamOf(artifacts, content), streamOf(artifacts, content)]
  const stored = disk.contentOf(pathOf(one))
  const foreign = disk.contentOf(pathOf(two))
  const at = (n: number, bytes = stored): Buffer =>
    bytes.subarray(20 + n * full, 20 + (n + 1) * full)
  const head = stored.subarray(0, 20)
  const refused = (what: string, parts: readonly Buffer[], ref = one): void => {
    disk.overwrite(pathOf(ref), Buffer.concat(parts))
    t.hasStrict(errorOf(() => wholeOf(artifacts, ref)), { code: 'artifact_damaged' }, what)
  }
  refused('changed places', [head, at(1), at(0), at(2), at(3)])
  refused('twice', [head, at(0), at(0), at(2), at(3)])
  refused('one is missing', [head, at(0), at(2), at(3)])
  refused('the last is missing', [head, at(0), at(1), at(2)])
  refused('from another file', [head, at(0), at(1, foreign), at(2), at(3)])
  refused('the last from another file', [head, at(0), at(1), at(2), at(3, foreign)])
  disk.overwrite(pathOf(one), foreign)
  t.ok(wholeOf(artifacts, one).equals(content), 'a whole file of the same content says the same')
  disk.overwrite(pathOf(one), Buffer.concat([head, at(0), at(1)]))
  const shorter = { ...one, bytes: 2 * piece, sha256: sha256Hex(content.subarray(0, 2 * piece)) }
  t.hasStrict(errorOf(() => wholeOf(artifacts, shorter)), { code: 'artifact_damaged' },
    'a shorter one, although its digest is told right')
  disk.overwrite(pathOf(one), stored)
  t.ok(wholeOf(artifacts, one).equals(content))
  t.end()
})

t.test('pieces of a pack open at their own place only, and another pack does not stand for it', (t) => {
  const { artifacts, disk } = inMemory()
  const bodies = Object.fromEntries([0, 1, 2].map((n) => [`b${n}`, bytesOf(1024 * 1024, n)]))
  const same = Object.fromEntries([0, 1, 2].map((n) => [`b${n}`, bytesOf(1024 * 1024, 0)]))
  const [pack, twin, alike] =
    [packOf(artifacts, bodies), packOf(artifacts, bodies), packOf(artifacts, same)]
  t.not(pack.stored_sha256, twin.stored_sha256)
  const readAll = (ref: ArtifactRef) => (): unknown => artifacts.verify(label, ref)
  const swap = (ref: ArtifactRef, from: Buffer, order: readonly number[]): Buffer => {
    const own = disk.contentOf(pathOf(ref))
    const full = 1024 * 1024 + 16
    const pieces = order.map((n) => from.subarray(20 + n * full, 20 + (n + 1) * full))
    return Buffer.concat([own.subarray(0, 20), ...pieces, own.subarray(20 + 3 * full)])
  }
  const foreign = disk.contentOf(pathOf(twin))
  for (const [what, ref, bytes] of [
    ['changed places', pack, swap(pack, disk.contentOf(pathOf(pack)), [1, 0, 2])],
    ['equal bodies changed places', alike, swap(alike, disk.contentOf(pathOf(alike)), [1, 0, 2])],
    ['twice', pack, swap(pack, disk.contentOf(pathOf(pack)), [0, 0, 2])],
    ['pieces of a twin', pack, swap(pack, foreign, [0, 1, 2])],
    ['missing', pack, swap(pack, disk.contentOf(pathOf(pack)), [0, 1])],
    ['other content', pack, disk.contentOf(pathOf(alike))],
  ] as const) {
    const before = disk.contentOf(pathOf(ref))
    disk.overwrite(pathOf(ref), bytes)
    t.hasStrict(errorOf(readAll(ref)), { code: 'artifact_damaged' }, what)
    disk.overwrite(pathOf(ref), before)
    t.doesNotThrow(readAll(ref))
  }
  t.end()
})

t.test('another label, kind, digest, length or name does not open; a missing file is evidence missing', (t) => {
  const { artifacts, disk } = inMemory()
  const stream = streamOf(artifacts, bytesOf(100))
  const pack = packOf(artifacts, { a: bytesOf(100) })
  const whole = artifacts.write(label, bytesOf(100))
  const damaged = { kind: 'damaged', code: 'artifact_damaged' }
  t.hasStrict(errorOf(() => artifacts.openPack('other', pack)), damaged)
  t.hasStrict(errorOf(() => artifacts.verify('other', stream)), damaged)
  t.hasStrict(errorOf(() => artifacts.openPack(label, stream)), damaged)
  t.hasStrict(errorOf(() => artifacts.openStream(label, pack)), damaged)
  t.hasStrict(errorOf(() => artifacts.openStream(label, whole)), damaged)
  t.hasStrict(errorOf(() => artifacts.read(label, stream)), damaged)
  for (const wrong of [{ sha256: sha256Hex('x') }, { bytes: 99 }, { stored_sha256: '../x' }]) {
    for (const ref of [stream, pack, whole]) {
      t.hasStrict(errorOf(() => artifacts.verify(label, { ...ref, ...wrong })), damaged)
    }
  }
  for (const ref of [stream, pack, whole]) {
    artifacts.verify(label, ref)
    disk.unlink(pathOf(ref))
    t.hasStrict(errorOf(() => artifacts.verify(label, ref)), {
      kind: 'blocked', code: 'evidence_missing',
    })
  }
  t.hasStrict(errorOf(() => artifacts.openPack(label, pack)), { code: 'evidence_missing' })
  t.end()
})

t.test('a pack is one private file under the name of its bytes, and a check knows it', async (t) => {
  const { store } = await World.in(t).store()
  t.throws(() => again(t, store, 'read').artifacts.writePack(label),
    new TypeError('the store is open for reading only'))
  t.throws(() => again(t, store, 'read').artifacts.writeStream(label),
    new TypeError('the store is open for reading only'))
  const ref = packOf(store.artifacts, { a: bytesOf(10) })
  const path = storedPath(join(store.dir, 'artifacts'), ref.stored_sha256)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.strictSame(readdirSync(join(store.dir, 'artifacts')), [ref.stored_sha256.slice(0, 2)])
  t.equal(checkState(placeOf(store)).artifacts, 1)
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(1))
  t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'artifact_damaged' }])
})

t.test('a deterministic artifact meets its own bytes, and other bytes or a link at its name refuse it', async (t) => {
  const { store } = await World.in(t).store()
  const write = (): ArtifactRef =>
    store.artifacts.write(label, bytesOf(50), { deterministic: true })
  const ref = write()
  t.strictSame(write(), ref)
  const path = storedPath(join(store.dir, 'artifacts'), ref.stored_sha256)
  const bytes = readFileSync(path)
  const outside = join(store.dir, '..', 'outside')
  for (const [what, plant] of [
    ['longer', () => writeFileSync(path, Buffer.concat([bytes, Buffer.alloc(1)]))],
    ['as long', () => writeFileSync(path, Buffer.alloc(bytes.length))],
    ['a link to the same bytes', () => {
      writeFileSync(outside, bytes)
      symlinkSync(outside, path)
    }],
    ['a folder', () => mkdirSync(path)],
  ] as const) {
    rmSync(path, { recursive: true, force: true })
    plant()
    const planted = what === 'a folder' ? null : readFileSync(path)
    t.hasStrict(errorOf(write), { kind: 'damaged' }, what)
    if (planted !== null) t.ok(readFileSync(path).equals(planted), 'and stays as it is')
  }
  rmSync(path, { recursive: true })
  writeFileSync(path, bytes)
  t.strictSame(write(), ref)
  t.strictSame(readdirSync(join(store.dir, 'artifacts')), [ref.stored_sha256.slice(0, 2)])
})

t.test('no part of the path below the state directory is a link', async (t) => {
  const { store } = await World.in(t).store()
  const folder = join(store.dir, 'artifacts')
  const outside = join(store.dir, '..', 'outside')
  mkdirSync(outside)
  rmSync(folder, { recursive: true })
  symlinkSync(outside, folder)
  for (const write of [
    () => store.artifacts.write(label, bytesOf(5)),
    () => store.artifacts.writePack(label), () => store.artifacts.writeStream(label).finish(),
  ]) t.hasStrict(errorOf(write), { kind: 'failed' })
  t.strictSame(readdirSync(outside), [])
})
