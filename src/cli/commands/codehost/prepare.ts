import { Argument } from 'commander'
import { codehostPrepare, type JobDocument } from '../../../codehost/jobs/jobs-contract.js'
import { preparePublication } from '../../../codehost/jobs/publication/prepare.js'
import { requireProducer } from '../../../codehost/producer/tools.js'
import { prepareFollowThrough } from '../../../codehost/jobs/prepare.js'
import type { FollowWish } from '../../../codehost/jobs/plan.js'
import type { Job } from '../../../codehost/jobs/job-rows.js'
import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import { numberFlag, offered } from '../../flags.js'
import { readInputText } from '../../input.js'
import { keyOf, withKeyFlags, type KeyOptions } from '../../key-flags.js'
import { ownFoldersOf } from '../../own-folders.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { jobText } from './job-text.js'

interface PrepareOptions extends KeyOptions,
  Omit<Partial<LineOf<typeof codehostPrepare>>, 'body' | 'message' | 'idempotencyKey'> {
  readonly what: 'issue' | 'comment' | 'publication'
  readonly bodyFile?: string
  readonly messageFile?: string
}

/** A body of the longest permitted length takes up to four bytes a character. */
const bodyBytesMax = 4 * 65_536

type Request = ReturnType<typeof codehostPrepare.request>

const wrongFlags = () => fail.usage(
  'prepare_flags', 'An issue has a --title; a comment has an --issue; a publication has --source, '
    + '--base, --branch, --title and --author.', {
    next: 'See `sallyport codehost prepare --help`.',
  },
)

/** What a publication alone has. */
const publicationFlags = ['source', 'base', 'branch', 'author', 'message'] as const

const wishOf = (request: Request): FollowWish => {
  const { what, title, body, issue } = request
  if (publicationFlags.some((flag) => request[flag] !== undefined)) throw wrongFlags()
  if (what === 'issue' && title !== undefined && issue === undefined) return { what, title, body }
  if (what === 'comment' && issue !== undefined && title === undefined) {
    return { what, issue, body }
  }
  throw wrongFlags()
}

/** Throws where the line lacks a flag of a publication or has one of a comment. */
const publicationOf = (request: Request, deps: VerbDeps) => {
  const { title, body, issue, source, base, branch, author, message } = request
  const given = { title, source, base, branch, author }
  if (issue !== undefined || Object.values(given).includes(undefined)) throw wrongFlags()
  return {
    connectionId: request.connection, goalId: request.goal,
    body, message, mark: request.mark,
    source: pathFrom(deps.cwd, source ?? ''), ownFolders: ownFoldersOf(deps),
    title: title ?? '', base: base ?? '', branch: branch ?? '', author: author ?? '',
  }
}

/** A publication may say nothing besides its title. */
export const bodyOf = async (
  { bodyFile, what }: Pick<PrepareOptions, 'bodyFile' | 'what'>, deps: VerbDeps,
): Promise<string> => {
  if (bodyFile === undefined) {
    if (what === 'publication') return ''
    throw fail.usage('prepare_flags', 'What it says comes from --body-file.', {
      next: 'Give a file, or - for stdin.',
    })
  }
  return readInputText(deps, { from: bodyFile, flag: '--body-file', bytesMax: bodyBytesMax })
}

/** The message of the commit; undefined where the line names no file of one. */
export const messageOf = async (
  { messageFile: from }: Pick<PrepareOptions, 'messageFile'>, deps: VerbDeps,
): Promise<string | undefined> => (from === undefined ? undefined : readInputText(deps, {
  from, flag: '--message-file', bytesMax: bodyBytesMax,
}))

/** On a terminal the author is asked for: there is no default. */
const authorOf = async (
  { what, author }: PrepareOptions, deps: VerbDeps,
): Promise<string | undefined> => {
  if (author !== undefined || what !== 'publication' || !deps.interactive) return author
  return (await deps.ask('Give --author.')).text('Author of the commit, as NAME <ADDRESS>')
}

const prepared = async (request: Request, deps: VerbDeps, options: KeyOptions): Promise<Job> => {
  if (request.what === 'publication') {
    const wanted = publicationOf(request, deps)
    const { gov, session } = await workFor(deps, 'mutate')
    const idempotencyKey = keyOf(options, 'job', { gov, session })
    return preparePublication(codehostContext(deps, gov), session, { ...wanted, idempotencyKey })
  }
  const wish = wishOf(request)
  const { gov, session } = await workFor(deps, 'mutate')
  return prepareFollowThrough(gov, session, {
    connectionId: request.connection, wish, goalId: request.goal, mark: request.mark,
    idempotencyKey: keyOf(options, 'job', { gov, session }),
  })
}

export const prepare: VerbRecord<PrepareOptions, JobDocument> = {
  summary: 'seal what a job will write, for you to look at and approve',
  description:
    'Prepares an issue, a comment, or a publication of a folder, under the consent that the '
    + 'connection has now. A publication is a new branch with a pull request. What will be sent is '
    + 'sealed and never changes; the connection stays free. For an issue or comment nobody is '
    + 'contacted. For a publication the base is read from the host (GET alone) and the folder is '
    + 'read once. Look at it with `codehost preview`, approve it by its digest, then run it. A job '
    + 'belongs to this session and this consent; neither another session nor a new consent takes '
    + 'it over.',
  examples: [
    '$ sallyport codehost prepare issue --connection ID --title "Fix the build" --body-file b.md',
    '$ sallyport codehost prepare comment --connection ID --issue 12 --body-file - --json',
    '$ sallyport codehost prepare publication --connection ID --source . --base main '
      + '--branch fix/build --title "Fix the build" --author "Ada <ada@example.org>"',
  ],
  ids: { connection: 'connection', goal: 'goal' },
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'remote', 'locked'],
  json: codehostPrepare,
  flags: (command) => withKeyFlags(command, 'the same key and request give the same job')
    .addArgument(offered(
      new Argument('<what>', 'issue, comment or publication'), ['issue', 'comment', 'publication'],
    ))
    .option('--connection <id>', 'the connection that it is written through')
    .option('--title <text>', 'title of an issue or of a pull request')
    .option('--body-file <file>', 'what it says, in UTF-8; - for stdin')
    .addOption(numberFlag('--issue <n>', 'issue or pull request that a comment is for'))
    .option('--mark', 'add a hidden line with a nonce, so no lookalike passes for it')
    .option('--source <folder>', 'folder that is published')
    .option('--base <branch>', 'branch that a publication starts from')
    .option('--branch <name>', 'new branch that it makes')
    .option('--author <person>', 'who wrote the commit, as NAME <ADDRESS>')
    .option('--message-file <file>', 'message of the commit; left out: the title')
    .option('--goal <id>', 'what it is for; left out: your default goal'),
  text: jobText,
  run: async (options, deps) => {
    // Who cannot publish here at all is told so before anything is asked or read.
    if (options.what === 'publication') requireProducer(deps.producer)
    const author = await authorOf(options, deps)
    const message = await messageOf(options, deps)
    const request = requestOf(codehostPrepare, {
      ...options, body: await bodyOf(options, deps),
      ...(author === undefined ? {} : { author }), ...(message === undefined ? {} : { message }),
    })
    return codehostPrepare.answer(await prepared(request, deps, options))
  },
}
