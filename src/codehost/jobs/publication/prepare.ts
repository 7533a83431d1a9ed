/**
 * Preparing a publication: everything that can be told here is checked first; then the base is read
 * by GET, the folder is read once and sealed, the plan is made and sealed, and one record writes
 * the job. No task is made and no connection occupied.
 */
import { digestOf } from '../../../base/canonical.js'
import { fail, SallyportError } from '../../../base/errors.js'
import { newId } from '../../../base/ids.js'
import { discardUnnamed, type Tried } from '../../../governance/artifacts.js'
import { newRequestKey } from '../../../governance/board/lost-keys.js'
import { nowIso, type Session } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { liveSession } from '../../../governance/session/live.js'
import type { ArtifactRef, View } from '../../../state/types.js'
import { readBase, type BaseOnHost } from '../../adapter/base.js'
import { afterRead } from '../../after-read.js'
import { publicationLabel, sourceLabel, type CodehostAction } from '../../constants.js'
import { codehostBase, type CodehostContext } from '../../context.js'
import { dateOf, personOf } from '../../git/commit.js'
import { newMark, withMark } from '../../plan/mark.js'
import {
  planPublication, requirePublicationTexts, type PublicationInput, type PublicationPlan,
  type PublicationTexts,
} from '../../plan/publication.js'
import { findTools, type ProducerTools } from '../../producer/tools.js'
import { repositoryOf } from '../../repository.js'
import { readSource, surveySource } from '../../source/read-folder.js'
import type { SourceMark } from '../../source/marks.js'
import { requirePrerequisites, type Asked } from '../boundary.js'
import { effectEntryBytesMax } from '../histories.js'
import { publicationKind } from '../kinds.js'
import { requireOutlives } from '../outlive.js'
import {
  draftOf, plannedJob, replayed, writeJob, type JobDraft, type JobWish,
} from '../prepared.js'
import { requirePush, requireRepository } from '../preflight.js'
import type { Job } from '../job-rows.js'
import { followLine, numberedBranch, withFollowed } from '../series.js'
import { earlierPosts } from '../earlier-posts.js'
import { requireSameSource } from './same-source.js'
import { sealPublication, type SealedPublication } from './seal.js'
import { refuseTooLarge, requireNoLfsContent } from './lfs-content.js'

/** What somebody wants to have published. */
export interface PublicationRequest {
  readonly connectionId: string
  /** The folder, absolute, and the folders that are never published. */
  readonly source: string
  readonly ownFolders: readonly string[]
  /** The branch to start from, and the one to make. */
  readonly base: string
  readonly branch: string
  /** Whether `{id}` in the name of the new branch stands for the job; left out: it is a name. */
  readonly numbered?: boolean | undefined
  /** Of the pull request; an empty body is one. */
  readonly title: string
  readonly body: string
  /** Whether a line with a nonce of the job goes behind the body. */
  readonly mark?: boolean | undefined
  /** `NAME <ADDRESS>`. */
  readonly author: string
  /** Of the commit; left out: the title and a line end. */
  readonly message?: string | undefined
  /** Left out: the owner's default goal. */
  readonly goalId?: string | undefined
  /** Left out: a new one. */
  readonly idempotencyKey?: string | undefined
}

/** Every publication needs all three; a consent that lacks one is of no use to it. */
export const publicationActions: readonly CodehostAction[] = [
  'git.object.create', 'git.ref.create', 'pull_request.create',
]

/** Growth, commit, branch and pull request: there is no smaller publication. */
const postsMin = 4

const textsOf = (
  request: PublicationRequest, { jobId, mark, numbered }: JobWish, wallMs: number,
): PublicationTexts => {
  const { base, branch, title, body, author, message = `${title}\n` } = request
  const person = { ...personOf(author), date: dateOf(wallMs) }
  return {
    base: { branch: base }, title, body: withMark(body, mark),
    branch: numbered === undefined ? branch : numberedBranch(branch, jobId),
    commit: { author: person, committer: person, message },
  }
}

/** The same where the body names the pull request that this one follows. */
const followingTexts = (
  { request, wish, wallMs }: {
    readonly request: PublicationRequest
    readonly wish: JobWish
    readonly wallMs: number
  }, line: string | null,
): PublicationTexts =>
  textsOf({ ...request, body: withFollowed(request.body, line) }, wish, wallMs)

const wishOf = (view: View, request: PublicationRequest): JobWish => {
  const { connectionId, source, base, branch, title, body, author, message } = request
  const { goalId, idempotencyKey, mark = false, numbered = false } = request
  const asked = { source, base, branch, title, body, author, message }
  return {
    kind: publicationKind, jobId: newId('job'), connectionId, goalId,
    actions: publicationActions,
    ...(mark ? { mark: newMark() } : {}), ...(numbered ? { numbered: branch } : {}),
    request: {
      kind: publicationKind, key: (idempotencyKey ?? newRequestKey(view)).toLowerCase(),
      digest: digestOf({
        kind: publicationKind, connection: connectionId, asked, goal: goalId ?? null,
        // The nonce is no part of what was asked for.
        ...(mark ? { mark } : {}), ...(numbered ? { numbered } : {}),
      }),
    },
  }
}

interface Preparing {
  readonly ctx: CodehostContext
  readonly session: Session
  readonly request: PublicationRequest
  readonly texts: PublicationTexts
  readonly wish: JobWish
  readonly asked: Asked
  /** What it rests on, as it was before anybody was asked. */
  readonly draft: JobDraft
  readonly tools: ProducerTools
}

const zeros = '0'.repeat(64)

/** The job before its plan is known, for what asks what it rests on and how long it takes. */
const provisional = (draft: JobDraft, host: string): Job => plannedJob(draft, host, {
  input: null, plan: { artifact_id: '', sha256: zeros, effects: postsMin },
})

/** Everything that can be told without asking anybody. */
const begun = async (
  ctx: CodehostContext, session: Session, request: PublicationRequest, wish: JobWish,
): Promise<Preparing> => {
  const { gov } = ctx
  const wallMs = gov.clock.wallMs()
  const view = gov.store.read()
  const asked = { gov, sealedHost: codehostBase(gov), askedHost: ctx.baseUrl }
  const draft = draftOf(gov.store, view, session, nowIso(gov), wish)
  const texts = followingTexts({ request, wish, wallMs }, followLine(view, draft, request.branch))
  requirePublicationTexts(texts)
  const job = provisional(draft, ctx.baseUrl)
  requirePrerequisites('followThrough', asked, view, job)
  requireOutlives(gov, view, job)
  surveySource({ dir: request.source, ownFolders: request.ownFolders })
  const tools = await findTools(ctx.producer)
  return { ctx, session, request, texts, wish, asked, draft, tools }
}

/** What each boundary of a read asks: all that the job rests on. */
const requiresOf = ({ ctx, asked, draft }: Preparing) => {
  const job = provisional(draft, ctx.baseUrl)
  return (view: View): void => requirePrerequisites('followThrough', asked, view, job)
}

/** The base, read in an operation of its own. */
const baseOf = async (preparing: Preparing): Promise<BaseOnHost> => {
  const { ctx, session, request, texts, draft } = preparing
  const base = await readBase(ctx, session, {
    connectionId: request.connectionId, base: request.base, branch: texts.branch,
    requires: requiresOf(preparing),
  })
  requireRepository(provisional(draft, ctx.baseUrl), base.repository, false)
  requirePush(draft, base.repository)
  return base
}

const inputOf = (
  { ctx, texts, draft }: Preparing, { commit, tree }: BaseOnHost,
  files: PublicationInput['files'],
): PublicationInput => {
  const { gov, baseUrl } = ctx
  return {
    ...texts, files, base: { branch: texts.base.branch, commit, tree },
    repository: repositoryOf(draft.repository),
    host: {
      base: baseUrl, loopback: deploymentProfile(gov.store).loopback,
      earlierPosts: earlierPosts(gov.store.read(), draft.token_fingerprint, gov.clock.wallMs()),
    },
    historyEntryBytes: () => effectEntryBytesMax,
  }
}

interface Planned {
  readonly input: PublicationInput
  readonly plan: PublicationPlan
  readonly marks: ReadonlyMap<string, readonly SourceMark[]>
  readonly contents: ArtifactRef
}

const planned = async (preparing: Preparing, base: BaseOnHost): Promise<Planned> => {
  const { ctx: { gov, signal }, request: { source, ownFolders } } = preparing
  const { connectionId } = preparing.request
  const requires = requiresOf(preparing)
  const folder = await readSource({
    dir: source, base: base.tree, artifacts: gov.store.artifacts, ownFolders, signal,
    tooLarge: (path, before) => refuseTooLarge(preparing.ctx, preparing.session, {
      connectionId, sizes: base.sizes, requires, path, before,
    }),
  })
  try {
    const input = inputOf(preparing, base, folder.files)
    const plan = planPublication(input)
    await requireNoLfsContent(preparing.ctx, preparing.session, {
      connectionId, sizes: base.sizes, changes: plan.changes,
      lfsPointers: folder.lfsPointers, requires,
    })
    await gov.observer.at('codehost.planned')
    return { input, plan, marks: folder.marks, contents: folder.seal() }
  } catch (error) {
    folder.abandon()
    throw error
  }
}

const write = (
  { ctx: { gov }, session, wish, asked, draft }: Preparing, { input, plan, contents }: Planned,
  sealed: SealedPublication, tried: Tried,
): Promise<Job> =>
  gov.store.transact('codehost prepare', tried((named, tx) => {
    const now = nowIso(gov)
    const current = liveSession(tx, gov, session.root.root_id)
    const again = replayed(tx, current, wish.request)
    if (again !== null) return again
    const artifactId = newId('art')
    const { branch, title, body, commit, base } = input
    const job = plannedJob({ ...draft, created_at: now, updated_at: now }, input.host.base, {
      input: {
        base: { branch: base.branch, commit: base.commit }, branch, title, body,
        message: commit.message, contents: contents.sha256,
      },
      plan: { artifact_id: artifactId, sha256: sealed.plan.sha256, effects: plan.posts.length },
    })
    requirePrerequisites('followThrough', asked, tx, job)
    requireOutlives(gov, tx, job)
    named()
    return writeJob(tx, now, job, [
      { artifactId, label: publicationLabel, ref: sealed.plan },
      { artifactId: sealed.contentsId, label: sourceLabel, ref: contents },
    ])
  }))

/** Seals and writes. */
const kept = async (preparing: Preparing, base: BaseOnHost): Promise<Job> => {
  const { store } = preparing.ctx.gov
  const made = await planned(preparing, base)
  const { input, plan, marks, contents } = made
  const stored = [contents.stored_sha256]
  return discardUnnamed(store, stored, async (tried) => {
    const sealed = await sealPublication(store.artifacts, {
      jobId: preparing.wish.jobId, repository: preparing.draft.repository, input, plan, marks,
      tools: preparing.tools, contents,
    })
    stored.push(sealed.plan.stored_sha256)
    return write(preparing, made, sealed, tried)
  })
}

/**
 * The job that this key made, where the folder still is what was sealed of it: a key of other
 * content is a key of another request. Throws `conflict` `idempotency_conflict` reason `source`.
 */
const sameAgain = async (
  { gov, signal }: CodehostContext, job: Job, request: PublicationRequest,
): Promise<Job> => {
  try {
    await gov.observer.at('codehost.asked_again')
    await requireSameSource(gov, job, { ...request, signal })
    return job
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code !== 'source_not_as_shown') throw error
    throw fail.conflict('idempotency_conflict',
      'The folder is not what it was when this key made its job.', {
        reason: 'source', details: { ...error.details, job_id: job.job_id }, cause: error,
        next: `See what became of that one: \`sallyport codehost jobs ${job.job_id}\`. Another `
          + 'key publishes the folder as it is now.',
      })
  }
}

/**
 * Prepares a publication. The same key, request and content of the folder give the first job again,
 * with nobody asked. Throws what is wrong with texts, folder and plan (`rejected`; `conflict`
 * `source_changed`), with the consent (`unauthorized`), `producer_unsupported` (blocked), and what
 * the host refuses or has otherwise. What is thrown after the host was asked has a status that says
 * so.
 */
export const preparePublication = async (
  ctx: CodehostContext, session: Session, request: PublicationRequest,
): Promise<Job> => {
  const wish = wishOf(ctx.gov.store.read(), request)
  const earlier = replayed(ctx.gov.store.read(), session, wish.request)
  if (earlier !== null) return sameAgain(ctx, earlier, request)
  const preparing = await begun(ctx, session, request, wish)
  const base = await baseOf(preparing)
  try {
    return await kept(preparing, base)
  } catch (error) {
    throw error instanceof SallyportError ? afterRead(error) : error
  }
}
