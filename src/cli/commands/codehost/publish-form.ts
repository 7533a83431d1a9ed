/** What `codehost publish` asks on a terminal: what its line left out, a consent, and the yes. */
import { afterRead } from '../../../codehost/after-read.js'
import { prepareConsent, issueConsent } from '../../../codehost/consent.js'
import { lacksConsent, withConsentLine } from '../../../codehost/consent-line.js'
import { codehostLimits } from '../../../codehost/constants.js'
import type { CodehostContext } from '../../../codehost/context.js'
import { previewDocument, type PreviewDocument } from '../../../codehost/jobs/preview-contract.js'
import { previewJob } from '../../../codehost/jobs/preview.js'
import { publicationActions } from '../../../codehost/jobs/publication/prepare.js'
import { onlyConnection, usableConnections } from '../../../codehost/jobs/publication/through.js'
import { jobDocument } from '../../../codehost/jobs/jobs-contract.js'
import type { Job } from '../../../codehost/jobs/job-rows.js'
import { closeLineNow } from '../../../codehost/jobs/close-line.js'
import type { NextStep } from '../../../codehost/jobs/next-step.js'
import { onItsWay } from '../../../codehost/jobs/next-step-now.js'
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { connectionCollection } from '../../../governance/connections/connection-rows.js'
import { requireOwnConnection } from '../../../governance/connections/find-connection.js'
import type { Gov, Session } from '../../../governance/context.js'
import { wrapBeside } from '../../output.js'
import type { Prompter } from '../../prompt.js'
import { terminalSafe } from '../../text.js'
import type { VerbDeps } from '../../verb.js'
import { acknowledged } from './consent.js'
import { jobText, previewLines } from './job-text.js'

/** What names a publication, besides its folder. */
export interface PublishFields {
  readonly base: string
  readonly branch: string
  readonly title: string
  readonly author: string
}

/** Each field with its question and what Enter alone takes; of a person nothing is guessed. */
const questions: readonly (readonly [keyof PublishFields, string, string?])[] = [
  ['base', 'Branch to start from:', 'main'],
  ['branch', 'New branch ({id} stands for the job):', 'publish/{id}'],
  ['title', 'Title of the pull request:'],
  ['author', 'Author of the commit, as NAME <ADDRESS>:'],
]

/** What the line left out is asked for. Throws `usage` `publish_flags` where nobody can be. */
export const publishFields = async (
  given: Partial<PublishFields>, prompter: Prompter | null,
): Promise<PublishFields> => {
  const filled = { base: '', branch: '', title: '', author: '' }
  for (const [name, question, initial] of questions) {
    const answer = given[name] ?? await prompter?.text(question, initial)
    if (answer === undefined) {
      throw fail.usage('publish_flags', 'A folder is published with --base, --branch, --title and '
        + '--author.', { next: 'See `sallyport codehost publish --help`.' })
    }
    filled[name] = answer
  }
  return filled
}

/**
 * The connection that was named, the only one, or the one of several that a person chooses. Throws
 * `not_found` `connection_not_found`, and `usage` `connection_needed` where nobody can choose.
 */
export const publishConnection = async (
  gov: Gov, session: Session, named: string | undefined, prompter: Prompter | null,
): Promise<string> => {
  if (named !== undefined) {
    return requireOwnConnection(gov.store.read(), session, named).connection_id
  }
  const usable = usableConnections(gov, session)
  if (prompter === null || usable.length < 2) return onlyConnection(usable).connection_id
  const labels = new Map(usable.map(({ connection_id: id, repository }) =>
    [`${repository}  ${id}`, id]))
  const chosen = await prompter.choose('Publish through:', [...labels.keys()])
  return labels.get(chosen) ?? onlyConnection(usable).connection_id
}

/** What must be read before a question counts: where it cannot be written nothing is asked. */
const show = (deps: VerbDeps, text: string): void => {
  deps.progress.clear()
  deps.io.writeErr(`${wrapBeside(deps.io, terminalSafe(text))}\n`)
}

/** The host was read before this: what it throws has a status that says so. */
export const read = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw afterRead(error)
  }
}

const consented = async (
  ctx: CodehostContext, session: Session, deps: VerbDeps, connectionId: string,
  prompter: Prompter,
): Promise<void> => {
  const connection = requireOwnConnection(ctx.gov.store.read(), session, connectionId)
  show(deps, 'A write needs a consent, and none covers this.')
  if (connection.consent !== null) {
    show(deps, 'A new one ends the one before, and what was prepared under it.')
  }
  const prepared = await prepareConsent(ctx, session, {
    connectionId, expectedRevision: connection.revision, actions: publicationActions,
    durationMs: codehostLimits.grantMsDefault, canAcknowledge: true,
  })
  await issueConsent(ctx, session, prepared, await acknowledged(prepared, {}, deps, prompter))
}

/**
 * Prepares; where no consent stands for it, a person is asked for one as `codehost consent` asks,
 * and where nobody is there the refusal tells the line that gives it.
 */
export const underConsent = async (
  ctx: CodehostContext, session: Session, deps: VerbDeps, { connectionId, prompter, prepare }: {
    readonly connectionId: string
    readonly prompter: Prompter | null
    readonly prepare: () => Promise<Job>
  },
): Promise<Job> => {
  try {
    return await prepare()
  } catch (error) {
    if (!lacksConsent(error)) throw error
    const connection = requireOwnConnection(ctx.gov.store.read(), session, connectionId)
    if (prompter === null) throw withConsentLine(error, connection, publicationActions)
  }
  await consented(ctx, session, deps, connectionId, prompter)
  return read(prepare)
}

const declined = (job: Job) => fail.cancelled('declined', 'Declined; nothing was sent.', {
  next: `It waits: \`sallyport codehost preview ${job.job_id}\`. To send it: \`sallyport codehost `
    + `publish ${job.job_id} --preview-digest ${job.preview_sha256}\`. `
    + `To give it up: \`sallyport codehost cancel ${job.job_id}\`.`,
  details: { job_id: job.job_id },
})

/** The same of one that was begun: what there is of it stands, and no cancel takes it back. */
const stopped = (gov: Gov, job: Job, { command }: NextStep) => {
  const revision = gov.store.read().get(connectionCollection, job.connection_id)?.revision
  const close = closeLineNow(gov, job, revision)
  return fail.cancelled('declined', 'Declined; no more of it was sent.', {
    next: `It stands as it is: \`${command ?? `sallyport codehost jobs ${job.job_id}`}\`.`
      + (command === close ? '' : ` To give the rest up: \`${close}\`.`),
    details: { job_id: job.job_id },
  })
}

/** What a long list may have moved off the screen is said once more beside the question. */
const lookLines = ({ publication }: PreviewDocument): readonly string[] => {
  const marked = publication?.changes.filter(({ marks }) => marks.length > 0).length ?? 0
  return marked === 0 ? []
    : [`LOOK: ${countText(marked, 'file')} above may hold what is secret.`]
}

/** Shows everything that is sent, and asks once. Gives the job as it was shown. */
export const approvedByPerson = async (
  gov: Gov, session: Session, deps: VerbDeps, prompter: Prompter, jobId: string,
): Promise<Job> => {
  const preview = previewJob(gov, session, jobId)
  const shown = previewDocument({ ...preview, diff: null })
  show(deps, [
    ...previewLines(shown, deps.view), '', ...lookLines(shown), `Nothing was sent. It is ${jobId}.`,
  ].join('\n'))
  if (!(await prompter.confirm(`Send exactly this to ${shown.repository}`))) {
    throw declined(preview.job)
  }
  return preview.job
}

/** Shows how far it came, and asks whether the rest is sent. */
export const continuedByPerson = async (
  gov: Gov, deps: VerbDeps, prompter: Prompter, job: Job,
): Promise<void> => {
  const { way } = onItsWay(gov, gov.store.read(), job)
  show(deps, jobText(jobDocument(job, way)))
  if (!(await prompter.confirm('Send the part that was never sent'))) throw stopped(gov, job, way)
}
