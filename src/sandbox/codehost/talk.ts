/** Issues, comments and pull requests. */
import { jsonDraft, type Draft } from '../types.js'
import type { ChangedFile } from './git.js'
import type { Ask } from './objects.js'
import { invalid, listDraft, notFound, problem } from './replies.js'
import type { HostIssue, HostUser } from './shapes.js'
import type { CodehostStore } from './store.js'

const titleMax = 256
const bodyMax = 65_536
const pageSizeMax = 100
/** Files of a pull request that are listed at all. */
const filesMax = 3000

/** What an answer of this kind needs besides. */
export interface TalkAsk extends Ask {
  readonly store: CodehostStore
  readonly user: HostUser
  /** An app makes it, for the user or for itself. */
  readonly viaApp: boolean
}

const missing = (resource: string, field: string): Draft =>
  invalid({ resource, field, code: 'missing_field' })

/** A title and a body that may be left out, or the refusal of them. */
const textsOf = (
  resource: string, json: Ask['json'],
): { title: string, body: string | null } | Draft => {
  const { title, body = null } = json
  if (typeof title !== 'string' || title.trim() === '') return missing(resource, 'title')
  if (title.length > titleMax) return invalid({ resource, field: 'title', code: 'too_long' })
  if (body !== null && typeof body !== 'string') {
    return invalid({ resource, field: 'body', code: 'invalid' })
  }
  if (body !== null && body.length > bodyMax) {
    return invalid({ resource, field: 'body', code: 'too_long' })
  }
  return { title, body }
}

const newIssue = (
  { store, user, kept, viaApp }: TalkAsk, texts: { title: string, body: string | null },
  pull: HostIssue['pull'],
): HostIssue => ({
  id: store.newId(), number: kept.issues.length + 1, user, ...texts, state: 'open', comments: 0,
  createdAt: store.now(), pull, ...(viaApp ? { viaApp } : {}),
})

const numbered = ({ kept, key }: Ask): HostIssue | undefined =>
  kept.issues.find(({ number }) => String(number) === key)

export const createIssue = async (ask: TalkAsk): Promise<Draft> => {
  const { kept, shapes, store } = ask
  if (!kept.facts.hasIssues) return problem(410, 'Issues are disabled for this repo')
  const texts = textsOf('Issue', ask.json)
  if ('status' in texts) return texts
  const issue = newIssue(ask, texts, null)
  kept.issues.push(issue)
  await store.save()
  const document = shapes.issue(kept.facts, issue)
  return jsonDraft(201, document, [['Location', String(document.url)]])
}

/** Reads an issue; a pull request is one, too, and says so. */
export const readIssue = async (ask: Ask): Promise<Draft> => {
  const found = numbered(ask)
  if (found === undefined) return notFound()
  if (found.pull === null && !ask.kept.facts.hasIssues) {
    return problem(410, 'Issues are disabled for this repo')
  }
  return jsonDraft(200, ask.shapes.issue(ask.kept.facts, found))
}

/** Makes a comment on an issue or a pull request. */
export const createComment = async (ask: TalkAsk): Promise<Draft> => {
  const { kept, shapes, store, user, viaApp, json: { body } } = ask
  const at = kept.issues.findIndex(({ number }) => String(number) === ask.key)
  const issue = kept.issues[at]
  if (issue === undefined) return notFound()
  if (typeof body !== 'string' || body.trim() === '') return missing('IssueComment', 'body')
  if (body.length > bodyMax) {
    return invalid({ resource: 'IssueComment', field: 'body', code: 'too_long' })
  }
  const made = {
    id: store.newId(), issue: issue.number, user, body, createdAt: store.now(),
    ...(viaApp ? { viaApp } : {}),
  }
  kept.comments.push(made)
  kept.issues[at] = { ...issue, comments: issue.comments + 1 }
  await store.save()
  const document = shapes.comment(kept.facts, made)
  return jsonDraft(201, document, [['Location', String(document.url)]])
}

export const readComment = async ({ kept, shapes, key }: Ask): Promise<Draft> => {
  const found = kept.comments.find(({ id }) => String(id) === key)
  return found === undefined ? notFound() : jsonDraft(200, shapes.comment(kept.facts, found))
}

/** Both ends of a pull request as they are now. */
interface Ends { readonly head: string, readonly base: string }

const endsOf = async ({ kept }: Ask, pull: HostIssue['pull']): Promise<Ends | null> => {
  if (pull === null) return null
  const [head, base] = await Promise.all([
    kept.git.ref(`refs/heads/${pull.head}`), kept.git.ref(`refs/heads/${pull.base}`),
  ])
  return head === null || base === null ? null : { head, base }
}

/** Files of two commits, which never change: the pages of one pull request ask for them again. */
const known = new Map<string, Promise<readonly ChangedFile[]>>()
const knownMax = 8

const filesOf = ({ kept }: Ask, { head, base }: Ends): Promise<readonly ChangedFile[]> => {
  const key = `${kept.git.gitDir} ${base} ${head}`
  const found = known.get(key) ?? kept.git.changedFiles(base, head)
  known.delete(key)
  known.set(key, found)
  const [oldest] = known.keys()
  if (known.size > knownMax && oldest !== undefined) known.delete(oldest)
  return found
}

const pullDraft = async (
  ask: TalkAsk, status: number, issue: HostIssue, ends: Ends,
): Promise<Draft> => {
  const { kept, shapes } = ask
  const [files, commits] = await Promise.all([
    filesOf(ask, ends), kept.git.ahead(ends.base, ends.head),
  ])
  const repository = shapes.repository(kept.facts, { pull: true, push: true }, kept.issues.length)
  const document = shapes.pull(kept.facts, issue, ends, files, repository, commits)
  return jsonDraft(status, document, status === 201 ? [['Location', String(document.url)]] : [])
}

export const createPull = async (ask: TalkAsk): Promise<Draft> => {
  const { kept, store, json } = ask
  const owner = kept.facts.owner.login
  const texts = textsOf('PullRequest', json)
  if ('status' in texts) return texts
  const { head: named, base, draft = false } = json
  if (typeof named !== 'string') return missing('PullRequest', 'head')
  if (typeof base !== 'string') return missing('PullRequest', 'base')
  const head = named.startsWith(`${owner}:`) ? named.slice(owner.length + 1) : named
  const pull = { head, base, draft: draft === true }
  const there = await Promise.all([head, base].map(async (name) =>
    await kept.git.validRef(`refs/heads/${name}`)
    && await kept.git.ref(`refs/heads/${name}`) !== null))
  const absent = ['head', 'base'].filter((_, at) => !there[at])
  if (absent.length > 0) {
    return invalid(...absent.map((field) => ({ resource: 'PullRequest', field, code: 'invalid' })))
  }
  const same = kept.issues.some((one) =>
    one.state === 'open' && one.pull?.head === head && one.pull.base === base)
  const refusal = (message: string): Draft =>
    invalid({ resource: 'PullRequest', code: 'custom', message })
  if (same) return refusal(`A pull request already exists for ${owner}:${head}.`)
  const ends = await endsOf(ask, pull)
  if (ends === null) return notFound()
  if (await kept.git.ahead(ends.base, ends.head) === 0) {
    return refusal(`No commits between ${base} and ${head}`)
  }
  const issue = newIssue(ask, texts, pull)
  kept.issues.push(issue)
  await store.save()
  return pullDraft(ask, 201, issue, ends)
}

export const readPull = async (ask: TalkAsk): Promise<Draft> => {
  const found = numbered(ask)
  const ends = await endsOf(ask, found?.pull ?? null)
  return found === undefined || ends === null ? notFound() : pullDraft(ask, 200, found, ends)
}

const numberIn = (query: URLSearchParams, name: string, fallback: number, max: number): number => {
  const text = query.get(name) ?? ''
  return /^[1-9]\d{0,5}$/.test(text) ? Math.min(max, Number(text)) : fallback
}

/** One page of a pull request's files, with the links to the others. */
export const readPullFiles = async (ask: Ask): Promise<Draft> => {
  const { kept, shapes, key, query } = ask
  const found = numbered(ask)
  const ends = await endsOf(ask, found?.pull ?? null)
  if (ends === null) return notFound()
  const files = (await filesOf(ask, ends)).slice(0, filesMax)
  const size = numberIn(query, 'per_page', 30, pageSizeMax)
  const page = numberIn(query, 'page', 1, 1_000_000)
  const last = Math.max(1, Math.ceil(files.length / size))
  const url = `${shapes.repositoryUrl(kept.facts)}/pulls/${key}/files?per_page=${size}`
  const links = [
    ...(page > 1 ? [['prev', page - 1], ['first', 1]] as const : []),
    ...(page < last ? [['next', page + 1], ['last', last]] as const : []),
  ].map(([rel, number]) => `<${url}&page=${number}>; rel="${rel}"`).join(', ')
  return listDraft(
    files.slice((page - 1) * size, page * size)
      .map((file) => shapes.changedFile(kept.facts, ends.head, file)),
    links === '' ? [] : [['Link', links]])
}
