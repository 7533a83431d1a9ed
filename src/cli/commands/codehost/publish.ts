/** From a folder to a pull request in one command, or in two for scripts. */
import { existsSync } from 'node:fs'
import type { CodehostContext } from '../../../codehost/context.js'
import { previewJob } from '../../../codehost/jobs/preview.js'
import {
  preparePublication, type PublicationRequest,
} from '../../../codehost/jobs/publication/prepare.js'
import { requireSameSource } from '../../../codehost/jobs/publication/same-source.js'
import {
  codehostPublish, publishedNow, type Published, type PublishDocument,
} from '../../../codehost/jobs/publish-contract.js'
import { publishApproved, publishStep } from '../../../codehost/jobs/publish.js'
import type { Job } from '../../../codehost/jobs/job-rows.js'
import { requireProducer } from '../../../codehost/producer/tools.js'
import { isNumbered } from '../../../codehost/jobs/series.js'
import { fail } from '../../../base/errors.js'
import { tailOf } from '../../../base/ids.js'
import { pathFrom } from '../../../base/user-folders.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import type { Session } from '../../../governance/context.js'
import { keyOf, withKeyFlags, type KeyOptions } from '../../key-flags.js'
import { ownFoldersOf } from '../../own-folders.js'
import type { Prompter } from '../../prompt.js'
import { requestOf } from '../../request.js'
import { tellTyped } from '../../typed.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { bodyOf, messageOf } from './prepare.js'
import {
  approvedByPerson, continuedByPerson, publishConnection, publishFields, read, underConsent,
  type PublishFields,
} from './publish-form.js'
import { publishText } from './publish-text.js'

/** Argument and flags of `codehost publish`. */
interface PublishOptions extends Partial<PublishFields>, KeyOptions {
  readonly target: string
  readonly prepare?: boolean
  readonly previewDigest?: string
  readonly connection?: string
  readonly bodyFile?: string
  readonly messageFile?: string
  readonly mark?: boolean
  readonly goal?: string
}

interface Prepared {
  readonly ctx: CodehostContext
  readonly session: Session
  readonly job: Job
  readonly wanted: PublicationRequest
  readonly prompter: Prompter | null
}

const wrongFlags = () => fail.usage(
  'publish_flags', 'A job takes --preview-digest alone; the other flags are for a folder.', {
    next: 'See `sallyport codehost publish --help`.',
  },
)

/** The second half, for scripts: what was prepared is approved by its digest, and sent. */
const sendJob = async (
  { target, previewDigest, ...others }: PublishOptions, deps: VerbDeps,
): Promise<Published> => {
  if (Object.values(others).some((value) => value !== undefined)) throw wrongFlags()
  const request = requestOf(codehostPublish, { target, previewDigest })
  const { gov, session } = await workFor(deps, 'mutate')
  const job = await publishApproved(codehostContext(deps, gov), session, {
    jobId: request.target, previewDigest: request.preview_digest ?? '',
  })
  return publishedNow(gov, job)
}

/** Somebody to ask what the line left out; null where nobody can be. */
const personOf = async (options: PublishOptions, deps: VerbDeps): Promise<Prompter | null> => {
  // What a person says yes to is shown on stderr.
  if (deps.interactive && deps.io.terminal.stderr) return deps.ask('Give --prepare.')
  if (options.prepare === true) return null
  throw fail.usage('input_required', 'Nobody can be asked here whether this may be sent.', {
    next: 'Prepare it with `--prepare --json`, look at it, and send it by '
      + '`sallyport codehost publish JOB --preview-digest D`.',
  })
}

/**
 * Where something was asked for: the line that asks no more than whether it may be sent. It is told
 * before that is asked, so that a No does not lose what was typed.
 */
const tellSame = (deps: VerbDeps, options: PublishOptions, wanted: PublicationRequest): void => {
  const {
    target, base, branch, title, author, bodyFile, messageFile, goal, mark, prepare,
  } = options
  if (![base, branch, title, author].includes(undefined)) return
  const given = {
    '--connection': wanted.connectionId, '--base': wanted.base, '--branch': wanted.branch,
    '--title': wanted.title, '--author': wanted.author, '--body-file': bodyFile,
    '--message-file': messageFile, '--goal': goal,
  }
  const words = Object.entries(given)
    .flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
  tellTyped(deps, [[
    'codehost', 'publish', target, ...words, ...(mark === true ? ['--mark'] : []),
    ...(prepare === true ? ['--prepare'] : []),
  ]])
}

/** A folder may be called so, too: one that is there is published. */
const requireFolder = ({ target }: PublishOptions, { cwd }: VerbDeps): void => {
  const isJob = target.startsWith('job_') && tailOf(target) !== null
  if (!isJob || existsSync(pathFrom(cwd, target))) return
  throw fail.usage('publish_flags', 'A job is sent by the digest of its preview.', {
    next: `Look at it with \`sallyport codehost preview ${target}\`, and send it with `
      + `\`sallyport codehost publish ${target} --preview-digest D\`.`,
  })
}

const prepareFolder = async (options: PublishOptions, deps: VerbDeps): Promise<Prepared> => {
  // Who cannot publish here at all is told so before anything is asked or read.
  requireProducer(deps.producer)
  requireFolder(options, deps)
  const prompter = await personOf(options, deps)
  if (prompter === null) await publishFields(options, prompter)
  const message = await messageOf(options, deps)
  const request = requestOf(codehostPublish, {
    ...options, body: await bodyOf({ what: 'publication', ...options }, deps),
    ...(message === undefined ? {} : { message }),
  })
  const { gov, session } = await workFor(deps, 'mutate')
  const idempotencyKey = keyOf(options, 'job', { gov, session })
  // Who has no session or connection is told so before anything is asked.
  const connectionId = await publishConnection(gov, session, request.connection, prompter)
  const fields = await publishFields(options, prompter)
  const { body = '', mark, goal: goalId } = request
  const wanted: PublicationRequest = {
    ...fields, connectionId, body, message, mark, goalId, idempotencyKey,
    numbered: isNumbered(fields.branch),
    source: pathFrom(deps.cwd, request.target), ownFolders: ownFoldersOf(deps),
  }
  tellSame(deps, options, wanted)
  const ctx = codehostContext(deps, gov)
  const job = await underConsent(ctx, session, deps, {
    connectionId, prompter, prepare: () => preparePublication(ctx, session, wanted),
  })
  return { ctx, session, job, wanted, prompter }
}

/** The first half: what waits for an approval with all that this stands for. */
const shownPrepared = ({ ctx: { gov }, session, job }: Prepared): Published =>
  publishedNow(gov, job, publishStep(job) === 'approve'
    ? previewJob(gov, session, job.job_id) : null)

/** Both halves: a person looks at it and is asked once. */
const sendFolder = async (
  { ctx, session, job, wanted }: Prepared, prompter: Prompter, deps: VerbDeps,
): Promise<Published> => {
  const { gov, signal } = ctx
  // What is asked, or needs no question, is decided by this row: no other one is sent.
  const { job_id: jobId, preview_sha256: previewDigest, revision: expectedRevision } = job
  const step = publishStep(job)
  if (step === 'approve') {
    const shown = await approvedByPerson(gov, session, deps, prompter, jobId)
    await requireSameSource(gov, shown, { ...wanted, signal })
  } else if (step === 'go_on') await continuedByPerson(gov, deps, prompter, job)
  return publishedNow(gov, await publishApproved(ctx, session, {
    jobId, previewDigest, expectedRevision,
  }))
}

export const publish: VerbRecord<PublishOptions, PublishDocument> = {
  summary: 'publish a folder as a pull request, after you look and agree once',
  description:
    'Prepares a publication of the folder, shows exactly what will be sent, asks once, and then '
    + 'approves that digest, sends it and reads it back. It asks for missing flags, '
    + 'and for a consent where none covers it, as `codehost consent` does. Where the '
    + 'folder, the consent, the connection or the job changed between look and yes, nothing is '
    + 'sent. For scripts there are two halves: --prepare gives the job and its digest, and the job '
    + 'with --preview-digest approves that and sends it. {id} in the name of the branch stands for '
    + 'the job, so each publication has its own branch. The body then names the newest such one '
    + 'that was read back whole. The same key gives the same job. Run again, it goes on '
    + 'with what was never sent. It repeats nothing that was refused or may have been sent. Where '
    + 'that cannot be known it ends with 7 and the line that goes on.',
  examples: [
    '$ sallyport codehost publish site',
    '$ sallyport codehost publish site --base main --branch "site-{id}" --title "The site" '
      + '--author "Ada <ada@example.org>"',
    '$ sallyport codehost publish site --prepare --json --connection ID --base main '
      + '--branch "site-{id}" --title "The site" --author "CI <ci@example.org>"',
    '$ sallyport codehost publish JOB --preview-digest D --json',
  ],
  ids: { target: 'job or folder', connection: 'connection', goal: 'goal' },
  contacts: true,
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'remote', 'locked', 'cancelled'],
  json: codehostPublish,
  flags: (command) => withKeyFlags(command
    .argument('<target>', 'the folder, or with --preview-digest the job')
    .option('--prepare', 'seal it and show it; send nothing')
    .option('--preview-digest <digest>', 'send this job, as it was shown')
    .option('--connection <id>', 'the connection; left out: the only one')
    .option('--base <branch>', 'branch that it starts from')
    .option('--branch <name>', 'new branch that it makes; {id} stands for the job')
    .option('--title <text>', 'title of the pull request')
    .option('--body-file <file>', 'what the pull request says, in UTF-8; - for stdin')
    .option('--author <person>', 'who wrote the commit, as NAME <ADDRESS>')
    .option('--message-file <file>', 'message of the commit; left out: the title')
    .option('--mark', 'add a hidden line with a nonce, so no lookalike passes for it')
    .option('--goal <id>', 'what it is for; left out: your default goal'),
  'the same key and request give the same job'),
  text: publishText,
  run: async (options, deps) => {
    if (options.previewDigest !== undefined) {
      return codehostPublish.answer(await sendJob(options, deps))
    }
    const prepared = await prepareFolder(options, deps)
    const { prompter } = prepared
    if (options.prepare === true || prompter === null) {
      return codehostPublish.answer(shownPrepared(prepared))
    }
    return codehostPublish.answer(await read(() => sendFolder(prepared, prompter, deps)))
  },
}
