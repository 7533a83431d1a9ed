/** Documents of the code host in the shapes of its public description. */
import type { JsonObject } from '../types.js'
import type { ChangedFile, StoredCommit, TreeRow } from './git.js'

/** Somebody of the host. */
export interface HostUser {
  readonly login: string
  readonly id: number
}

/** What a repository is, besides its objects. */
export interface HostRepository {
  readonly id: number
  readonly owner: HostUser
  readonly name: string
  readonly description: string
  readonly private: boolean
  readonly archived: boolean
  readonly hasIssues: boolean
  readonly createdAt: string
}

/** An issue, or what a pull request shares with one. */
export interface HostIssue {
  readonly id: number
  readonly number: number
  readonly user: HostUser
  readonly title: string
  readonly body: string | null
  readonly state: 'open' | 'closed'
  readonly comments: number
  readonly createdAt: string
  /** Left out: it was never changed. */
  readonly updatedAt?: string
  /** Left out: no app had a part in it. */
  readonly viaApp?: boolean
  readonly pull: { readonly head: string, readonly base: string, readonly draft: boolean } | null
}

/** A comment on an issue. */
export interface HostComment {
  readonly id: number
  readonly issue: number
  readonly user: HostUser
  readonly body: string
  readonly createdAt: string
  /** Left out: it was never changed. */
  readonly updatedAt?: string
  /** Left out: no app had a part in it. */
  readonly viaApp?: boolean
}

/** What the asking token may do. */
interface Permissions {
  readonly pull: boolean
  readonly push: boolean
}

const nodeId = (kind: string, id: number | string): string =>
  Buffer.from(`${kind}:${id}`).toString('base64url')

const isoOf = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** Writes documents; `base` is the service's own `https://host:port`. */
export class Shapes {
  readonly base: string

  constructor(base: string) {
    this.base = base
  }

  repositoryUrl({ owner, name }: HostRepository): string {
    return `${this.base}/repos/${owner.login}/${name}`
  }

  user({ login, id }: HostUser): JsonObject {
    const url = `${this.base}/users/${login}`
    const below = (...names: string[]): JsonObject =>
      Object.fromEntries(names.map((name) => [`${name}_url`, `${url}/${name}`]))
    return {
      login, id, node_id: nodeId('User', id), avatar_url: `${this.base}/avatars/${id}`,
      gravatar_id: '', url, html_url: `${this.base}/${login}`,
      ...below('followers', 'subscriptions', 'organizations', 'repos', 'received_events'),
      following_url: `${url}/following{/other_user}`, gists_url: `${url}/gists{/gist_id}`,
      starred_url: `${url}/starred{/owner}{/repo}`, events_url: `${url}/events{/privacy}`,
      type: 'User', site_admin: false,
    }
  }

  #app(made = false): JsonObject | null {
    return made ? {
      id: 1, slug: 'sandbox-app', node_id: nodeId('App', 1), client_id: 'Iv1.sandbox',
      owner: this.user({ login: 'sandbox', id: 1 }), name: 'Sandbox app', description: '',
      external_url: this.base, html_url: `${this.base}/apps/sandbox-app`,
      created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00Z', permissions: {},
      events: [],
    } : null
  }

  repository(repository: HostRepository, permissions: Permissions, openIssues: number): JsonObject {
    const { id, owner, name, createdAt: time } = repository
    const url = this.repositoryUrl(repository)
    const html = `${this.base}/${owner.login}/${name}`
    const below = (...names: string[]): JsonObject =>
      Object.fromEntries(names.map((word) => [`${word}_url`, `${url}/${word}`]))
    const one = (...pairs: (readonly [string, string])[]): JsonObject =>
      Object.fromEntries(pairs.map(([word, rest]) => [`${word}_url`, `${url}/${rest}`]))
    return {
      id, node_id: nodeId('Repository', id), name, full_name: `${owner.login}/${name}`,
      owner: this.user(owner), private: repository.private, html_url: html,
      description: repository.description, fork: false, url,
      ...below('contributors', 'deployments', 'downloads', 'events', 'forks', 'hooks', 'languages',
        'merges', 'stargazers', 'subscribers', 'subscription', 'tags', 'teams'),
      ...one(['archive', '{archive_format}{/ref}'], ['assignees', 'assignees{/user}'],
        ['blobs', 'git/blobs{/sha}'], ['branches', 'branches{/branch}'],
        ['collaborators', 'collaborators{/collaborator}'], ['comments', 'comments{/number}'],
        ['commits', 'commits{/sha}'], ['compare', 'compare/{base}...{head}'],
        ['contents', 'contents/{+path}'], ['git_commits', 'git/commits{/sha}'],
        ['git_refs', 'git/refs{/sha}'], ['git_tags', 'git/tags{/sha}'],
        ['issue_comment', 'issues/comments{/number}'], ['issue_events', 'issues/events{/number}'],
        ['issues', 'issues{/number}'], ['keys', 'keys{/key_id}'], ['labels', 'labels{/name}'],
        ['milestones', 'milestones{/number}'],
        ['notifications', 'notifications{?since,all,participating}'], ['pulls', 'pulls{/number}'],
        ['releases', 'releases{/id}'], ['statuses', 'statuses/{sha}'],
        ['trees', 'git/trees{/sha}']),
      clone_url: `${html}.git`, git_url: `git://localhost/${owner.login}/${name}.git`,
      ssh_url: `git@localhost:${owner.login}/${name}.git`, svn_url: html, mirror_url: null,
      homepage: null, language: null, forks: 0, forks_count: 0, stargazers_count: 0,
      watchers: 0, watchers_count: 0, size: 0, default_branch: 'main', open_issues: openIssues,
      open_issues_count: openIssues, has_issues: repository.hasIssues, has_projects: false,
      has_wiki: false, has_pages: false, has_discussions: false, has_downloads: true,
      archived: repository.archived,
      disabled: false, visibility: repository.private ? 'private' : 'public', license: null,
      pushed_at: time, created_at: time, updated_at: time, network_count: 0, subscribers_count: 0,
      permissions: {
        admin: false, maintain: false, push: permissions.push, triage: permissions.push,
        pull: permissions.pull,
      },
    }
  }

  blob(repository: HostRepository, id: string, bytes: Buffer): JsonObject {
    const lines = bytes.toString('base64').match(/.{1,60}/g) ?? []
    return {
      sha: id, node_id: nodeId('Blob', id), size: bytes.length,
      url: `${this.repositoryUrl(repository)}/git/blobs/${id}`,
      content: lines.map((line) => `${line}\n`).join(''), encoding: 'base64',
    }
  }

  tree(
    repository: HostRepository, id: string, rows: readonly TreeRow[], truncated: boolean,
  ): JsonObject {
    const url = this.repositoryUrl(repository)
    const part: Readonly<Record<string, string>> = { blob: 'blobs', tree: 'trees' }
    return {
      sha: id, url: `${url}/git/trees/${id}`, truncated,
      tree: rows.map(({ path, mode, type, id: sha, size }) => ({
        path, mode, type, sha, ...(size === null ? {} : { size }),
        ...(part[type] === undefined ? {} : { url: `${url}/git/${part[type]}/${sha}` }),
      })),
    }
  }

  /** A commit; one final line end of the message is left out, as the host does. */
  commit(repository: HostRepository, id: string, commit: StoredCommit): JsonObject {
    const url = this.repositoryUrl(repository)
    const html = `${this.base}/${repository.owner.login}/${repository.name}`
    const person = ({ name, email, seconds }: StoredCommit['author']): JsonObject =>
      ({ name, email, date: isoOf(seconds) })
    return {
      sha: id, node_id: nodeId('Commit', id), url: `${url}/git/commits/${id}`,
      html_url: `${html}/commit/${id}`, author: person(commit.author),
      committer: person(commit.committer),
      tree: { sha: commit.tree, url: `${url}/git/trees/${commit.tree}` },
      message: commit.message.replace(/\n$/, ''),
      parents: commit.parents.map((sha) => ({
        sha, url: `${url}/git/commits/${sha}`, html_url: `${html}/commit/${sha}`,
      })),
      verification: {
        verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null,
      },
    }
  }

  ref(repository: HostRepository, name: string, id: string): JsonObject {
    const url = this.repositoryUrl(repository)
    return {
      ref: name, node_id: nodeId('Ref', name), url: `${url}/git/${name}`,
      object: { sha: id, type: 'commit', url: `${url}/git/commits/${id}` },
    }
  }

  issue(repository: HostRepository, issue: HostIssue): JsonObject {
    const top = this.repositoryUrl(repository)
    const { number, createdAt: time } = issue
    const html = `${this.base}/${repository.owner.login}/${repository.name}`
    const pull = `${html}/pull/${number}`
    return {
      id: issue.id, node_id: nodeId('Issue', issue.id), url: `${top}/issues/${number}`,
      repository_url: top, labels_url: `${top}/issues/${number}/labels{/name}`,
      comments_url: `${top}/issues/${number}/comments`,
      events_url: `${top}/issues/${number}/events`,
      html_url: issue.pull === null ? `${html}/issues/${number}` : pull,
      number, title: issue.title, body: issue.body, user: this.user(issue.user), labels: [],
      state: issue.state, state_reason: null, locked: false, assignee: null, assignees: [],
      milestone: null, comments: issue.comments, created_at: time,
      updated_at: issue.updatedAt ?? time,
      closed_at: null, author_association: 'OWNER',
      performed_via_github_app: this.#app(issue.viaApp),
      ...(issue.pull === null ? {} : { draft: issue.pull.draft, pull_request: {
        url: `${top}/pulls/${number}`, html_url: pull, diff_url: `${pull}.diff`,
        patch_url: `${pull}.patch`, merged_at: null,
      } }),
    }
  }

  comment(repository: HostRepository, comment: HostComment): JsonObject {
    const top = this.repositoryUrl(repository)
    const html = `${this.base}/${repository.owner.login}/${repository.name}`
    return {
      id: comment.id, node_id: nodeId('IssueComment', comment.id),
      url: `${top}/issues/comments/${comment.id}`, issue_url: `${top}/issues/${comment.issue}`,
      html_url: `${html}/issues/${comment.issue}#issuecomment-${comment.id}`,
      user: this.user(comment.user), body: comment.body, created_at: comment.createdAt,
      updated_at: comment.updatedAt ?? comment.createdAt, author_association: 'OWNER',
      performed_via_github_app: this.#app(comment.viaApp),
    }
  }

  pull(
    repository: HostRepository, issue: HostIssue, ends: { head: string, base: string },
    files: readonly ChangedFile[], repositoryDocument: JsonObject, commits: number,
  ): JsonObject {
    const top = this.repositoryUrl(repository)
    const url = `${top}/pulls/${issue.number}`
    const shared = this.issue(repository, issue)
    const side = (ref: string, sha: string): JsonObject => ({
      label: `${repository.owner.login}:${ref}`, ref, sha, user: this.user(repository.owner),
      repo: repositoryDocument,
    })
    const links = {
      self: url, html: String(shared.html_url), issue: String(shared.url),
      comments: String(shared.comments_url), review_comments: `${url}/comments`,
      review_comment: `${top}/pulls/comments{/number}`, commits: `${url}/commits`,
      statuses: `${top}/statuses/${ends.head}`,
    }
    const total = (of: 'additions' | 'deletions'): number =>
      files.reduce((sum, file) => sum + file[of], 0)
    return {
      id: issue.id, node_id: nodeId('PullRequest', issue.id), url, html_url: links.html,
      diff_url: `${links.html}.diff`, patch_url: `${links.html}.patch`, issue_url: links.issue,
      commits_url: links.commits, review_comments_url: links.review_comments,
      review_comment_url: links.review_comment, comments_url: links.comments,
      statuses_url: links.statuses, number: issue.number, state: issue.state, locked: false,
      title: issue.title, user: shared.user, body: issue.body, labels: [], milestone: null,
      created_at: issue.createdAt, updated_at: issue.updatedAt ?? issue.createdAt,
      closed_at: null, merged_at: null,
      merge_commit_sha: null, assignee: null, assignees: [], requested_reviewers: [],
      requested_teams: [], head: side(issue.pull?.head ?? '', ends.head),
      base: side(issue.pull?.base ?? '', ends.base),
      _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
      author_association: 'OWNER', auto_merge: null, draft: issue.pull?.draft ?? false,
      merged: false, mergeable: null, rebaseable: null, mergeable_state: 'unknown',
      merged_by: null, comments: issue.comments, review_comments: 0, maintainer_can_modify: false,
      commits, additions: total('additions'), deletions: total('deletions'),
      changed_files: files.length,
    }
  }

  changedFile(repository: HostRepository, head: string, file: ChangedFile): JsonObject {
    const top = this.repositoryUrl(repository)
    const html = `${this.base}/${repository.owner.login}/${repository.name}`
    const path = file.path.split('/').map(encodeURIComponent).join('/')
    return {
      sha: file.id, filename: file.path, status: file.status, additions: file.additions,
      deletions: file.deletions, changes: file.additions + file.deletions,
      blob_url: `${html}/blob/${head}/${path}`, raw_url: `${html}/raw/${head}/${path}`,
      contents_url: `${top}/contents/${path}?ref=${head}`,
      ...(file.before === null ? {} : { previous_filename: file.before }),
      ...(file.patch === null ? {} : { patch: file.patch }),
    }
  }
}
