import {
  codehostJob, historyNames, type ShownJobDocument,
} from '../../../codehost/jobs/contract.js'
import { closureView } from '../../../codehost/closure/projection.js'
import { sealedReadText } from '../../../codehost/closure/offline/given.js'
import { showJob, shownReadback } from '../../../codehost/jobs/list.js'
import { choiceFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { shownJobText } from './job-text.js'

/** Argument and flag of `codehost job`. */
export interface JobOptions {
  readonly job: string
  readonly history?: string
  readonly readback?: string
}

const definition: VerbDefinition<ShownJobDocument> = {
  meta: {
    name: 'codehost job',
    summary: 'show one job and its way on, or one of its histories',
    description:
      'Shows where a job stands, what may have happened, whether it occupies its connection, and '
      + 'what you can do. With --history it prints the canonical lines of one of its append-only '
      + 'histories, as their limits count them: effects, artifacts, checkpoints or reads. With '
      + '--readback it prints one sealed readback, which `codehost verify` checks offline.',
    examples: [
      '$ sallyport codehost job JOB', '$ sallyport codehost job JOB --history effects',
      '$ sallyport codehost job JOB --readback ID > r.json',
    ],
    session: 'required',
    ids: { job: 'job' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'not_found', 'blocked', 'no_state', 'damaged'],
    json: codehostJob,
  },
  flags: (command) => command
    .argument('<job>', 'id of the job')
    .addOption(choiceFlag('--history <name>', 'print one of its histories', [...historyNames]))
    .option('--readback <id>', 'print one sealed readback alone, as canonical JSON'),
  text: shownJobText,
}

/** Shows it. */
export const run: Run<JobOptions, ShownJobDocument> = async (options, deps) => {
  const { job, history, readback } = requestOf(codehostJob, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const shown = showJob(gov, view, session, job, history)
  return codehostJob.answer({
    ...shown, ...closureView(view, session, shown.job),
    readback: readback === undefined ? null : sealedReadText(shownReadback(view, job, readback)),
  })
}

/** Parses a line of `codehost job`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
