/**
 * Seals what a publication will send: the digest of every body is taken from the sealed contents
 * themselves, so that what is registered is what can be opened again.
 */
import { createHash, randomUUID } from 'node:crypto'
import { sha256Hex } from '../../../base/canonical.js'
import { newId } from '../../../base/ids.js'
import type { ArtifactRef, Artifacts, PackReader } from '../../../state/types.js'
import { publicationLabel, sourceLabel } from '../../constants.js'
import type { CommitDraft } from '../../git/commit.js'
import { bodyPieces } from '../../plan/body.js'
import type { Change } from '../../plan/changes.js'
import type { PlannedPost } from '../../plan/posts.js'
import type { PublicationInput, PublicationPlan } from '../../plan/publication.js'
import { gitArguments, gitEnvironment, supervisorEnvironment } from '../../producer/git-command.js'
import { manifestBytes, manifestOf } from '../../producer/manifest.js'
import type { ProducerTools } from '../../producer/tools.js'
import type { SourceMark } from '../../source/marks.js'
import {
  bodyNames, documentBytes, type PlannedProducer, type PublicationDocument, type RegisteredEffect,
} from './document.js'

interface PublicationSeal {
  readonly jobId: string
  /** `OWNER/NAME`. */
  readonly repository: string
  readonly input: PublicationInput
  readonly plan: PublicationPlan
  readonly marks: ReadonlyMap<string, readonly SourceMark[]>
  readonly tools: ProducerTools
  /** The pack of the folder's contents, sealed already. */
  readonly contents: ArtifactRef
}

/** What was sealed: the plan, whose digest names everything else, and the id of the contents. */
export interface SealedPublication {
  readonly plan: ArtifactRef
  readonly contentsId: string
}

const digestOfBody = async (
  pack: PackReader, changes: readonly Change[], post: PlannedPost,
): Promise<string> => {
  const digest = createHash('sha256')
  const piecesOf = (at: number) => pack.chunks(changes[at]?.id ?? '')
  for await (const piece of bodyPieces(post, piecesOf)) digest.update(piece)
  return digest.digest('hex')
}

const registered = async (
  artifacts: Artifacts, { contents, plan }: PublicationSeal,
): Promise<RegisteredEffect[]> => {
  const pack = artifacts.openPack(sourceLabel, contents)
  try {
    const effects: RegisteredEffect[] = []
    for (const post of plan.posts) {
      const { number, action, path, id, bytes } = post
      effects.push({
        number, action, path, id, bytes, body_sha256: await digestOfBody(pack, plan.changes, post),
        idempotency: randomUUID(), effect_id: newId('eff'),
      })
    }
    return effects
  } finally {
    pack.close()
  }
}

const producerOf = ({ tools, plan, input }: PublicationSeal): PlannedProducer => {
  const draft: CommitDraft = { ...input.commit, tree: plan.tree.id, parents: [input.base.commit] }
  const { blobs, trees, commit } = gitArguments(draft)
  return {
    helper: { ...tools.helper }, node: { ...tools.node }, git: { ...tools.git },
    addon: { ...tools.addon },
    arguments: { blobs: [...blobs], trees: [...trees], commit: [...commit] },
    environment: { supervisor: { ...supervisorEnvironment }, git: { ...gitEnvironment(draft) } },
    manifest_sha256: sha256Hex(manifestBytes(manifestOf(plan, input.base.tree, draft))),
  }
}

const documentFor = (
  seal: PublicationSeal, contentsId: string, posts: RegisteredEffect[],
): PublicationDocument => {
  const { jobId, repository, input, plan, marks, contents } = seal
  const { author, committer, message } = input.commit
  return {
    schema: 'svc.codehost.publication.v1', job_id: jobId, host: input.host.base, repository,
    base: { branch: input.base.branch, commit: input.base.commit, tree: input.base.tree.id },
    branch: input.branch, title: input.title, body: input.body,
    people: { author: { ...author }, committer: { ...committer } }, message,
    files: input.files.length,
    changes: plan.changes.map(({ path, mode, id, bytes, text, jsonBytes }) =>
      [path, mode, id, bytes, text, jsonBytes]),
    marks: [...marks].map(([path, of]) => [path, [...of]]),
    contents: { artifact_id: contentsId, ...contents },
    posts, tree: plan.tree.id, commit: plan.commit, producer: producerOf(seal),
  }
}

/**
 * Seals the plan; durable when it returns, registered by nobody yet. Throws the disk's failures and
 * what opening the contents again throws; then nothing of it is left.
 */
export const sealPublication = async (
  artifacts: Artifacts, seal: PublicationSeal,
): Promise<SealedPublication> => {
  const contentsId = newId('art')
  const document = documentFor(seal, contentsId, await registered(artifacts, seal))
  const pack = artifacts.writePack(publicationLabel)
  try {
    pack.add(bodyNames.plan, documentBytes(document))
    pack.add(bodyNames.base, documentBytes(
      [...seal.input.base.tree.listing()].map(({ path, mode, id }) => [path, mode, id])))
    return { plan: pack.finish(), contentsId }
  } catch (error) {
    pack.abandon()
    throw error
  }
}
