/** `sallyport help files`: every place on the disk, and what lies in a state directory. */
import { diskPlaces, type DiskPlace } from '../../../fabric/disk-places.js'
import { wrapText } from '../../wrap.js'

const columnsMax = 74

const indented = (text: string): string[] =>
  wrapText(text, columnsMax).split('\n').map((line) => `    ${line.trimStart()}`)

const placeText = ({ name, where, named, what, deleting }: DiskPlace): string => [
  `  ${name}: ${where}`,
  ...(named === null ? [] : indented(`Elsewhere by: ${named}.`)),
  ...indented(what), ...indented(deleting),
].join('\n')

/** Text of the topic. */
export const filesTopic = `Files

The same on every system: a Mac has no places of its own. An XDG variable counts
where it is an absolute path.

${diskPlaces.map(placeText).join('\n')}

Backups, exports, reports and files that you named lie where you put them. The
folder of screenshots is only ever read: no file in it is written, renamed,
linked or removed.

In a state directory (sallyport state path), which many processes may share and
which must lie on a local disk (help platforms):
  STATE          format version, id of the store, digest of the sealed profile
  lock           lock of the kernel; it also names its holder, for messages
  wal/           the log: one checksummed line a commit
  collections/   snapshots
  artifacts/     private content, encrypted, named by its digest
  witness.log    one chained line per published policy revision
  run/           session token, last uses, lanes, guards, lists of known
                 screenshots; it may go while nothing runs
  shots-lock-counters  one byte for each wait for the lock by a screenshot job

The key folder lies outside, so that a copy of the state opens nothing:
  keys/<store>.key     the vault key, mode 600
  keys/<store>.anchor  how far the store had come, to notice an old copy (help
                       anchor)
  keys/<store>.place   how the server of a shared state is reached (help shared)

Back up state and keys, apart from each other. Files that you name with --x-file
may be - for stdin. A secret file holds one line; one line end after it is
dropped.
`
