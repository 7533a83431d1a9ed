import { codehostJobs, type ListedJobDocument } from '../../../codehost/jobs/contract.js'
import { closureView } from '../../../codehost/closure/projection.js'
import { listJobs } from '../../../codehost/jobs/list.js'
import { jobStates } from '../../../codehost/jobs/rows.js'
import { cutAt } from '../../cut.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { renderTable } from '../../table.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { jobCells, jobHeads } from './job-text.js'

/** Flags of `codehost jobs`. */
export interface JobsOptions {
  readonly connection?: string
  readonly state?: string
  readonly after?: string
  readonly limit?: number
}

const definition: VerbDefinition<ListedJobDocument[]> = {
  meta: {
    name: 'codehost jobs',
    summary: 'list your jobs: what waits, what is unknown, what occupies a connection',
    description:
      'Lists your jobs, newest first. A job in unknown_external_effect or failed occupies its '
      + 'connection; `codehost job` tells the way on. It contacts nobody.',
    examples: [
      '$ sallyport codehost jobs', '$ sallyport codehost jobs --state unknown_external_effect',
    ],
    session: 'required',
    ids: { connection: 'connection', after: 'job' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'no_state', 'damaged'],
    json: codehostJobs,
  },
  flags: (command) => command
    .option('--connection <id>', 'only those of one connection')
    .addOption(choiceFlag('--state <state>', 'only those in one state', [...jobStates]))
    .option('--after <job>', 'only those older than this one')
    .addOption(integerFlag('--limit <n>', 'at most so many (default 50)', { min: 1, max: 1_000 })),
  text: (rows, view) => renderTable(view, jobHeads, rows.map((row) => jobCells(view, row))),
}

/** Lists. */
export const run: Run<JobsOptions, ListedJobDocument[]> = async (options, deps) => {
  const request = requestOf(codehostJobs, options)
  const { gov, session } = await deps.login('see')
  const view = gov.store.read()
  const { limit = 50 } = request
  const found = listJobs(gov, view, session, { ...request, limit: limit + 1 })
  return codehostJobs.answer(cutAt(deps, found, limit, ({ job }) => job.job_id)
    .map((one) => ({ ...one, ...closureView(view, session, one.job) })))
}

/** Parses a line of `codehost jobs`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
