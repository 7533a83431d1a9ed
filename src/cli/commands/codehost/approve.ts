import { Option } from 'commander'
import { codehostApprove, type ApprovedDocument } from '../../../codehost/jobs/jobs-contract.js'
import { approveJob } from '../../../codehost/jobs/approve.js'
import { followActions, giveStanding } from '../../../codehost/jobs/standing.js'
import { codehostLimits } from '../../../codehost/constants.js'
import { fail } from '../../../base/errors.js'
import { integerFlag, offered } from '../../flags.js'
import { fieldLines } from '../../text.js'
import { verb } from '../../verb.js'
import { workFor } from '../../work.js'
import { jobText } from './job-text.js'

const approvedText = ({ job, standing }: ApprovedDocument): string => {
  if (job !== null) return jobText(job)
  return standing === null ? '' : fieldLines([
    ['standing', standing.id], ['connection', standing.connection],
    ['consent', standing.consent], ['actions', standing.actions.join(', ')],
    ['until', standing.expires_at], ['jobs', `${standing.jobs_used} of ${standing.jobs_max}`],
  ])
}

const wrongFlags = () => fail.usage(
  'approve_flags', 'Give a job with --preview-digest, or --standing with all of its flags.', {
    next: 'See `sallyport codehost approve --help`.',
  },
)

type Request = ReturnType<typeof codehostApprove.request>

/** What a standing authority needs; throws where the line mixes it with the other form. */
const standingOf = (request: Request) => {
  const { job, preview_digest, connection, action, until, max_jobs } = request
  if (job !== undefined || preview_digest !== undefined) throw wrongFlags()
  if (connection === undefined || action === undefined) throw wrongFlags()
  if (until === undefined || max_jobs === undefined) throw wrongFlags()
  const actions = action.flatMap((one) => one.split(','))
  return { connectionId: connection, actions, until, jobsMax: max_jobs }
}

const exactOf = (request: Request) => {
  const { job, preview_digest: previewDigest, connection, action, until, max_jobs } = request
  const others = [connection, action, until, max_jobs].some((one) => one !== undefined)
  if (job === undefined || previewDigest === undefined || others) throw wrongFlags()
  return { jobId: job, previewDigest }
}

export const approve = verb(codehostApprove, {
  summary: 'approve exactly what a preview showed, or issues and comments for a while',
  description:
    'Approves one job by the digest that its preview ends with: any other byte, consent or session '
    + 'is another digest. With --standing it approves that many issues and comments '
    + 'beforehand. It lasts until a time and never longer than the consent. '
    + '`codehost connections --grants` lists it, `codehost revoke` ends it.',
  examples: [
    '$ sallyport codehost approve JOB --preview-digest D',
    '$ sallyport codehost approve --standing --connection ID --action comment.create '
      + '--until 2026-11-22T15:00:00Z --max-jobs 5',
  ],
  ids: { job: 'job', connection: 'connection' },
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  flags: (command) => command
    .argument('[job]', 'id of the job')
    .option('--preview-digest <digest>', 'as `codehost preview` shows it')
    .option('--standing', 'give an authority that stands for approvals')
    .option('--connection <id>', 'with --standing: its connection')
    .addOption(offered(
      new Option('--action <action...>', `with --standing: ${followActions.join(', ')}`),
      followActions,
    ))
    .option('--until <time>', 'with --standing: when it ends (ISO 8601 UTC)')
    .addOption(integerFlag('--max-jobs <n>', 'with --standing: for so many jobs', {
      min: 1, max: codehostLimits.standingJobsMax,
    })),
  text: approvedText,
  run: async (request, deps) => {
    if (request.standing === true) {
      const wanted = standingOf(request)
      const { gov, session } = await workFor(deps, 'mutate')
      return { standing: await giveStanding(gov, session, wanted) }
    }
    const exact = exactOf(request)
    const { gov, session } = await workFor(deps, 'mutate')
    const job = await approveJob(gov, session, { ...exact, producer: deps.producer })
    return { job }
  },
})
