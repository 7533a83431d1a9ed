/**
 * What a follow-through job will send, sealed when it is prepared and never changed: exact path and
 * bytes of its one POST. What is sent, previewed and compared with a readback comes from here.
 */
import * as v from 'valibot'
import { counted, sha256 } from '../../base/schema.js'
import { canonicalJson, digestOf, sha256Hex } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { Gov } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { codehostActions, planLabel } from '../constants.js'
import { hostPath, repositoryOf } from '../repository.js'
import { effectHistory, jobEntries } from './histories.js'
import { isWholeAuthority } from './digests.js'
import { effectLedger } from './effects.js'
import type { Job } from './job-rows.js'

const effectShape = v.strictObject({
  number: counted,
  effect_id: v.string(),
  action: v.picklist(codehostActions),
  path: v.string(),
  /** The body, byte for byte. */
  body: v.string(),
  body_sha256: sha256,
  /** Made once for this effect; it tells two effects of the same bytes apart. */
  idempotency: v.string(),
})
/** One POST of a plan. */
export type PlannedEffect = v.InferOutput<typeof effectShape>

const planShape = v.strictObject({
  schema: v.literal('svc.codehost.plan.v1'),
  job_id: v.string(),
  host: v.string(),
  repository: v.string(),
  /** Null where an issue is opened. */
  title: v.nullable(v.string()),
  text: v.string(),
  /** The issue or pull request that is commented on; null where an issue is opened. */
  issue: v.nullable(counted),
  effects: v.pipe(v.array(effectShape), v.minLength(1)),
})
/** A sealed plan of a follow-through job. */
export type FollowPlan = v.InferOutput<typeof planShape>

/** What somebody wants to say on the host. */
export type FollowWish =
  | { readonly what: 'issue'; readonly title: string; readonly body: string }
  | { readonly what: 'comment'; readonly issue: number; readonly body: string }

/** What a consent must allow for it. */
export const actionOf = ({ what }: FollowWish): 'issue.create' | 'comment.create' =>
  (what === 'issue' ? 'issue.create' : 'comment.create')

const bodyOf = (wish: FollowWish): string => JSON.stringify(
  wish.what === 'issue' ? { title: wish.title, body: wish.body } : { body: wish.body },
)

const pathOf = (repository: string, wish: FollowWish): string => {
  const name = repositoryOf(repository)
  return wish.what === 'issue' ? hostPath.issues(name) : hostPath.comments(name, wish.issue)
}

/** The plan of a wish; its one effect has ids of its own. */
export const followPlan = (of: {
  readonly jobId: string
  readonly host: string
  readonly repository: string
  readonly wish: FollowWish
  readonly effectId: string
  readonly idempotency: string
}): FollowPlan => {
  const { jobId, host, repository, wish, effectId, idempotency } = of
  const body = bodyOf(wish)
  return {
    schema: 'svc.codehost.plan.v1', job_id: jobId, host, repository,
    title: wish.what === 'issue' ? wish.title : null, text: wish.body,
    issue: wish.what === 'comment' ? wish.issue : null,
    effects: [{
      number: 1, effect_id: effectId, action: actionOf(wish), path: pathOf(repository, wish), body,
      body_sha256: sha256Hex(body), idempotency,
    }],
  }
}

/** The bytes that are sealed. */
export const planBytes = (plan: FollowPlan): Buffer => Buffer.from(canonicalJson(plan))

const altered = () => fail.damaged('plan_altered', 'The sealed plan of a job is not its own.', {
  next: 'Run `sallyport state check`.',
})

/** The plan is the one that the ledger registered, of this very job, bodies and digests intact. */
const requireIntact = (view: View, job: Job, plan: FollowPlan): void => {
  const { plan: registered } = effectLedger(jobEntries(view, effectHistory, job.job_id))
  const same = registered?.sha256 === job.plan.sha256 && digestOf(plan) === job.plan.sha256
    && registered.authority_sha256 === job.authority_sha256 && isWholeAuthority(job)
    && registered.effects === plan.effects.length && plan.job_id === job.job_id
    && plan.effects.every(({ body, body_sha256: sha }) => sha256Hex(body) === sha)
  if (!same) throw altered()
}

/**
 * Opens the plan of a job. Throws `not_found` and `damaged` where it is missing or altered; nothing
 * is sent or settled without it (C-106).
 */
export const openPlan = (gov: Pick<Gov, 'store'>, view: View, job: Job): FollowPlan => {
  const bytes = readArtifact(gov, view, job.plan.artifact_id, planLabel)
  const parsed = v.safeParse(planShape, JSON.parse(bytes.toString('utf8')))
  if (!parsed.success) throw altered()
  requireIntact(view, job, parsed.output)
  return parsed.output
}

export const effectOf = (plan: FollowPlan, number: number): PlannedEffect => {
  const found = plan.effects.find((one) => one.number === number)
  if (found === undefined) throw altered()
  return found
}
