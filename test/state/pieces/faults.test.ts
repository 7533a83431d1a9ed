/** Packs and streams on disks that fail, and in processes that end at any step or at any time. */
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../src/base/errors.js'
import { backupState } from '../../../src/state/care/backup.js'
import { checkState } from '../../../src/state/care/check.js'
import { compactState } from '../../../src/state/care/compact.js'
import { restoreState } from '../../../src/state/care/restore.js'
import { storedPath } from '../../../src/state/artifact-folder.js'
import { heldBytesMax } from '../../../src/state/held-draft.js'
import { isTemporary } from '../../../src/state/files.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { ArtifactRef, Artifacts } from '../../../src/state/types.js'
import { killWriters } from '../../support/soak/kill-writers.js'
import type { Plan } from '../../support/state/faults.js'
import { faulty, memoryLock, plan, Stopped } from '../../support/state/faults.js'
import { MemFiles } from '../../support/state/mem-files.js'
import { again, errorOf, placeOf } from '../../support/state/notes.js'
import { rounds, slice } from '../../support/slice.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const label = 'x'
const site = { dir: '/tmp/state', configDir: '/tmp/config' }
const folder = '/tmp/state/artifacts'
const content = Buffer.alloc(150_000, 7)
/** A stream for which there is no room in memory. */
const inFile = 'stream in a file'

const made = (): MemFiles => {
  const disk = new MemFiles()
  createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }).close()
  return disk
}

const artifactsOn = (disk: MemFiles, to: Plan = plan(), name = ''): Artifacts =>
  openStore({
    ...site, mode: 'write', files: faulty(disk, to), lock: memoryLock(),
    ...(name === inFile ? { heldBytes: 0 } : {}),
  }).artifacts

const writers: Readonly<Record<string, (artifacts: Artifacts) => ArtifactRef>> = {
  pack: (artifacts) => {
    const writer = artifacts.writePack(label)
    for (const name of ['a', 'b', 'c']) writer.add(name, content)
    return writer.finish()
  },
  stream: (artifacts) => {
    const writer = artifacts.writeStream(label)
    for (let n = 0; n < 3; n += 1) writer.write(content)
    return writer.finish()
  },
  [inFile]: (artifacts) => writers['stream']!(artifacts),
  whole: (artifacts) => artifacts.write(label, content, { deterministic: true }),
}

/** The numbers of the calls that were counted. */
const steps = ({ calls }: Plan): readonly number[] =>
  Array.from({ length: calls }, (_, at) => at + 1)

/** Names in the artifacts folder that are no folder of artifacts. */
const leftIn = (disk: MemFiles): readonly string[] =>
  disk.list(folder).filter((name) => disk.stat(join(folder, name))?.kind === 'file')

const problemsOf = (disk: MemFiles): readonly string[] =>
  checkState({ ...site, files: disk, lock: memoryLock() })
    .problems.filter(({ severity }) => severity === 'damage').map(({ code }) => code)

t.test('one sync of the file and one of its folder: a pack, a stream and a whole artifact', (t) => {
  for (const [name, write] of Object.entries(writers)) {
    const disk = made()
    const to = plan()
    const artifacts = artifactsOn(disk, to, name)
    to.seen.length = 0
    const ref = write(artifacts)
    const shard = join(folder, ref.stored_sha256.slice(0, 2))
    t.matchStrict(to.seen.filter((call) => call.startsWith('sync')), [
      /^sync .*\/\.tmp-/, `sync ${folder}`, `sync ${shard}`,
    ], `${name}: the folder of its folder is new`)
    t.strictSame(leftIn(disk), [], name)
  }
  t.end()
})

t.test('durability 2: ENOSPC, EIO and a short write at each call leave nothing under a name, and no rest', (t) => {
  for (const [name, write] of Object.entries(writers)) {
    const counted = plan()
    write(artifactsOn(made(), counted, name))
    const faults = steps(counted).flatMap((at) =>
      (['ENOSPC', 'EIO', 'short'] as const).map((fault) => ({ at, fault })))
    for (const { at, fault } of slice(`faults of a ${name}`, faults, {
      axesOf: (one) => [String(one.at), one.fault],
    })) {
      const disk = made()
      const to = plan(at, fault)
      const error = errorOf(() => write(artifactsOn(disk, to, name)))
      const call = to.seen.at(at - 1) ?? ''
      const isKept = call.startsWith('unlink')
      if (isKept && error === undefined) continue
      const isFailure = error instanceof SallyportError && error.kind === 'failed'
      t.ok(isFailure, `${name}: ${call} ${fault}`)
      if (!isKept) t.strictSame(leftIn(disk), [], `${name}: ${call} ${fault}`)
      t.strictSame(problemsOf(disk), [])
      const ref = write(artifactsOn(disk))
      artifactsOn(disk).verify(label, ref)
    }
  }
  t.end()
})

const modes = [['kept', 0], ['dropped', 0], ['garbled', 1], ['garbled', 2]] as const

t.test('durability 10: a process that ends at any step leaves a whole artifact, or what a sweep removes', (t) => {
  let ends = 0
  for (const [name, write] of Object.entries(writers)) {
    const counted = plan()
    write(artifactsOn(made(), counted, name))
    const all = steps(counted).flatMap((at) => modes.map(([mode, seed]) => ({ at, mode, seed })))
    for (const { at, mode, seed } of slice(`ends of a ${name}`, all, {
      axesOf: (one) => [String(one.at), `${one.mode} ${one.seed}`],
    })) {
      const disk = made()
      let ref: ArtifactRef | undefined
      try {
        ref = write(artifactsOn(disk, plan(at, 'stop'), name))
      } catch (error) {
        if (!(error instanceof Stopped)) throw error
      }
      const after = disk.crash(mode, seed * 100 + at)
      t.strictSame(problemsOf(after), [], `${counted.seen[at - 1]} ${mode}`)
      t.ok(leftIn(after).every(isTemporary))
      if (ref !== undefined) artifactsOn(after).verify(label, ref)
      const next = write(artifactsOn(after))
      artifactsOn(after).verify(label, next)
      ends += 1
    }
  }
  t.comment(`${ends} ends`)
  t.end()
})

t.test('streams lie in memory while they are short and few: a long one, or one too many, is in a file', (t) => {
  const disk = made()
  const to = plan()
  const artifacts = artifactsOn(disk, to)
  const begun = (bytes: number) => {
    const writer = artifacts.writeStream(label)
    const before = to.seen.length
    // Its last piece is sealed only when it is finished.
    writer.write(Buffer.alloc(bytes, 3))
    return { writer, isInFile: to.seen.length > before }
  }
  const most = heldBytesMax - 1024
  const all = Array.from({ length: 12 }, () => begun(most))
  const inMemory = all.filter(({ isInFile }) => !isInFile).length
  t.ok(inMemory >= 8 && inMemory < 12, `${inMemory} of 12 lie in memory`)
  for (const { writer } of all.slice(0, 6)) artifacts.verify(label, writer.finish())
  for (const { writer } of all.slice(6)) writer.abandon()
  for (let n = 0; n < 12; n += 1) {
    const { writer, isInFile } = begun(most)
    t.notOk(isInFile, 'what is published or abandoned takes no room')
    writer.abandon()
  }
  t.ok(begun(heldBytesMax + 2 ** 18).isInFile)
  t.end()
})

t.test('two writers of one content: two packs, one deterministic artifact, all whole', (t) => {
  const disk = made()
  const [one, two] = [artifactsOn(disk), artifactsOn(disk)]
  const packs = [one, two].map((artifacts) => artifacts.writePack(label))
  for (const writer of packs) writer.add('a', content)
  const refs = packs.map((writer) => writer.finish())
  t.equal(new Set(refs.map((ref) => ref.stored_sha256)).size, 2)
  for (const ref of refs) one.verify(label, ref)
  t.strictSame(writers['whole']?.(one), writers['whole']?.(two))
  t.strictSame(leftIn(disk), [])
  t.end()
})

t.test('durability 10: SIGKILL at any time leaves what was told whole, and nothing half under a name', async (t) => {
  const kills = rounds('killed writers', { short: 4, all: 12 })
  const { dir, told, rests, broken } = await killWriters(t, kills)
  t.strictSame(broken, [], `${told} told, ${rests} rests of ${kills}`)
  const folder = join(dir, 'artifacts')
  writeFileSync(join(folder, '.tmp-1-0123456789abcdef-1'), 'half')
  const old = new Date(Date.now() - 3_600_000)
  const isFile = (name: string): boolean => name.length > 2
  for (const name of readdirSync(folder).filter(isFile)) utimesSync(join(folder, name), old, old)
  const store = openStore({ dir, configDir: join(dir, '..', 'config'), mode: 'write' })
  const young = store.artifacts.writePack(label)
  young.add('a', content)
  await compactState(store, () => new Set(store.artifacts.list()))
  store.artifacts.verify(label, young.finish())
  t.strictSame(readdirSync(folder).filter(isFile), [], 'old rests are swept, no young one')
  store.close()
})

t.test('backup and restore carry packs and streams, and put back one that is damaged', async (t) => {
  const { store } = await World.in(t).store()
  const refs = ['pack', 'stream'].flatMap((name) => writers[name]?.(store.artifacts) ?? [])
  const backup = join(store.dir, '..', 'backup')
  const referenced = (): ReadonlySet<string> => new Set(refs.map((ref) => ref.stored_sha256))
  await backupState(store, backup, { referenced })
  for (const ref of refs) store.artifacts.remove(ref.stored_sha256)
  store.close()
  await restoreState({
    ...placeOf(store), backup, afterRestore: (opened) => opened.transact('x', (tx) => tx.mark()),
  })
  const next = again(t, store, 'write')
  for (const ref of refs) {
    next.artifacts.verify(label, ref)
    t.ok(existsSync(storedPath(join(store.dir, 'artifacts'), ref.stored_sha256)))
  }
})
