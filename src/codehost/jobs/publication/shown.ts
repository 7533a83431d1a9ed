/** What a person sees of a publication before approving it, out of its sealed plan. */
import type { Gov } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import type { CodehostAction } from '../../constants.js'
import type { Change } from '../../plan/changes.js'
import type { PlannedPost } from '../../plan/posts.js'
import { hostPath, repositoryOf } from '../../repository.js'
import type { SourceMark } from '../../source/marks.js'
import type { Job } from '../job-rows.js'
import type { PlannedProducer } from './document.js'
import { openPublication, type OpenPublication } from './open.js'

interface ShownChange extends Pick<Change, 'path' | 'mode' | 'id' | 'bytes' | 'text'> {
  readonly what: 'new' | 'changed' | 'mode'
  /** What the base has there. */
  readonly before: Change['before']
  readonly marks: readonly SourceMark[]
}

interface ShownPost extends Pick<PlannedPost,
  'number' | 'kind' | 'path' | 'id' | 'files' | 'bytes'> {
  readonly action: CodehostAction
  readonly body_sha256: string
}

/** A publication as it is shown. */
export interface ShownPublication extends Pick<OpenPublication,
  'host' | 'repository' | 'branch' | 'title' | 'body' | 'files' | 'commit'> {
  readonly base: { readonly branch: string, readonly commit: string, readonly tree: string }
  /** Id of the final tree. */
  readonly tree: string
  /** `NAME <ADDRESS>`, and the message of the commit. */
  readonly author: string
  readonly message: string
  /** New files first, then those that change; each by path. */
  readonly changes: readonly ShownChange[]
  readonly posts: readonly ShownPost[]
  /** What a run reads before the first POST and after the last. */
  readonly gets: readonly string[]
  readonly producer: PlannedProducer
}

const whatOf = ({ before, id }: Change): ShownChange['what'] =>
  (before === null ? 'new' : before.id === id ? 'mode' : 'changed')

const order: readonly ShownChange['what'][] = ['new', 'changed', 'mode']

const changesOf = ({ changes, marks }: OpenPublication): readonly ShownChange[] =>
  changes.map((change): ShownChange => {
    const { path, mode, id, bytes, text, before } = change
    return {
      path, mode, id, bytes, text, before, what: whatOf(change), marks: marks.get(path) ?? [],
    }
  }).sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what))

const getsOf = ({ repository, base, branch, tree, commit }: OpenPublication): readonly string[] => {
  const name = repositoryOf(repository)
  const made = hostPath.branch(name, branch)
  return [
    hostPath.repository(name), hostPath.branch(name, base.branch), made,
    hostPath.tree(name, tree.id), hostPath.commit(name, commit), made,
    `${hostPath.pulls(name)}/N`,
  ]
}

const shownOf = (open: OpenPublication): ShownPublication => {
  const { host, repository, branch, title, body, files, commit, base, tree, draft } = open
  return {
    host, repository, branch, title, body, files, commit, tree: tree.id,
    base: { branch: base.branch, commit: base.commit, tree: base.tree.id },
    author: `${draft.author.name} <${draft.author.email}>`, message: draft.message,
    changes: changesOf(open),
    posts: open.posts.map(({ number, kind, action, path, id, files: of, bytes, body_sha256 }) =>
      ({ number, kind, action, path, id, files: of, bytes, body_sha256 })),
    gets: getsOf(open), producer: open.producer,
  }
}

/** What is shown, every content compared with its digest. Throws what `openPublication` throws. */
export const shownPublication = (
  gov: Pick<Gov, 'store'>, view: View, job: Job,
): ShownPublication => {
  const open = openPublication(gov, view, job)
  try {
    open.verify()
    return shownOf(open)
  } finally {
    open.close()
  }
}
