/**
 * What the host says of an issue or a comment, compared with what a plan sends: by the reply to its
 * creation and by every readback alike, so that neither takes another one for it.
 */
import type { FollowPlan } from '../jobs/plan.js'
import { readReply } from '../replies/parse-reply.js'
import { hostPath, repositoryOf } from '../repository.js'
import { apartFromEdits, type ToldOrigin } from './provenance.js'

/** What is told of one. */
export interface FollowTold {
  /** The number of an issue, or the id of a comment. */
  readonly remoteId: number
  /** It is of the plan's kind, repository and place. */
  readonly inPlace: boolean
  /** Its text is the one that the plan sends. */
  readonly sameText: boolean
  /** What was told, as far as it is read. */
  readonly payload: ToldOrigin
  /** It was changed since it was made. */
  readonly edited: boolean
}

/** An empty text comes back as none. */
export const sameText = (told: string | null, sealed: string): boolean => (told ?? '') === sealed

/** The address of something of the plan's repository. */
const addressOf = ({ host }: FollowPlan, path: string): string => `${host}${path}`

/** An issue. Throws where the reply is not whole. */
export const issueTold = (plan: FollowPlan, body: Uint8Array): FollowTold => {
  const told = readReply('issue', body)
  const isPull = told.pull_request !== undefined && told.pull_request !== null
  const repository = addressOf(plan, hostPath.repository(repositoryOf(plan.repository)))
  return {
    remoteId: told.number, ...apartFromEdits(told),
    inPlace: !isPull && (told.repository_url ?? repository) === repository,
    sameText: told.title === plan.title && sameText(told.body, plan.text),
  }
}

/** A comment. Throws where the reply is not whole. */
export const commentTold = (plan: FollowPlan, body: Uint8Array): FollowTold => {
  const told = readReply('comment', body)
  const issue = addressOf(plan, hostPath.issue(repositoryOf(plan.repository), plan.issue ?? 0))
  return {
    remoteId: told.id, ...apartFromEdits(told),
    inPlace: told.issue_url === issue, sameText: sameText(told.body, plan.text),
  }
}
