/**
 * Why capacity stays occupied: the closed list of reasons, each with what a person can do. Nothing
 * is ever listed or searched for on the host, and no read is tried again inside one closure
 * (C-192 to C-204, C-210).
 */
import { fail, type SallyportError } from '../../base/errors.js'

interface Blocker {
  /** One sentence: what is missing for a proof. */
  readonly text: string
  /** What a person can do; `JOB` stands for the id of the job. */
  readonly next: string
}

const again = 'Try the same request again: sallyport codehost close-capacity JOB --retry'
const connectAnew = 'The connection stays occupied; for further work save another one: '
  + 'sallyport codehost connect --repo OWNER/NAME --token-file F'
const check = 'Run `sallyport state check`.'

/** Every reason. */
export const closureBlockers = {
  remote_id_required: {
    text: 'The reply with the host’s number was lost, and none was given. Nothing is searched for.',
    next: 'Look on the host; discard this request (sallyport codehost discard JOB) and close with '
      + '--remote-id N.',
  },
  remote_id_differs: {
    text: 'The host’s number is recorded, and another one was given.',
    next: 'Discard this request (sallyport codehost discard JOB) and close without --remote-id.',
  },
  remote_not_found: {
    text: 'The host shows nothing under that number. That proves no absence.', next: again,
  },
  readback_differs: {
    text: 'What the host has under that number is not what was sealed.',
    next: `Somebody may have edited it: put it back on the host, then try again. ${connectAnew}`,
  },
  readback_ambiguous: {
    text: 'The host answered with a list where one object was asked for.', next: again,
  },
  readback_malformed: {
    text: 'The host’s reply is not what its description says.', next: again,
  },
  readback_encoded: {
    text: 'The host encoded its reply although none was asked for.', next: again,
  },
  readback_redirected: {
    text: 'The host names another place; no redirect is followed.', next: connectAnew,
  },
  readback_too_large: {
    text: 'A reply is larger than one reply may be.', next: connectAnew,
  },
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
  kind_not_closable_yet: {
    text: 'Evidence for this kind of job is not read yet.', next: connectAnew,
  },
} as const satisfies Readonly<Record<string, Blocker>>

/** A reason for which capacity stays occupied. */
export type ClosureBlocker = keyof typeof closureBlockers

/** The refusal of a closure for one of the reasons; nothing was changed. */
export const closureBlocked = (
  reason: ClosureBlocker, jobId: string, cause?: unknown,
): SallyportError => {
  const { text, next } = closureBlockers[reason]
  return fail.blocked('closure_blocked', `${text} Nothing was closed.`, {
    reason, next: next.replaceAll('JOB', jobId), details: { job_id: jobId },
    ...(cause === undefined ? {} : { cause }),
  })
}
