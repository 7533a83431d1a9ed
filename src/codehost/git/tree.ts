/**
 * Nested trees as values: read from a host's recursive listing, overlaid with files, with the id of
 * every level and the size of their own listing.
 */
import { fail, type SallyportError } from '../../base/errors.js'
import { shownText } from '../../base/shown-text.js'
import { objectId, type ObjectId } from './object-id.js'
import { folderMode, treeBytes, typeOfMode, type TreeEntry, type TreeMode } from './tree-entry.js'

/** What a tree holds under a name that is no folder. */
export interface Leaf {
  readonly mode: Exclude<TreeMode, '040000'>
  readonly id: ObjectId
}

/** One row of a recursive listing; a folder has a row of its own. Paths are joined by slashes. */
export interface ListedEntry {
  readonly path: string
  readonly mode: TreeMode
  readonly id: ObjectId
}

/** A file to put into a tree. */
export interface FileEntry {
  readonly path: string
  readonly mode: '100644' | '100755'
  readonly id: ObjectId
}

interface TreeSize {
  /** Rows of its recursive listing. */
  readonly entries: number
  /** Bytes of the paths in these rows, counted from this tree on. */
  readonly pathBytes: number
  /** Bytes of rows besides their paths, as `git ls-tree -r -t` writes them. */
  readonly rowBytes: number
  /** Bytes of the tree objects of all levels. */
  readonly objectBytes: number
}

interface Computed {
  readonly id: ObjectId
  readonly size: TreeSize
}

/** `<mode> <type> <id>\t<path>\n` without type and path. */
const rowBytesBare = 6 + 1 + 1 + 40 + 1 + 1

/** A folder of a git repository with everything below it; never changes. */
export class GitTree {
  readonly children: ReadonlyMap<string, Leaf | GitTree>
  #computed: Computed | null = null

  constructor(children: ReadonlyMap<string, Leaf | GitTree>) {
    this.children = children
  }

  /** Id of this level, computed from those below. */
  get id(): ObjectId {
    return this.#get().id
  }

  get size(): TreeSize {
    return this.#get().size
  }

  /** Bytes of `git ls-tree -r -t` of this tree. */
  get listingBytes(): number {
    return this.size.rowBytes + this.size.pathBytes
  }

  /** What stands at a path; undefined where nothing does. */
  at(path: string): Leaf | GitTree | undefined {
    const [name = '', ...below] = path.split('/')
    const child = this.children.get(name)
    if (below.length === 0) return child
    return child instanceof GitTree ? child.at(below.join('/')) : undefined
  }

  /** Every row below, in the order of the names' insertion; folders before what they hold. */
  * listing(prefix = ''): Generator<ListedEntry> {
    for (const [name, child] of this.children) {
      const path = prefix + name
      if (child instanceof GitTree) {
        yield { path, mode: folderMode, id: child.id }
        yield* child.listing(`${path}/`)
      } else yield { path, ...child }
    }
  }

  #get(): Computed {
    return (this.#computed ??= compute(this.children))
  }
}

const compute = (children: ReadonlyMap<string, Leaf | GitTree>): Computed => {
  const entries: TreeEntry[] = [...children].map(([name, child]) => child instanceof GitTree
    ? { name, mode: folderMode, id: child.id } : { name, ...child })
  const bytes = treeBytes(entries)
  let [rows, pathBytes, rowBytes, objectBytes] = [entries.length, 0, 0, bytes.length]
  for (const { name, mode } of entries) {
    const nameBytes = Buffer.byteLength(name)
    pathBytes += nameBytes
    rowBytes += rowBytesBare + typeOfMode(mode).length
    const child = children.get(name)
    if (!(child instanceof GitTree)) continue
    rows += child.size.entries
    pathBytes += child.size.pathBytes + child.size.entries * (nameBytes + 1)
    rowBytes += child.size.rowBytes
    objectBytes += child.size.objectBytes
  }
  return { id: objectId('tree', bytes), size: { entries: rows, pathBytes, rowBytes, objectBytes } }
}

/** A tree without entries. */
export const emptyTree = new GitTree(new Map())

type Children = Map<string, Leaf | GitTree>

const inconsistent = (reason: string): SallyportError =>
  fail.remote('tree_inconsistent', 'The listing of a tree contradicts itself or its ids.', {
    reason, next: 'Try again; nothing was changed.',
  })

/** Folders within each other, four times what is published: each costs stack, and hosts choose. */
const depthMax = 512

const tooDeep = (): SallyportError =>
  fail.remote('tree_inconsistent', `A tree has more than ${depthMax} folders within each other.`, {
    reason: 'too_deep', next: 'Use a repository with fewer of them; nothing was changed.',
  })

/** A folder of a listing while its children are still being collected. */
interface Collected {
  readonly id: ObjectId
  readonly children: Map<string, Leaf | Collected>
}

const isFolder = (child: Leaf | Collected): child is Collected => 'children' in child

const closed = (folder: Collected): GitTree => {
  const tree = new GitTree(new Map([...folder.children].map(([name, child]) =>
    [name, isFolder(child) ? closed(child) : child])))
  if (tree.id !== folder.id) throw inconsistent('id_differs')
  return tree
}

/**
 * The tree of a whole recursive listing, in which every folder, also an empty one, has a row.
 * Throws `tree_inconsistent` (remote) with a reason: `folder_missing`, `entry_twice`,
 * `name_invalid`, `too_deep`, or `id_differs` where a level's id is not that of what is listed
 * below it.
 */
export const treeOfListing = (id: ObjectId, rows: readonly ListedEntry[]): GitTree => {
  const root: Collected = { id, children: new Map() }
  const folders = new Map<string, Collected>([['', root]])
  for (const { path, mode, id: folderId } of rows) {
    if (mode !== folderMode) continue
    if (path.split('/').length > depthMax) throw tooDeep()
    if (folders.has(path)) throw inconsistent('entry_twice')
    folders.set(path, { id: folderId, children: new Map() })
  }
  for (const { path, mode, id: leafId } of rows) {
    const cut = path.lastIndexOf('/')
    const [above, name] = [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)]
    if (name === '' || name.includes('\0')) throw inconsistent('name_invalid')
    const parent = folders.get(above)
    if (parent === undefined || cut === 0) throw inconsistent('folder_missing')
    if (parent.children.has(name)) throw inconsistent('entry_twice')
    const folder = folders.get(path)
    if (mode !== folderMode) parent.children.set(name, { mode, id: leafId })
    else if (folder !== undefined) parent.children.set(name, folder)
  }
  return closed(root)
}

/** Why a file cannot be put over a tree. */
type OverlayReason =
  | 'file_over_folder' | 'folder_over_file' | 'over_link' | 'over_submodule' | 'file_twice'

/** The refusal of one file of an overlay, with its path among the details. */
const refuse = (reason: OverlayReason, path: string): SallyportError =>
  fail.rejected('overlay_refused', `A file cannot be put over the base: ${worded[reason]}.`, {
    reason, details: { path: shownText(path) },
    next: 'Rename it, or publish the removal by other means first.',
  })

const worded: Readonly<Record<OverlayReason, string>> = {
  file_over_folder: 'the base has a folder of that name',
  folder_over_file: 'the base has a file where a folder would have to be',
  over_link: 'the base has a symbolic link there',
  over_submodule: 'the base has a submodule there',
  file_twice: 'two files have the same path',
}

const reasonOver = ({ mode }: Leaf): OverlayReason | null =>
  mode === '120000' ? 'over_link' : mode === '160000' ? 'over_submodule' : null

/** Folders made anew in one overlay, so that each is copied once and the base stays as it is. */
class Overlay {
  readonly root: Children
  readonly #fresh = new Map<Children, Map<string, Children>>()
  readonly #put = new Set<string>()

  constructor(base: GitTree) {
    this.root = this.#begin(base.children)
  }

  put({ path, mode, id }: FileEntry): void {
    if (this.#put.has(path)) throw refuse('file_twice', path)
    this.#put.add(path)
    const names = path.split('/')
    const name = names.pop() ?? ''
    const folder = names.reduce((here, one) => this.#below(here, one, path), this.root)
    const there = folder.get(name)
    if (there instanceof GitTree || this.#fresh.get(folder)?.has(name)) {
      throw refuse('file_over_folder', path)
    }
    const reason = there === undefined ? null : reasonOver(there)
    if (reason !== null) throw refuse(reason, path)
    folder.set(name, { mode, id })
  }

  closed(children: Children = this.root): GitTree {
    for (const [name, below] of this.#fresh.get(children) ?? []) {
      children.set(name, this.closed(below))
    }
    return new GitTree(children)
  }

  #begin(children: ReadonlyMap<string, Leaf | GitTree>): Children {
    const copy = new Map(children)
    this.#fresh.set(copy, new Map())
    return copy
  }

  #below(here: Children, name: string, path: string): Children {
    const known = this.#fresh.get(here)?.get(name)
    if (known !== undefined) return known
    const there = here.get(name)
    if (there !== undefined && !(there instanceof GitTree)) {
      throw refuse(reasonOver(there) ?? 'folder_over_file', path)
    }
    const made = this.#begin(there === undefined ? new Map() : there.children)
    this.#fresh.get(here)?.set(name, made)
    return made
  }
}

/**
 * The tree with files put into it; what is not named stays. Throws `overlay_refused` (rejected)
 * with an `OverlayReason` and the path: a host would silently delete what lay below.
 */
export const overlaid = (base: GitTree, files: readonly FileEntry[]): GitTree => {
  const overlay = new Overlay(base)
  for (const file of files) overlay.put(file)
  return overlay.closed()
}
