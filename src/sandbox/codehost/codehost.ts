/**
 * A code host on bare git repositories, for loopback: the seventeen routes that Sallyport uses, in
 * the shapes and with the refusals of the public description. It knows nothing of Sallyport's own
 * rules of objects: ids are git's.
 */
import { randomUUID } from 'node:crypto'
import { bearerOf } from '../headers-check.js'
import {
  jsonDraft, type Draft, type RouteName, type SeenRequest, type ServiceModule,
} from '../types.js'
import {
  createBlob, createCommit, createRef, createTree, readBlob, readCommit, readRef, readRepository,
  readTree,
} from './objects.js'
import { notFound, problem } from './replies.js'
import { bodyObject, checkHostRequest } from './request-check.js'
import { askedOf, type Asked } from './routes.js'
import { Shapes } from './shapes.js'
import { CodehostStore, type Kept } from './store.js'
import {
  createComment, createIssue, createPull, readComment, readIssue, readPull, readPullFiles,
  type TalkAsk,
} from './talk.js'

/** Which tokens the code host knows. */
export interface CodehostTokens {
  /** May do everything; null stands for any token that is not named below. */
  readonly writer: string | null
  /** Sees everything and changes nothing. */
  readonly reader?: string
  /** Is somebody, and sees no private repository. */
  readonly stranger?: string
}

/** What the code host needs to know of its sandbox. */
interface CodehostOptions {
  readonly tokens: CodehostTokens
  /** Folder of its repositories. */
  readonly dir: string
  /** Host name of its URLs. */
  readonly host: string
  /** Known once the server listens. */
  port(): number
  /** Milliseconds since 1970 UTC. */
  wallMs(): number
}

/** The code host and what it keeps. */
export interface Codehost extends ServiceModule { readonly store: CodehostStore }

type Role = 'writer' | 'reader' | 'stranger'

/** Whose a token is: that of an installation is its app's bot, whoever else uses the app. */
const loginOf = (token: string, role: Role): string =>
  (token.startsWith('ghs_') ? 'sandbox-app[bot]' : role === 'writer' ? 'operator' : role)

const isOfApp = (token: string): boolean => /^gh[su]_/.test(token)

const roleOf = (token: string, { writer, reader, stranger }: CodehostTokens): Role | null => {
  if (token === reader) return 'reader'
  if (token === stranger) return 'stranger'
  return writer === null || token === writer ? 'writer' : null
}

/** Requests of one hour that a token may make. */
const requestsAnHour = 5000
const hourSeconds = 3600

/** Headers that every reply carries; the scopes are told of classic tokens alone. */
const headersFor = (request: SeenRequest, used: number, wallMs: number): [string, string][] => {
  const token = bearerOf(request) ?? ''
  const reset = (Math.floor(wallMs / 1000 / hourSeconds) + 1) * hourSeconds
  return [
    ['Date', new Date(wallMs).toUTCString()],
    ['X-GitHub-Media-Type', 'github.v3; format=json'],
    ['X-GitHub-Request-Id', randomUUID().toUpperCase()],
    ['X-RateLimit-Limit', String(requestsAnHour)],
    ['X-RateLimit-Remaining', String(Math.max(0, requestsAnHour - used))],
    ['X-RateLimit-Used', String(used)],
    ['X-RateLimit-Reset', String(reset)],
    ['X-RateLimit-Resource', 'core'],
    ...(token.startsWith('github_pat_') ? []
      : [['X-OAuth-Scopes', 'repo'], ['X-Accepted-OAuth-Scopes', 'repo']] as [string, string][]),
  ]
}

const routed = async (asked: Asked, ask: TalkAsk, role: Role): Promise<Draft> => {
  switch (asked.route) {
    case 'repository':
      return readRepository(ask, { pull: true, push: role === 'writer' })
    case 'blob_create': return createBlob(ask)
    case 'blob': return readBlob(ask)
    case 'tree_create': return createTree(ask)
    case 'tree': return readTree(ask)
    case 'commit_create': return createCommit(ask)
    case 'commit': return readCommit(ask)
    case 'ref_create': return createRef(ask)
    case 'ref': return readRef(ask)
    case 'pull_create': return createPull(ask)
    case 'pull': return readPull(ask)
    case 'pull_files': return readPullFiles(ask)
    case 'issue_create': return createIssue(ask)
    case 'issue': return readIssue(ask)
    case 'comment_create': return createComment(ask)
    case 'comment': return readComment(ask)
    // Of no repository: answered before.
    case 'user': return notFound()
  }
}

const visible = (kept: Kept | undefined, role: Role): kept is Kept =>
  kept !== undefined && (role !== 'stranger' || !kept.facts.private)

/** A new code host; its repositories are made or read at the first request. */
export const newCodehost = (options: CodehostOptions): Codehost => {
  const store = new CodehostStore(options.dir, options.wallMs)
  const used = new Map<string, number>()

  const moved = (kept: Kept, shapes: Shapes): Draft => {
    const url = `${shapes.base}/repositories/${kept.facts.id}`
    return jsonDraft(301, {
      message: 'Moved Permanently', url, documentation_url: 'https://docs.github.com/rest',
    }, [['Location', url]])
  }

  const answer = async (request: SeenRequest): Promise<Draft> => {
    checkHostRequest(request, options.port())
    const token = bearerOf(request)
    const role = token === null ? null : roleOf(token, options.tokens)
    if (token === null || role === null) {
      return problem(401, token === null ? 'Requires authentication' : 'Bad credentials')
    }
    const asked = askedOf(request.method, request.path)
    if (asked === null) return notFound()
    await store.open()
    const shapes = new Shapes(`https://${options.host}:${options.port()}`)
    if (asked.route === 'user') {
      return token.startsWith('ghs_') ? problem(403, 'Resource not accessible by integration')
        : jsonDraft(200, shapes.user(store.user(loginOf(token, role))))
    }
    const former = store.findFormer(asked.owner, asked.name)
    const kept = store.find(asked.owner, asked.name)
    if (visible(former, role) && kept === undefined) return moved(former, shapes)
    if (!visible(kept, role)) return notFound()
    if (request.method === 'POST' && role !== 'writer') {
      return problem(403, 'Resource not accessible by personal access token')
    }
    if (request.method === 'POST' && kept.facts.archived) {
      return problem(403, 'Repository was archived so is read-only.')
    }
    const json = bodyObject(request)
    if (json === null) return problem(400, 'Problems parsing JSON')
    const user = store.user(loginOf(token, role))
    const { key, query } = asked
    return routed(
      asked, {
        kept, shapes, json, key, query, wallMs: options.wallMs(), store, user,
        viaApp: isOfApp(token),
      }, role)
  }

  return {
    name: 'codehost',
    store,
    keepsLargeBodies: false,
    routeOf: (method, path): RouteName => askedOf(method, path)?.route ?? 'unknown',
    answer: async (request) => {
      const hour = Math.floor(options.wallMs() / 1000 / hourSeconds)
      const key = `${hour} ${bearerOf(request) ?? ''}`
      const count = (used.get(key) ?? 0) + 1
      used.set(key, count)
      const draft = count > requestsAnHour
        ? problem(403, 'API rate limit exceeded for this token.') : await answer(request)
      draft.headers.push(...headersFor(request, count, options.wallMs()))
      return draft
    },
    noSuchRoute: notFound,
  }
}
