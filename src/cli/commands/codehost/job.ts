import { codehostJob, historyNames } from '../../../codehost/jobs/contract.js'
import { closureView } from '../../../codehost/closure/projection.js'
import { sealedReadText } from '../../../codehost/closure/offline/given.js'
import { showJob, shownReadback } from '../../../codehost/jobs/list.js'
import { choiceFlag } from '../../flags.js'
import { verb } from '../../verb.js'
import { shownJobText } from './job-text.js'

export const job = verb(codehostJob, {
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
  flags: (command) => command
    .argument('<job>', 'id of the job')
    .addOption(choiceFlag('--history <name>', 'print one of its histories', [...historyNames]))
    .option('--readback <id>', 'print one sealed readback alone, as canonical JSON'),
  text: shownJobText,
  run: async ({ job, history, readback }, deps) => {
    const { gov, session } = await deps.login('see')
    const view = gov.store.read()
    const shown = showJob(gov, view, session, job, history)
    return {
      ...shown, ...closureView(view, session, shown.job),
      readback: readback === undefined ? null : sealedReadText(shownReadback(view, job, readback)),
    }
  },
})
