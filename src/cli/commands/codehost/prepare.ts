import { codehostPrepare, type JobDocument } from '../../../codehost/jobs/contract.js'
import { prepareFollowThrough } from '../../../codehost/jobs/prepare.js'
import type { FollowWish } from '../../../codehost/jobs/plan.js'
import { fail } from '../../../base/errors.js'
import type { VerbDeps } from '../../bound.js'
import { integerFlag } from '../../flags.js'
import { readInputText } from '../../input.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { jobText } from './job-text.js'

/** Argument and flags of `codehost prepare`. */
export interface PrepareOptions {
  readonly what: string
  readonly connection?: string
  readonly title?: string
  readonly bodyFile?: string
  readonly issue?: number
  readonly goal?: string
  readonly idempotencyKey?: string
}

const definition: VerbDefinition<JobDocument> = {
  meta: {
    name: 'codehost prepare',
    summary: 'seal what a job will write, for you to look at and approve',
    description:
      'Prepares one issue or one comment under the consent that the connection has now: the exact '
      + 'request is sealed and does not change any more. Nobody is contacted, and the connection '
      + 'stays free. Look at it with `codehost preview`, approve it by its digest, then run it. A '
      + 'job belongs to this session and this consent; neither another session nor a new consent '
      + 'takes it over.',
    examples: [
      '$ sallyport codehost prepare issue --connection ID --title "Fix the build" --body-file b.md',
      '$ sallyport codehost prepare comment --connection ID --issue 12 --body-file - --json',
    ],
    session: 'required',
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
      'damaged',
    ],
    json: codehostPrepare,
  },
  flags: (command) => command
    .argument('<what>', 'issue or comment')
    .option('--connection <id>', 'the connection that it is written through')
    .option('--title <text>', 'title of an issue')
    .option('--body-file <file>', 'what it says, in UTF-8; - for stdin')
    .addOption(integerFlag('--issue <n>', 'issue or pull request that a comment is for', {
      min: 1, max: Number.MAX_SAFE_INTEGER,
    }))
    .option('--goal <id>', 'what it is for; left out: your default goal')
    .option('--idempotency-key <uuid>', 'the same key and request give the same job'),
  text: jobText,
}

/** A body of the longest permitted length takes up to four bytes a character. */
const bodyBytesMax = 4 * 65_536

const wishOf = (request: {
  readonly what: 'issue' | 'comment'
  readonly title?: string | undefined
  readonly body: string
  readonly issue?: number | undefined
}): FollowWish => {
  const { what, title, body, issue } = request
  if (what === 'issue' && title !== undefined && issue === undefined) return { what, title, body }
  if (what === 'comment' && issue !== undefined && title === undefined) {
    return { what, issue, body }
  }
  throw fail.usage('prepare_flags', 'An issue has a --title; a comment has an --issue.', {
    next: 'See: sallyport codehost prepare --help',
  })
}

const bodyOf = async ({ bodyFile }: PrepareOptions, deps: VerbDeps): Promise<string> => {
  if (bodyFile === undefined) {
    throw fail.usage('prepare_flags', 'What it says comes from --body-file.', {
      next: 'Give a file, or - for stdin.',
    })
  }
  return readInputText(deps, { from: bodyFile, flag: '--body-file', bytesMax: bodyBytesMax })
}

/** Prepares. */
export const run: Run<PrepareOptions, JobDocument> = async (options, deps) => {
  const request = requestOf(codehostPrepare, { ...options, body: await bodyOf(options, deps) })
  const wish = wishOf(request)
  const { gov, session } = await loginToMutate(deps)
  return codehostPrepare.answer(await prepareFollowThrough(gov, session, {
    connectionId: request.connection, wish, goalId: request.goal,
    idempotencyKey: request.idempotency_key,
  }))
}

/** Parses a line of `codehost prepare`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
