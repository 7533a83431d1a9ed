/**
 * Why capacity stays occupied: the closed list of reasons, each with what a person can do. Nothing
 * is ever listed or searched for on the host, and no read is tried again inside one closure
 * (C-192 to C-204, C-210).
 */
import { fail, type SallyportError } from '../../base/errors.js'
import type { RetryAfter } from '../../net/retry-after.js'
import { backDetails } from '../adapter/refusal.js'

interface Blocker {
  /** One sentence: what is missing for a proof. */
  readonly text: string
  /** What a person can do; `JOB` stands for the id of the job. */
  readonly next: string
}

const again = 'Try the same request again: `sallyport codehost close-capacity JOB --retry`.'
const connectAnew = 'The connection stays occupied; for further work save another one: '
  + '`sallyport codehost connect --repo OWNER/NAME --token-file F`.'
const anew = 'sallyport codehost close-capacity JOB --idempotency-key UUID'
const withNumber = `\`${anew} --remote-id N\`, for a publication \`${anew} --pr-number N\`.`
const anotherNumber = 'Look on the host for the one of this job, and give its number under a new '
  + `key: ${withNumber} If none is there: ${connectAnew}`
const check = 'Run `sallyport state check`.'

/** Every reason. */
export const closureBlockers = {
  remote_id_required: {
    text: 'The reply with the host’s number was lost, and none was given; none is searched for.',
    next: `Look on the host, and give its number under a new key: ${withNumber}`,
  },
  remote_id_differs: {
    text: 'The host’s number is recorded, and another one was given.',
    next: `Leave it out, under a new key: \`${anew}\`.`,
  },
  pr_number_differs: {
    text: 'The number of the pull request is recorded, and another one was given.',
    next: `Leave it out, under a new key: \`${anew}\`.`,
  },
  remote_commit_differs: {
    text: 'The commit that was given is not the one of this job.',
    next: `Leave it out, its id is recorded, under a new key: \`${anew}\`.`,
  },
  remote_taken: {
    text: 'What the host has under that number proves another job: one of the two was never made.',
    next: anotherNumber,
  },
  remote_not_found: {
    text: 'The host shows nothing under that number. That proves no absence.', next: again,
  },
  readback_differs: {
    text: 'What the host has under that number is not what was sealed.',
    next: `Somebody may have edited it: put it back on the host, then try again. ${connectAnew}`,
  },
  readback_edited: {
    text: 'What the host has under that number is not what was sealed, and was edited since it was '
      + 'made.',
    next: `Put it back on the host, then try again. ${connectAnew}`,
  },
  effect_repeated: {
    text: 'Another job sent the same text in the same moments and has no number either. Without a '
      + 'mark nobody can tell which of the two it is.',
    next: `Prepare repeats of one text with \`--mark\`. ${connectAnew}`,
  },
  readback_other_time: {
    text: 'What the host has under that number says the same and was made at another time.',
    next: anotherNumber,
  },
  readback_time_missing: {
    text: 'The host does not tell when it was made, or did not tell its own time at the contact.',
    next: connectAnew,
  },
  readback_other_author: {
    text: 'What the host has under that number says the same and was made by somebody else.',
    next: anotherNumber,
  },
  readback_author_missing: {
    text: 'The host does not tell who made what it has under that number.', next: connectAnew,
  },
  readback_author_unknown: {
    text: 'The job has no mark, and the host never told whose its token is.', next: connectAnew,
  },
  readback_ambiguous: {
    text: 'The host answered with a list where one object was asked for.', next: again,
  },
  readback_malformed: { text: 'The host’s reply is not what its description says.', next: again },
  readback_encoded: {
    text: 'The host encoded its reply although none was asked for.', next: again,
  },
  readback_redirected: {
    text: 'The host names another place; no redirect is followed.', next: connectAnew,
  },
  readback_too_large: { text: 'A reply is larger than one reply may be.', next: connectAnew },
  readback_truncated: { text: 'The host’s reply was cut off.', next: again },
  host_failed: { text: 'The host failed (a status from 500).', next: again },
  host_unreachable: { text: 'The host could not be reached.', next: again },
  reply_lost: { text: 'The connection ended, or time ran out, before a reply.', next: again },
  rate_limited: {
    text: 'The host takes no more requests of this token now.', next: `Wait. ${again}`,
  },
  token_refused: {
    text: 'The host refused the token.',
    next: `Give the token its rights back on the host; another token ends it. ${connectAnew}`,
  },
  repository_replaced: {
    text: 'Another repository has taken the place of the one of this job.', next: connectAnew,
  },
  deadline_elapsed: { text: 'The window of the reads is over.', next: again },
  gets_exceeded: { text: 'The evidence takes more reads than one closure has.', next: connectAnew },
  bytes_exceeded: { text: 'The replies are more bytes than one closure has.', next: connectAnew },
  decoded_bytes_exceeded: {
    text: 'The objects that were read are more bytes than one closure has.', next: connectAnew,
  },
  pages_exceeded: {
    text: 'The pull request changes more files than one closure reads pages of.',
    next: connectAnew,
  },
  files_exceeded: {
    text: 'The publication has more files than one closure proves.', next: connectAnew,
  },
  files_bytes_exceeded: {
    text: 'The files of the publication are more bytes than one closure proves.',
    next: connectAnew,
  },
  file_bytes_exceeded: {
    text: 'A file of the publication is larger than one closure proves.', next: connectAnew,
  },
  journals_exceeded: {
    text: 'The journals of what was read are larger than those of one closure may be.',
    next: connectAnew,
  },
  changed_paths_missing: {
    text: 'The host does not tell which files the pull request changes.',
    next: `Without that nothing proves it. ${connectAnew}`,
  },
  changed_paths_truncated: {
    text: 'The host tells of fewer, or of more, changed files than the pull request has.',
    next: again,
  },
  changed_paths_differ: {
    text: 'The pull request does not change exactly the files of this publication.',
    next: `Look on the host what was pushed to its branch or its base. ${connectAnew}`,
  },
  changed_path_renamed: {
    text: 'The host takes a file of the pull request for a renamed one; none was.',
    next: connectAnew,
  },
  prepared_bytes_missing: { text: 'The sealed original bytes are missing.', next: check },
  prepared_bytes_altered: { text: 'The sealed original bytes are not their own.', next: check },
  effect_kind_unknown: {
    text: 'The plan holds an effect whose kind is not known.', next: connectAnew,
  },
  inventory_incomplete: {
    text: 'The ledger does not hold exactly the effects that job and plan imply.', next: check,
  },
  unidentified_intent: {
    text: 'The ledger names an effect that the plan does not have.', next: check,
  },
  producer_running: {
    text: 'The local work of this job is under way: its supervisor holds its guard.',
    next: `Wait for its end. ${again}`,
  },
  producer_stage_missing: {
    text: 'The folder of the local work is gone, or is not the one that was approved.',
    next: connectAnew,
  },
  producer_stage_changed: {
    text: 'The folder of the local work was changed after its end was written down.',
    next: connectAnew,
  },
  producer_helper_changed: {
    text: 'The program of the local work is not the one that was approved.', next: connectAnew,
  },
  producer_binding_changed: {
    text: 'The local work is not the one that was approved and begun.', next: connectAnew,
  },
  producer_start_missing: {
    text: 'Nothing was written down before the local work was begun.', next: connectAnew,
  },
  producer_start_invalid: {
    text: 'What was written down before the local work was begun is not its own.',
    next: connectAnew,
  },
  producer_marker_missing: {
    text: 'Nothing was written down at the end of the local work: its supervisor died before, or '
      + 'something of it lives.',
    next: connectAnew,
  },
  producer_marker_ambiguous: {
    text: 'Several ends of the local work are written down.', next: connectAnew,
  },
  producer_marker_invalid: {
    text: 'What is written down of the end of the local work is not its own.', next: connectAnew,
  },
  producer_marker_legacy: {
    text: 'What is written down of the end of the local work has an older form.',
    next: connectAnew,
  },
  producer_marker_late: {
    text: 'The local work ended after its time was over.', next: connectAnew,
  },
  producer_marker_differs: {
    text: 'The end of the local work that is written down is not the one of the ledger.',
    next: connectAnew,
  },
  producer_unproved: {
    text: 'Nothing proves that the local work of this job has ended.', next: connectAnew,
  },
  history_full: {
    text: 'A history of this job has no room for what a closure appends.', next: connectAnew,
  },
  artifact_too_large: {
    text: 'The account of this closure is larger than one may be.', next: connectAnew,
  },
  artifact_conflict: {
    text: 'Other bytes lie under the name of the account of this closure.', next: check,
  },
} as const satisfies Readonly<Record<string, Blocker>>

/** A reason for which capacity stays occupied. */
export type ClosureBlocker = keyof typeof closureBlockers

/** The refusal of a closure for one of the reasons; nothing was changed. */
export const closureBlocked = (
  reason: ClosureBlocker, jobId: string, cause?: unknown, back: RetryAfter | null = null,
): SallyportError => {
  const { text, next } = closureBlockers[reason]
  return fail.blocked('closure_blocked', `${text} Nothing was closed.`, {
    reason, next: next.replaceAll('JOB', jobId),
    details: { job_id: jobId, ...backDetails(back) },
    ...(cause === undefined ? {} : { cause }),
  })
}
