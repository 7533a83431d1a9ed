/** Closing capacity as a form: what stands now, and controls that all start unchecked. */
import { randomUUID } from 'node:crypto'
import { closeForm, requestOfFields, type CloseForm } from '../../../codehost/closure/ask.js'
import type { CodehostContext } from '../../../codehost/context.js'
import { keptRequest } from '../../../codehost/closure/look.js'
import type { ReadRequest } from '../../../codehost/jobs/closed/request.js'
import type { Gov, Session } from '../../../governance/context.js'
import { declined, requireYes } from '../../ask-verdict.js'
import { untilAgreed } from '../../form-again.js'
import type { VerbDeps } from '../../verb.js'
import type { Prompter } from '../../prompt.js'
import { fieldLines } from '../../text.js'

/** What the line has said already. */
interface FormGiven {
  readonly jobId: string
  /** What a person found on the host, the numbers that they decided on, and a key. */
  readonly fields: Readonly<Record<string, unknown>>
}

const shown = (form: CloseForm): string => fieldLines([
  ['job', `${form.jobId}, revision ${form.expected_job_revision}`],
  ['state', form.reason === null ? form.state : `${form.state} (${form.reason})`],
  ['connection', `${form.connection} (${form.repository}), `
    + `revision ${form.expected_connection_revision}, fence ${form.expected_connection_fence}`],
  ['effects', `${form.contacted} may have happened; all of them are read back, by GET alone`],
  ['so', 'Closing frees the connection and resolves nothing: the job stays as it is and never '
    + 'runs again.'],
]).trimEnd()

const leave = 'leave it, and begin nothing'
const again = 'send the kept request again, as it is'
const begin = 'begin another one, under a key of its own'

/** A key is never changed behind somebody's back: who has one kept says what becomes of it. */
const choiceOf = async (
  prompter: Prompter, { kept }: CloseForm, fields: FormGiven['fields'],
): Promise<typeof again | typeof begin> => {
  if (kept.length === 0 || fields['idempotency_key'] !== undefined) return begin
  const chosen = await prompter.choose(
    `A request for this job is kept (${kept.join(', ')}):`, [leave, again, begin], leave)
  if (chosen === again || chosen === begin) return chosen
  throw declined()
}

const numberNames = { remote_id: 'the issue or comment', pr_number: 'the pull request' } as const

/** What only a person can know; an empty line leaves it out. */
const hintOf = async (
  prompter: Prompter, { lost }: CloseForm, fields: FormGiven['fields'],
): Promise<Readonly<Record<string, unknown>>> => {
  if (lost === null || fields[lost] !== undefined) return {}
  const told = (await prompter.text(
    `No reply told the number of ${numberNames[lost]}. If you found it on the host, its number:`,
  )).trim()
  if (told === '') return {}
  return { [lost]: /^[1-9][0-9]{0,15}$/.test(told) ? Number(told) : told }
}

/** Asks. Throws `cancelled` `declined` unless it was acknowledged, and as `requestOfFields`. */
export const askToClose = async (
  deps: VerbDeps, gov: Gov, session: Session, { jobId, fields }: FormGiven,
): Promise<ReadRequest> => {
  const form = closeForm(gov, session, jobId)
  const prompter = await deps.ask('Give --acknowledge and the expected numbers.')
  deps.note(shown(form))
  if (await choiceOf(prompter, form, fields) === again) {
    return keptRequest(gov, { jobId, key: form.kept.length === 1 ? form.kept[0] : undefined }).read
  }
  const hint = await untilAgreed(prompter, async (asked) => {
    const told = await hintOf(asked, form, fields)
    deps.note('  [ ] acknowledged_capacity_close')
    await requireYes(asked, 'Check it: close this capacity if everything is proved?')
    return told
  })
  return requestOfFields(gov, session, jobId, {
    expected_job_revision: form.expected_job_revision,
    expected_connection_revision: form.expected_connection_revision,
    expected_connection_fence: form.expected_connection_fence,
    // Numbers in the line are those that somebody decided on: of another moment they are stale.
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ...hint, acknowledged_capacity_close: true,
    // Chosen above where one was kept.
    idempotency_key: fields['idempotency_key'] ?? randomUUID(),
  })
}

/** On a terminal each piece of evidence is a line on stderr, as it comes. */
export const evidenceLines = (deps: VerbDeps): Pick<CodehostContext, 'watchEvidence'> =>
  (deps.io.terminal.stderr ? {
    watchEvidence: ({ path, missing, edited, gets, getsMax, leftMs }) => {
      const found = missing === null ? 'seen   ' : 'missing'
      const why = missing === null ? edited ? ', edited since it was made' : '' : `, ${missing}`
      deps.note(`  ${found}  GET ${path}${why}  `
        + `(${gets} of ${getsMax} GETs, ${Math.max(0, Math.floor(leftMs / 1_000))} s left)`)
    },
  } : {})
