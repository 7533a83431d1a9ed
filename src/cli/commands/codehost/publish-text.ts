/** A publication on its way, or at its end, as text. */
import type { PublishDocument } from '../../../codehost/jobs/publish-contract.js'
import type { View } from '../../output.js'
import { fieldLines, visibleLine } from '../../text.js'
import { commandLines, previewLines } from './job-text.js'

type Field = readonly [string, string]

const pullText = ({ pull_request: pull }: PublishDocument): string =>
  (pull === null ? 'none yet' : `#${pull.number}  ${visibleLine(pull.url)}`)

const standingLines = (of: PublishDocument): string => fieldLines([
  ['job', of.job],
  ['state', of.reason === null ? of.state : `${of.state} (${of.reason})`],
  ['repository', of.repository],
  ...(of.branch === null ? [] : [['branch', visibleLine(of.branch)] satisfies Field]),
  ['pull request', pullText(of)],
  ['receipt', of.receipt ?? 'none yet'],
  ...(of.way_on.command === null ? [] : [
    ['so', of.way_on.text], ['next', of.way_on.command],
  ] satisfies Field[]),
])

/** The line that approves and sends what a preview showed, broken so that it can be pasted. */
const sendLines = ({ job, digest }: PublishDocument, view: View): readonly string[] => [
  'Nothing was sent. To send exactly this:',
  commandLines(`codehost publish ${job} --preview-digest ${digest}`, view),
]

/** Where it waits for an approval what is looked at for one, else where it stands. */
export const publishText = (of: PublishDocument, view: View): string => (of.preview === null
  ? standingLines(of)
  : [...previewLines(of.preview, view), '', ...sendLines(of, view), ''].join('\n'))
