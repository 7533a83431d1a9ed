/**
 * A disk in memory that can lose power. Bytes and folder entries become durable only by a sync of
 * the file or of the folder; `crash` answers the disk as a reboot would find it, with what was not
 * synced kept, dropped or garbled by seed.
 */
import { dirname, basename } from 'node:path'
import type { FileFacts, Files, OpenIntent } from '../../../src/state/files.js'
import { failure } from './faults.js'

/** Small seeded generator of numbers in [0, 1). */
export const seeded = (seed: number): (() => number) => {
  let state = (seed * 2654435761 + 1013904223) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** How unsynced writes fare in a crash. */
export type CrashMode = 'kept' | 'dropped' | 'garbled'

type Edit =
  | { readonly at: number; readonly bytes: Buffer }
  | { readonly size: number }

interface MemFile {
  readonly kind: 'file'
  readonly ino: number
  durable: Buffer
  content: Buffer
  pending: Edit[]
  mtimeMs: number
}
interface MemDir {
  readonly kind: 'dir'
  readonly ino: number
  durable: Map<string, MemNode>
  entries: Map<string, MemNode>
  mtimeMs: number
}
type MemNode = MemFile | MemDir

/** One change of folder entries; a rename is one change of two entries. */
interface EntryChange {
  readonly parts: readonly { readonly dir: MemDir; readonly name: string; node: MemNode | null }[]
}

const applyEdit = (content: Buffer, edit: Edit): Buffer => {
  if ('size' in edit) {
    if (edit.size <= content.length) return Buffer.from(content.subarray(0, edit.size))
    return Buffer.concat([content, Buffer.alloc(edit.size - content.length)])
  }
  const size = Math.max(content.length, edit.at + edit.bytes.length)
  const grown = Buffer.alloc(size)
  content.copy(grown)
  edit.bytes.copy(grown, edit.at)
  return grown
}

const garble = (edit: Edit, random: () => number): Edit | undefined => {
  const luck = random()
  if (luck < 0.2) return undefined
  if (luck < 0.4 || 'size' in edit) return edit
  const { at, bytes } = edit
  if (luck < 0.7) return { at, bytes: bytes.subarray(0, Math.floor(random() * bytes.length)) }
  const broken = Buffer.from(bytes)
  if (luck < 0.85) broken.fill(0, Math.floor(random() * bytes.length))
  else {
    for (let i = 0; i < broken.length; i += 1) {
      if (random() < 0.3) broken[i] = Math.floor(random() * 256)
    }
  }
  return { at, bytes: broken }
}

/** The disk. Paths are absolute; the root and `/tmp` exist. */
export class MemFiles implements Files {
  #root: MemDir
  #inode = 1
  #fd = 3
  #pendingEntries: EntryChange[] = []
  readonly #open = new Map<number, { readonly node: MemNode; readonly intent: OpenIntent }>()
  /** Free bytes left; writes beyond fail with ENOSPC. */
  freeLeft = Number.POSITIVE_INFINITY

  constructor() {
    this.#root = this.#dir()
    this.mkdir('/tmp')
    this.#pendingEntries = []
    this.#root.durable = new Map(this.#root.entries)
  }

  #dir(): MemDir {
    this.#inode += 1
    return {
      kind: 'dir', ino: this.#inode, durable: new Map(), entries: new Map(), mtimeMs: Date.now(),
    }
  }

  #find(path: string): MemNode | undefined {
    let node: MemNode | undefined = this.#root
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (node?.kind !== 'dir') return undefined
      node = node.entries.get(name)
    }
    return node
  }

  #parent(path: string): MemDir {
    const node = this.#find(dirname(path))
    if (node?.kind !== 'dir') throw failure('ENOENT')
    return node
  }

  #change(parts: EntryChange['parts']): void {
    for (const { dir, name, node } of parts) {
      if (node === null) dir.entries.delete(name)
      else dir.entries.set(name, node)
      dir.mtimeMs = Date.now()
    }
    this.#pendingEntries.push({ parts })
  }

  #file(fd: number): MemFile {
    const node = this.#open.get(fd)?.node
    if (node === undefined) throw failure('EBADF')
    if (node.kind !== 'file') throw failure('EISDIR')
    return node
  }

  open(path: string, intent: OpenIntent): number {
    let node = this.#find(path)
    const isNew = intent === 'create' || intent === 'scratch'
    const makes = isNew || intent === 'append' || intent === 'lock'
    if (node === undefined && !makes) throw failure('ENOENT')
    if (node !== undefined && isNew) throw failure('EEXIST')
    if (node === undefined) {
      this.#inode += 1
      node = {
        kind: 'file', ino: this.#inode, durable: Buffer.alloc(0), content: Buffer.alloc(0),
        pending: [], mtimeMs: Date.now(),
      }
      this.#change([{ dir: this.#parent(path), name: basename(path), node }])
    }
    const wantsDir = intent === 'dir' || intent === 'folder'
    if (wantsDir && node.kind !== 'dir') throw failure('ENOTDIR')
    if (!wantsDir && intent !== 'read' && node.kind === 'dir') throw failure('EISDIR')
    this.#fd += 1
    this.#open.set(this.#fd, { node, intent })
    return this.#fd
  }

  close(fd: number): void {
    if (!this.#open.delete(fd)) throw failure('EBADF')
  }

  read(fd: number, buffer: Uint8Array, position: number): number {
    return this.#file(fd).content.copy(buffer, 0, position)
  }

  write(fd: number, bytes: Uint8Array, position: number | null): number {
    const file = this.#file(fd)
    const at = position ?? file.content.length
    const growth = Math.max(0, at + bytes.length - file.content.length)
    if (growth > this.freeLeft) {
      const taken = bytes.length - (growth - this.freeLeft)
      if (taken <= 0) throw failure('ENOSPC')
      return this.write(fd, bytes.subarray(0, taken), at)
    }
    this.freeLeft -= growth
    const edit = { at, bytes: Buffer.from(bytes) }
    file.content = applyEdit(file.content, edit)
    file.pending.push(edit)
    file.mtimeMs = Date.now()
    return bytes.length
  }

  sync(fd: number): void {
    const node = this.#open.get(fd)?.node
    if (node === undefined) throw failure('EBADF')
    if (node.kind === 'file') {
      node.durable = node.pending.reduce(applyEdit, node.durable)
      node.pending = []
      return
    }
    const touching = this.#pendingEntries.filter(({ parts }) => parts.some((p) => p.dir === node))
    for (const change of touching) settle(change)
    this.#pendingEntries = this.#pendingEntries.filter((change) => !touching.includes(change))
  }

  /** What a failed sync leaves: read as before, and written by no later one. */
  dropUnsynced(fd: number): void {
    const node = this.#open.get(fd)?.node
    if (node?.kind === 'file') node.pending = []
  }

  syncData(fd: number): void {
    this.sync(fd)
  }

  truncate(fd: number, size: number): void {
    const file = this.#file(fd)
    this.freeLeft += Math.max(0, file.content.length - size)
    file.content = applyEdit(file.content, { size })
    file.pending.push({ size })
  }

  fstat(fd: number): FileFacts {
    const node = this.#open.get(fd)?.node
    if (node === undefined) throw failure('EBADF')
    return factsOf(node)
  }

  stat(path: string): FileFacts | undefined {
    const node = this.#find(path)
    return node === undefined ? undefined : factsOf(node)
  }

  list(path: string): string[] {
    const node = this.#find(path)
    if (node === undefined) throw failure('ENOENT')
    if (node.kind !== 'dir') throw failure('ENOTDIR')
    return [...node.entries.keys()].sort()
  }

  rename(from: string, to: string): void {
    const node = this.#find(from)
    if (node === undefined) throw failure('ENOENT')
    const target = this.#find(to)
    if (target?.kind === 'dir' && target.entries.size > 0) throw failure('ENOTEMPTY')
    this.#change([
      { dir: this.#parent(from), name: basename(from), node: null },
      { dir: this.#parent(to), name: basename(to), node },
    ])
  }

  link(from: string, to: string): void {
    const node = this.#find(from)
    if (node === undefined) throw failure('ENOENT')
    if (this.#find(to) !== undefined) throw failure('EEXIST')
    this.#change([{ dir: this.#parent(to), name: basename(to), node }])
  }

  unlink(path: string): void {
    const node = this.#find(path)
    if (node === undefined) throw failure('ENOENT')
    if (node.kind === 'dir') throw failure('EISDIR')
    this.#change([{ dir: this.#parent(path), name: basename(path), node: null }])
  }

  mkdir(path: string): void {
    if (this.#find(path) !== undefined) throw failure('EEXIST')
    this.#change([{ dir: this.#parent(path), name: basename(path), node: this.#dir() }])
  }

  rmdir(path: string): void {
    const node = this.#find(path)
    if (node?.kind !== 'dir') throw failure('ENOENT')
    if (node.entries.size > 0) throw failure('ENOTEMPTY')
    this.#change([{ dir: this.#parent(path), name: basename(path), node: null }])
  }

  touch(path: string): void {
    const node = this.#find(path)
    if (node === undefined) throw failure('ENOENT')
    node.mtimeMs = Date.now()
  }

  freeBytes(): number {
    return this.freeLeft
  }

  inside(_fd: number, dirPath: string, name: string): string {
    return `${dirPath}/${name}`
  }

  /** Sets the age of a file, for sweeps. */
  age(path: string, mtimeMs: number): void {
    const node = this.#find(path)
    if (node === undefined) throw failure('ENOENT')
    node.mtimeMs = mtimeMs
  }

  /** Replaces a file's bytes durably and long ago, as damage does. */
  overwrite(path: string, bytes: Buffer): void {
    const node = this.#find(path)
    if (node?.kind !== 'file') throw failure('ENOENT')
    node.durable = bytes
    node.content = bytes
    node.pending = []
    node.mtimeMs = 0
  }

  /** A file's bytes as they are now. */
  contentOf(path: string): Buffer {
    const node = this.#find(path)
    if (node?.kind !== 'file') throw failure('ENOENT')
    return node.content
  }

  /** The whole tree as it is now, nothing pending. */
  clone(): MemFiles {
    return this.crash('kept', 0)
  }

  /** The disk after a crash at this moment. */
  crash(mode: CrashMode, seed: number): MemFiles {
    const random = seeded(seed)
    const copies = new Map<MemNode, MemNode>()
    const entriesOf = new Map<MemDir, Map<string, MemNode>>()
    const start = (dir: MemDir): Map<string, MemNode> => {
      const known = entriesOf.get(dir) ?? new Map(dir.durable)
      entriesOf.set(dir, known)
      return known
    }
    for (const { parts } of this.#pendingEntries) {
      if (mode === 'dropped' || (mode === 'garbled' && random() < 0.5)) continue
      for (const { dir, name, node } of parts) {
        if (node === null) start(dir).delete(name)
        else start(dir).set(name, node)
      }
    }
    const copy = (node: MemNode): MemNode => {
      const known = copies.get(node)
      if (known !== undefined) return known
      if (node.kind === 'file') {
        const bytes = fileAfter(node, mode, random)
        const made: MemFile = { ...node, durable: bytes, content: bytes, pending: [] }
        copies.set(node, made)
        return made
      }
      const made: MemDir = { ...node, durable: new Map(), entries: new Map() }
      copies.set(node, made)
      for (const [name, child] of start(node)) made.entries.set(name, copy(child))
      made.durable = new Map(made.entries)
      return made
    }
    const disk = new MemFiles()
    disk.#root = copy(this.#root) as MemDir
    disk.#inode = this.#inode
    return disk
  }
}

const settle = ({ parts }: EntryChange): void => {
  for (const { dir, name, node } of parts) {
    if (node === null) dir.durable.delete(name)
    else dir.durable.set(name, node)
  }
}

/** A sector holds its old or its new bytes: where they are equal, there is nothing to garble. */
const changesNothing = (durable: Buffer, edit: Edit): boolean =>
  'bytes' in edit && durable.subarray(edit.at, edit.at + edit.bytes.length).equals(edit.bytes)

const fileAfter = (file: MemFile, mode: CrashMode, random: () => number): Buffer => {
  if (mode === 'kept') return file.content
  if (mode === 'dropped') return file.durable
  let bytes = file.durable
  for (const edit of file.pending) {
    if (changesNothing(bytes, edit)) continue
    const after = garble(edit, random)
    if (after !== undefined) bytes = applyEdit(bytes, after)
  }
  return bytes
}

const factsOf = (node: MemNode): FileFacts => ({
  size: node.kind === 'file' ? node.content.length : 0,
  mtimeMs: node.mtimeMs,
  dev: 1,
  ino: node.ino,
  mode: node.kind === 'file' ? 0o600 : 0o700,
  kind: node.kind,
})
