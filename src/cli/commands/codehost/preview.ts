import { codehostPreview } from '../../../codehost/jobs/preview-contract.js'
import { previewJob } from '../../../codehost/jobs/preview.js'
import { diffPublication } from '../../../codehost/jobs/publication/diff.js'
import { fail } from '../../../base/errors.js'
import { verb, type VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { previewText } from './job-text.js'

const withDiff = async (jobId: string, deps: VerbDeps) => {
  const { gov, session } = await workFor(deps, 'mutate')
  const preview = previewJob(gov, session, jobId)
  if (preview.publication === null) {
    throw fail.usage('preview_flags', 'Only a publication has a --diff.', {
      next: `Leave it out: \`sallyport codehost preview ${jobId}\`.`,
    })
  }
  const diff = await diffPublication(codehostContext(deps, gov), session, preview.job)
  return { ...preview, diff }
}

export const preview = verb(codehostPreview, {
  summary: 'look at exactly what a job will send',
  description:
    'Shows every creation of a job in order, what it says and what it takes. It tells what is left '
    + 'of the consent and session that the job rests on. `codehost approve` names the digest at '
    + 'its end. It contacts nobody and changes nothing. With --diff it reads files of the base (at '
    + 'most 200, GET alone) and shows what a publication changes there as a patch.',
  examples: [
    '$ sallyport codehost preview JOB', '$ sallyport codehost preview JOB --json',
    '$ sallyport codehost preview JOB --diff',
  ],
  of: 'job',
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'remote', 'locked'],
  flags: (command) => command
    .option('--diff', 'also what a publication changes on the base, as a patch'),
  // A line of a patch that was broken would read as two.
  text: (shown, view) => ({
    out: previewText(shown, view), exact: (shown.publication?.diff ?? null) !== null,
  }),
  run: async ({ job, diff }, deps) => {
    if (diff === true) return withDiff(job, deps)
    const { gov, session } = await deps.login('see')
    return { ...previewJob(gov, session, job), diff: null }
  },
})
