/** One level of a git tree: its entries, their order and its bytes. */
import { objectId, rawId, type ObjectId } from './object-id.js'

/** Modes as listings write them; the tree itself writes a folder as `40000`. */
export const treeModes = ['100644', '100755', '120000', '160000', '040000'] as const
/** File, executable file, symbolic link, submodule, folder. */
export type TreeMode = (typeof treeModes)[number]

/** The mode of a folder. */
export const folderMode = '040000'

/** Type of the object behind a mode, as listings name it. */
export const typeOfMode = (mode: TreeMode): 'blob' | 'tree' | 'commit' =>
  mode === folderMode ? 'tree' : mode === '160000' ? 'commit' : 'blob'

/** One entry of one level; `name` has no slash. */
export interface TreeEntry {
  readonly mode: TreeMode
  readonly name: string
  readonly id: ObjectId
}

/** What the order compares: the name's bytes, a folder as if its name ended in a slash. */
const sortKey = ({ mode, name }: TreeEntry): Buffer =>
  Buffer.from(mode === folderMode ? `${name}/` : name, 'utf8')

/** The entries in git's order. */
export const sortedEntries = (entries: readonly TreeEntry[]): readonly TreeEntry[] =>
  entries
    .map((entry) => ({ entry, key: sortKey(entry) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ entry }) => entry)

/** The bytes of a tree object; entries in any order, names all different. */
export const treeBytes = (entries: readonly TreeEntry[]): Buffer =>
  Buffer.concat(sortedEntries(entries).flatMap(({ mode, name, id }) =>
    [Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'utf8'), rawId(id)]))

export const treeId = (entries: readonly TreeEntry[]): ObjectId =>
  objectId('tree', treeBytes(entries))
