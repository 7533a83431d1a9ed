/** Names and limits of the code host, each once. */
import { grantMsMax } from '../governance/connections/grant.js'

/** Field of `status`, noun of its verbs. */
export const codehostName = 'codehost'
/** Runtime of its operations; none of them costs money. */
export const codehostRuntime = 'codehost_native'
/** What every contact through a connection is filed under. */
export const codehostProfile = 'codehost.rest.v1'
/** Names the other side in route rows. */
export const codehostProvider = 'codehost'

/**
 * What may be consented to, in the order in which it is shown: every one makes something new. There
 * is no merge, no release and no update of a reference, by any name (C-029, C-040, C-042).
 */
export const codehostActions = [
  'issue.create', 'comment.create', 'git.object.create', 'git.ref.create', 'pull_request.create',
] as const
export type CodehostAction = (typeof codehostActions)[number]

/** What each action makes, for the people who consent to it. */
export const actionTexts: Readonly<Record<CodehostAction, string>> = {
  'issue.create': 'open issues',
  'comment.create': 'write comments on issues and pull requests',
  'git.object.create': 'store git objects: blobs, trees, commits',
  'git.ref.create': 'make new branches',
  'pull_request.create': 'open pull requests that are ready for review',
}

/** Limits of the code host; milliseconds and bytes. */
export const codehostLimits = {
  tokenBytesMax: 1_024,
  /** A consent of seconds would end before anything is approved. */
  grantMsMin: 60_000,
  grantMsMax,
  grantMsDefault: 1_800_000,
  /** One read that only asks what a repository is. */
  lookMsMax: 30_000,
  requestMs: 20_000,
  smallReplyBytesMax: 1_048_576,
  /** One job's effects with their readback; a publication of a whole hour is the longest. */
  jobMsMax: 3_600_000,
  followThroughMsMax: 120_000,
  /** Reading the contents of a base: 2,000 of them at the pace that a host of others likes. */
  blobsMsMax: 240_000,
  /** A creation is waited for this long: the host itself gives up after ten seconds. */
  postMs: 60_000,
  /** A standing authority, in jobs; its time is that of a consent at most. */
  standingJobsMax: 100,
  /** A sealed journal of receipts. */
  journalBytesMax: 262_144,
} as const

/** Record types of sealed content of jobs. */
export const planLabel = 'svc.codehost.plan.v1'
/** A publication's plan, a pack; see `jobs/publication/document.ts`. */
export const publicationLabel = 'svc.codehost.publication.v1'
/** The contents of its files, a pack; a body's name is the id of its blob. */
export const sourceLabel = 'svc.codehost.source.v1'
/** What the producer of an approved publication is bound to. */
export const producerLabel = 'svc.codehost.producer_binding.v1'
/** Receipts of what was read back. */
export const journalLabel = 'svc.codehost.reads.v1'
/** The account of a closure of capacity. */
export const closureLabel = 'svc.codehost.closure.v1'
/** Purpose that its tasks name; it rests on no consent but that of the connection. */
export const writePurpose = 'codehost.write'

/** The one version of the public REST description that requests name. */
export const restVersion = '2022-11-28'
