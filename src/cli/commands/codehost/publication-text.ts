/** A publication as text, read like a plan: what goes where, every file, every effect in order. */
import type {
  PreviewDocument, PublicationDocument,
} from '../../../codehost/jobs/preview-contract.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines, visible, visibleLine } from '../../text.js'

const shortId = (id: string | null): string => (id === null ? 'a number' : id.slice(0, 7))

const signs = { new: '+', changed: '~', mode: 'x' } as const

const markTexts = {
  env_file: 'an environment file by its name', pem_file: 'a key file by its name',
  id_file: 'a key file by its name', key_shape: 'holds what looks like a key',
} as const

type Shown = PublicationDocument['changes'][number]

const executable = '100755'

const modeText = ({ mode, mode_before: before }: Shown): string => {
  if (mode === executable) return 'executable, '
  return before === executable ? 'no longer executable, ' : ''
}

const fileLines = (file: Shown): readonly string[] => [
  `  ${signs[file.what]} ${visibleLine(file.path)}  ${modeText(file)}${bytesText(file.bytes)}`,
  ...file.marks.map((mark) => `      LOOK: ${markTexts[mark]}`),
]

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`

const filesLines = ({ files, changes }: PublicationDocument): readonly string[] => {
  const marked = changes.filter(({ marks }) => marks.length > 0).length
  return [
    `+ ${count(files.new, 'file')}, ~ ${count(files.changed, 'file')}, ${bytesText(files.bytes)}`
      + ` in all; the folder has ${count(files.in_folder, 'file')}`,
    ...(marked === 0 ? [] : [`LOOK: ${count(marked, 'file')} below may hold what is secret.`]),
    ...changes.flatMap(fileLines),
  ]
}

const madeOf = ({ kind, files }: PreviewDocument['effects'][number]): string => {
  switch (kind) {
    case 'blob': return 'blob of a file'
    case 'chunk': return `contents of ${count(files, 'file')}`
    case 'growth': return `tree with ${count(files, 'file')}`
    case 'commit': return 'commit'
    case 'ref': return 'new branch at'
    default: return 'pull request, ready for review,'
  }
}

const effectLine = (effect: PreviewDocument['effects'][number], width: number): string =>
  `  ${String(effect.number).padStart(width)}. ${effect.action.padEnd(19)} ${madeOf(effect)} `
    + `${shortId(effect.predicted_id)}  (${bytesText(effect.body_bytes)})`

/** Everything of a preview that a publication alone has. */
export const publicationLines = (preview: PreviewDocument): readonly string[] => {
  const { publication: of, title, text, effects } = preview
  if (of === null) return []
  const { node, git } = of.producer
  const width = String(effects.length).length
  return [
    fieldLines([
      ['base', `${visibleLine(of.base.branch)} at ${shortId(of.base.commit)}`],
      ['head', `${visibleLine(of.branch)}, a new branch, at ${shortId(of.commit)}`
        + ` with tree ${shortId(of.tree)}`],
      ['author', visibleLine(of.author)],
      ['made by', `git ${git.version}, Node ${node.version}, on this machine first`],
    ]).trimEnd(),
    '',
    ...filesLines(of),
    '',
    'The commit says:',
    ...visible(of.message.replace(/\n$/, '')).split('\n').map((line) => `  | ${line}`),
    '',
    `The pull request: ${visibleLine(title ?? '')}`,
    ...(text === '' ? [] : visible(text.replace(/\n$/, '')).split('\n').map((line) =>
      `  | ${line}`)),
    '',
    'Effects, in this order:',
    ...effects.map((effect) => effectLine(effect, width)),
    '',
    'A new branch may start the host’s automation: workflows, checks, deployments.',
  ]
}

/** The patch of a preview, byte for byte in a pipe, with what is not in it. */
export const diffLines = (
  { publication }: PreviewDocument, view: View,
): readonly string[] => {
  const diff = publication?.diff ?? null
  if (diff === null) return []
  const left = diff.left_out === 0 ? ''
    : `; ${count(diff.left_out, 'file')} too many, too large or too long are left out`
  return [
    '', `What changes on the base (${count(diff.gets, 'file')} of it read by GET${left}):`, '',
    view.foreign(diff.patch).replace(/\n$/, ''),
  ]
}
