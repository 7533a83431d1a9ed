/** Jobs, previews and histories as text. */
import type { JobDocument, ShownJobDocument } from '../../../codehost/jobs/jobs-contract.js'
import type { PreviewDocument } from '../../../codehost/jobs/preview-contract.js'
import { diffLines, publicationLines } from './publication-text.js'
import { wrapText } from '../../wrap.js'
import type { View } from '../../output.js'
import { bytesText, fieldLines, visible, visibleLine } from '../../text.js'

const effectsLine = ({ effects, remote_id: remote, state, reason }: JobDocument): string => {
  const { planned, contacted, created } = effects
  const isLost = reason === 'records_unread'
    || (state === 'unknown_external_effect' && contacted === 0)
  if (isLost) return `${planned} planned; records of what was sent are lost`
  const known = remote === null ? '' : `; the host numbered it ${remote}`
  return `${planned} planned, ${contacted} may have happened, ${created} confirmed${known}`
}

/** Columns where there is no terminal. */
const columnsOfPipes = 80

type Field = readonly [string, string]

const jobLines = (job: JobDocument, more: readonly Field[]): string => fieldLines([
  ['job', job.id],
  ['kind', job.kind === job.capability ? job.kind : `${job.kind} (${job.capability})`],
  ['state', job.reason === null ? job.state : `${job.state} (${job.reason})`],
  ['repository', job.repository],
  ['connection', job.connection],
  ['consent', `${job.consent.id} until ${job.consent.expires_at}`],
  ['approval', job.approval === null ? 'none' : `${job.approval.kind}, ${job.approval.at}`],
  ['effects', effectsLine(job)],
  ['capacity', job.reserved ? 'occupies its connection' : 'free'],
  ['revision', String(job.revision)],
  ...(job.task === null ? [] : [['task', job.task] as const]),
  ...more,
  ['so', job.way_on.text],
  ...(job.way_on.command === null ? [] : [['next', job.way_on.command] as const]),
])

/** A job as lines of text, its way on last. */
export const jobText = (job: JobDocument): string => jobLines(job, [])

const closureFields = ({ closure, closable }: Pick<
  ShownJobDocument, 'closure' | 'closable'
>): readonly Field[] => {
  if (closure === null) {
    return closable.now ? [['closable', 'yes; nothing is acknowledged yet']] : []
  }
  return [
    ['closed', `${closure.closed_at} by ${closure.id}; ${closure.observed_effects} observed`],
    ['still', `job ${closure.job_state}, task ${closure.task_state ?? 'none'}; nothing learned, `
      + 'history unchanged'],
  ]
}

/** A job alone, or the canonical lines of a history or readback and nothing else. */
export const shownJobText = ({ history, readback, ...job }: ShownJobDocument): string => {
  if (readback !== null) return `${visibleLine(readback)}\n`
  return history === null
    ? jobLines(job, closureFields(job))
    : history.lines.map((line) => `${visibleLine(line)}\n`).join('')
}

export const jobCells = (view: View, job: JobDocument): readonly string[] => [
  view.id(job.id), job.kind, job.reason === null ? job.state : `${job.state} (${job.reason})`,
  job.repository, job.reserved ? 'reserved' : 'free', view.time(job.created_at),
]
/** Heads of those cells. */
export const jobHeads = ['job', 'kind', 'state', 'repository', 'capacity', 'prepared'] as const

/** Whole seconds, and none that is past. */
const leftText = (ms: number, view: View): string =>
  view.span(Math.max(0, Math.floor(ms / 1_000) * 1_000))

const contentLines = ({ title, text, issue }: PreviewDocument): readonly string[] => [
  ...(title === null ? [`Comment on ${issue ?? 0}:`] : [`Title: ${visibleLine(title)}`]),
  ...visible(text).split('\n').map((line) => `  | ${line}`),
]

const followLines = (preview: PreviewDocument): readonly string[] => [
  ...preview.effects.map((effect) =>
    `  ${effect.number}. ${effect.action}  ${effect.method} ${effect.path}`
    + `  (${bytesText(effect.body_bytes)})`),
  '',
  ...contentLines(preview),
]

/**
 * A publication is approved again where its approval was for another run, of which nothing was
 * begun; the approval itself says no to any other.
 */
const mayBeApproved = ({ state, publication }: PreviewDocument): boolean => state === 'prepared'
  || (publication !== null && (state === 'approved' || state === 'blocked'))

const authorText = ({ author }: PreviewDocument): string => {
  if (author === null) return 'unknown: the host does not say'
  return `account ${author.id} of the host${author.via_app ? ', through an app' : ''}`
}

/** What is looked at before an approval: effects in order, what is said, what it takes. */
export const previewLines = (preview: PreviewDocument, view: View): readonly string[] => [
  `This job sends to ${preview.repository} at ${preview.host}:`,
  '',
  ...(preview.publication === null ? followLines(preview) : publicationLines(preview)),
  ...diffLines(preview, view),
  '',
  fieldLines([
    ['creations', `${preview.posts} of ${bytesText(preview.bytes)} in all`],
    ['reads', String(preview.gets.length)],
    ['waits', preview.needed_ms === 0 ? 'none' : leftText(preview.needed_ms, view)],
    ['consent left', leftText(preview.consent_left_ms, view)],
    ['session left', leftText(preview.session_left_ms, view)],
    ['made as', authorText(preview)],
    ...(preview.mark === null ? [] : [['mark', preview.mark] as const]),
    ['digest', preview.digest],
  ]).trimEnd(),
]

/** A command on lines of its own, wherever it is printed: a digest alone takes most of a line. */
export const commandLines = (line: string, view: View): string =>
  wrapText(`  ${view.command(line)}`, columnsOfPipes)

const approveLines = ({ job, digest }: PreviewDocument, view: View): string =>
  commandLines(`codehost approve ${job} --preview-digest ${digest}`, view)

/** A preview, read like a plan, and how to approve it. */
export const previewText = (preview: PreviewDocument, view: View): string => [
  ...previewLines(preview, view),
  '',
  ...(mayBeApproved(preview)
    ? [preview.state === 'approved' ? 'It is approved. To approve it again:'
      : 'Approve exactly this:', approveLines(preview, view)]
    : [`This job is ${preview.state}.`]),
  '',
].join('\n')
