import { codehostJobs } from '../../../codehost/jobs/contract.js'
import { closureView } from '../../../codehost/closure/projection.js'
import { listJobs } from '../../../codehost/jobs/list.js'
import { jobStates } from '../../../codehost/jobs/rows.js'
import { cutAt } from '../../cut.js'
import { choiceFlag, integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'
import { jobCells, jobHeads } from './job-text.js'

export const jobs = verb(codehostJobs, {
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
  flags: (command) => command
    .option('--connection <id>', 'only those of one connection')
    .addOption(choiceFlag('--state <state>', 'only those in one state', [...jobStates]))
    .option('--after <job>', 'only those older than this one')
    .addOption(integerFlag('--limit <n>', 'at most so many (default 50)', { min: 1, max: 1_000 })),
  text: (rows, view) => renderTable(view, jobHeads, rows.map((row) => jobCells(view, row))),
  run: async (request, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const { limit = 50 } = request
    const found = listJobs(gov, view, session, { ...request, limit: limit + 1 })
    return cutAt(deps, found, limit, ({ job }) => job.job_id)
      .map((one) => ({ ...one, ...closureView(view, session, one.job) }))
  },
})
