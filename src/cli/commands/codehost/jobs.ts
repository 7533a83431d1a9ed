/** Jobs of a code host: listing them, looking at one, and taking one back or over. */
import type { Command } from 'commander'
import { fail } from '../../../base/errors.js'
import { codehostDiscard, codehostInspect } from '../../../codehost/closure/closure-contract.js'
import { closureLimits } from '../../../codehost/jobs/closed/closed-job-limits.js'
import { discardKept, inspectKept, inspectText } from '../../../codehost/closure/look.js'
import { adoptJob } from '../../../codehost/jobs/adopt.js'
import { cancelJob } from '../../../codehost/jobs/cancel.js'
import { requireOwnJob } from '../../../codehost/jobs/change.js'
import {
  historyNames, codehostCancel, codehostAdopt,
} from '../../../codehost/jobs/jobs-contract.js'
import { jobStates } from '../../../codehost/jobs/job-rows.js'
import { operation } from '../../../fabric/operation.js'
import { codehost } from '../../../fabric/operations/codehost.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { readInputText } from '../../input.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { inspectionText } from './closure-text.js'
import { jobCells, jobHeads, shownJobText, jobText } from './job-text.js'

const historyFlags = (command: Command): Command => command
  .addOption(choiceFlag('--history <name>', 'print one of its histories', [...historyNames]))
  .option('--readback <id>', 'print one sealed readback alone, as canonical JSON')

export const job = verbOf(codehost.job, {
  summary: 'show one job and its way on, or one of its histories',
  description:
    'Shows where a job stands, what may have happened, whether it occupies its connection, and '
    + 'what you can do. With --history it prints the canonical lines of one of its append-only '
    + 'histories, as their limits count them: effects, artifacts, checkpoints or reads. With '
    + '--readback it prints one sealed readback, which `codehost recover verify` checks offline.',
  examples: [
    '$ sallyport codehost jobs JOB', '$ sallyport codehost jobs JOB --history effects',
    '$ sallyport codehost jobs JOB --readback ID > r.json',
  ],
  of: 'job',
  exits: ['rejected', 'not_found', 'blocked'],
  flags: historyFlags,
  text: shownJobText,
})

export const jobs = verbOf(codehost.jobs, {
  summary: 'list your jobs, or show one: what waits, what is unknown, and its way on',
  description:
    'Lists your jobs, newest first. A job whose effect is unknown occupies its '
    + 'connection. With a job it shows where that stands, what may have happened, whether it '
    + 'occupies its connection, and what you can do. --history prints the canonical lines of one '
    + 'of its append-only histories, as their limits count them. --readback prints one sealed '
    + 'readback, which `codehost recover verify` checks offline. It contacts nobody.',
  examples: [
    '$ sallyport codehost jobs', '$ sallyport codehost jobs --state unknown_external_effect',
    '$ sallyport codehost jobs JOB', '$ sallyport codehost jobs JOB --history effects',
    '$ sallyport codehost jobs JOB --readback ID > r.json',
  ],
  ids: { job: 'job', connection: 'connection', after: 'job' },
  exits: ['rejected'],
  flags: (command) => historyFlags(command.argument('[job]', 'id of the job'))
    .option('--connection <id>', 'only those of one connection')
    .addOption(choiceFlag('--state <state>', 'only those in one state', [...jobStates]))
    .option('--after <job>', 'only those older than this one')
    .addOption(integerFlag('--limit <n>', 'at most so many (default 50)', { min: 1, max: 1_000 })),
  joins: [
    { by: 'JOB', load: () => job, line: (line) => (line['job'] === undefined ? null : line) },
  ],
  complete: (line: { readonly history?: string, readonly readback?: string }) => {
    if (line.history === undefined && line.readback === undefined) return line
    throw fail.usage('job_needed', '--history and --readback go with a job.', {
      next: 'See `sallyport codehost jobs`.',
    })
  },
  text: (rows, view) => renderTable(view, jobHeads, rows.map((row) => jobCells(view, row))),
})

export const cancel = verbOf(operation(codehostCancel, 'write',
  async ({ gov, session, stopped }, { job }) => {
    const { recorded } = await cancelJob(gov, session, job)
    await stopped(recorded)
    return { job: requireOwnJob(gov.store.read(), session, job), recorded }
  }), {
  summary: 'give up a job that was never sent, or stop a running one',
  description:
    'A job that waits is cancelled. A running one sends nothing more, at once. What may '
    + 'have been sent before is not taken back, stays shown, and keeps its connection. There '
    + 'is no undo.',
  examples: ['$ sallyport codehost cancel JOB', '$ sallyport codehost cancel JOB --json'],
  of: 'job',
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  text: jobText,
})

export const adopt = verbOf(operation(codehostAdopt, 'mutate', ({ gov, session }, { job }) =>
  adoptJob(gov, session, job)), {
  summary: 'let the task of a reconciled job count as done',
  description:
    'Takes over what `codehost recover reconcile` proved, for the task that the job ran as. The '
    + 'receipt that counts is the one in the rows; session, goal, credential and revision of the '
    + 'connection must be what it says. It contacts nobody; where the connection has changed '
    + 'since, it asks for another readback.',
  examples: [
    '$ sallyport codehost recover adopt JOB', '$ sallyport codehost recover adopt JOB --json',
  ],
  of: 'job',
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  text: jobText,
})

export const discard = verbOf(operation(codehostDiscard, 'read', ({ gov, session }, request) =>
  discardKept(gov, session, { jobId: request.job, key: request.idempotency_key })), {
  summary: 'drop the kept request of a job, once it is decided',
  description:
    'Inspects the kept request anew and drops it where it was applied or never can be; where '
    + 'neither is proved it stays. Whatever is asked for after that is acknowledged anew, under '
    + 'a new key and the numbers of then.',
  examples: [
    '$ sallyport codehost recover discard JOB', '$ sallyport codehost recover discard JOB --json',
  ],
  of: 'job',
  exits: ['rejected', 'conflict', 'not_found', 'blocked'],
  flags: (command) => command
    .option('--idempotency-key <uuid>', 'which kept request, where there are several'),
  text: (document, view) => `Dropped.\n${inspectionText(document, view)}`,
  touch: false,
})

const bytesAChar = 4

export const inspect = verb(codehostInspect, {
  summary: 'say what became of a request to close capacity; contacts nobody',
  description:
    'Answers one of three. The request was applied, with its receipt. Or it was not and never can '
    + 'be: a revision or fence has passed, or another request closed the job. Or neither is '
    + 'proved. Without --from it takes the request kept for the job. It changes nothing, and asks '
    + 'nobody.',
  examples: [
    '$ sallyport codehost recover inspect JOB',
    '$ sallyport codehost recover inspect JOB --from request.json',
  ],
  of: 'job',
  exits: ['rejected', 'conflict', 'not_found', 'blocked'],
  flags: (command) => command
    .option('--from <file>', 'the request as JSON, at most 2048 characters; - for stdin')
    .option('--idempotency-key <uuid>', 'which kept request, where there are several'),
  text: inspectionText,
  run: async ({ job, idempotency_key: key }, deps, line: { readonly from?: string }) => {
    const { gov, session } = await deps.login('read', { touch: false })
    if (line.from === undefined) {
      return inspectKept(gov, session, { jobId: job, key })
    }
    const text = await readInputText(deps, {
      from: line.from, flag: '--from', bytesMax: bytesAChar * closureLimits.inspectCharsMax,
    })
    return inspectText(gov, session, job, text)
  },
})
