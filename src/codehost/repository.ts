/** Names of repositories and the exact request paths that are built from them. */
import { fail } from '../base/errors.js'
import { branchReason } from './git/branch-name.js'
import { isObjectId } from './git/object-id.js'

/** A repository by its names, as the host's paths have them. */
export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

const ownerForm = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$/
const nameForm = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

/** Whether both names are of the form that the host gives out; no wildcard, no path. */
export const isRepositoryName = ({ owner, name }: RepositoryName): boolean =>
  ownerForm.test(owner) && nameForm.test(name)

/** `owner/name`, split. Throws `repository_name_invalid` (rejected); the text is not quoted. */
export const repositoryOf = (text: string): RepositoryName => {
  const [owner = '', name = '', ...more] = text.split('/')
  if (more.length === 0 && isRepositoryName({ owner, name })) return { owner, name }
  throw fail.rejected('repository_name_invalid', 'That is not the name of one repository.', {
    next: 'Write it as OWNER/NAME.',
  })
}

const below = (repository: RepositoryName, rest: string): string => {
  if (!isRepositoryName(repository)) throw new TypeError('not a repository name')
  return `/repos/${repository.owner}/${repository.name}${rest}`
}

const number = (value: number): string => {
  if (!Number.isSafeInteger(value) || value < 1) throw new TypeError('not a number of the host')
  return String(value)
}

const id = (text: string): string => {
  if (!isObjectId(text)) throw new TypeError('not an object id')
  return text
}

const segment = (branch: string): string => {
  if (branchReason(branch) !== null) throw new TypeError('not a name of a branch')
  return encodeURIComponent(branch)
}

type Repo = RepositoryName

/** Entries of one page of changed files. */
export const filesPageSize = 100

/**
 * Every path that is ever requested, built from typed parts; what is no part throws a defect. A
 * branch keeps its slashes as `%2F`, so that it is one segment and nothing but that branch.
 */
export const hostPath = {
  /** Whose the token is. */
  user: () => '/user',
  repository: (repo: Repo) => below(repo, ''),
  blobs: (repo: Repo) => below(repo, '/git/blobs'),
  trees: (repo: Repo) => below(repo, '/git/trees'),
  commits: (repo: Repo) => below(repo, '/git/commits'),
  refs: (repo: Repo) => below(repo, '/git/refs'),
  pulls: (repo: Repo) => below(repo, '/pulls'),
  issues: (repo: Repo) => below(repo, '/issues'),
  comments: (repo: Repo, issue: number) => below(repo, `/issues/${number(issue)}/comments`),
  blob: (repo: Repo, sha: string) => below(repo, `/git/blobs/${id(sha)}`),
  tree: (repo: Repo, sha: string) => below(repo, `/git/trees/${id(sha)}?recursive=1`),
  treeLevel: (repo: Repo, sha: string) => below(repo, `/git/trees/${id(sha)}`),
  commit: (repo: Repo, sha: string) => below(repo, `/git/commits/${id(sha)}`),
  branch: (repo: Repo, branch: string) =>
    below(repo, `/git/ref/heads/${segment(branch)}`),
  pull: (repo: Repo, pull: number) => below(repo, `/pulls/${number(pull)}`),
  pullFiles: (repo: Repo, pull: number, page: number) =>
    below(repo, `/pulls/${number(pull)}/files?per_page=${filesPageSize}&page=${number(page)}`),
  issue: (repo: Repo, issue: number) => below(repo, `/issues/${number(issue)}`),
  comment: (repo: Repo, comment: number) => below(repo, `/issues/comments/${number(comment)}`),
} as const
