/** `sallyport help platforms`: where the program runs, and what is missing there. */
import { platformRows, type PlatformRow, type SupportLevel } from '../../../base/platform/table.js'
import { wrapText } from '../../wrap.js'

/** What the standings mean, in a few words. */
export const standingText: Readonly<Record<SupportLevel, string>> = {
  tried: 'tried in full',
  emulated: 'tried by emulation; its parts are there',
  simulated: 'tried by simulation; its parts are there',
  refused: 'refused by name',
  unknown: 'not known',
}

const columnsMax = 76

const indented = (text: string): string =>
  wrapText(text, columnsMax).split('\n').map((line) => `  ${line.trimStart()}`).join('\n')

const rowText = ({ name, standing, because, lacks, instead }: PlatformRow): string => [
  `${name}: ${standingText[standing]}`,
  ...[because, lacks === null ? null : `Missing: ${lacks}`, instead === null ? null
    : `Instead: ${instead}`].filter((line) => line !== null).map(indented),
].join('\n')

/** Text of the topic. */
export const platformsTopic = `Platforms

Where this program runs, and how that is known. sallyport doctor names the row
of your machine. Where a row says "refused", help, --version and doctor answer
and nothing is written.

${platformRows.map(rowText).join('\n\n')}

Locks need a disk of this machine. On Linux the kind of disk is asked for. NFS,
SMB, FUSE, 9P and shared folders of VirtualBox are refused before a state is
made or written. There another machine, or the program behind the disk, may give
the same lock to somebody else. A Mac does not tell it in a stable way: there
it is yours to put the state on a local disk.
`
