/** Which of the code host's routes a request asks for. */

/** The routes that the sandbox's code host has; all others do not exist. */
const codehostRoutes = [
  'repository', 'blob_create', 'blob', 'tree_create', 'tree', 'commit_create', 'commit',
  'ref_create', 'ref', 'pull_create', 'pull', 'pull_files', 'issue_create', 'issue',
  'comment_create', 'comment', 'user',
] as const
/** One of them. */
export type CodehostRoute = (typeof codehostRoutes)[number]

/** What a path names. */
export interface Asked {
  readonly route: CodehostRoute
  readonly owner: string
  readonly name: string
  /** Object id, reference or number, decoded; empty where the route has none. */
  readonly key: string
  readonly query: URLSearchParams
}

const table: readonly (readonly [CodehostRoute, string, RegExp])[] = [
  ['repository', 'GET', /^$/],
  ['blob_create', 'POST', /^\/git\/blobs$/],
  ['blob', 'GET', /^\/git\/blobs\/([^/]+)$/],
  ['tree_create', 'POST', /^\/git\/trees$/],
  ['tree', 'GET', /^\/git\/trees\/([^/]+)$/],
  ['commit_create', 'POST', /^\/git\/commits$/],
  ['commit', 'GET', /^\/git\/commits\/([^/]+)$/],
  ['ref_create', 'POST', /^\/git\/refs$/],
  ['ref', 'GET', /^\/git\/ref\/(.+)$/],
  ['pull_create', 'POST', /^\/pulls$/],
  ['pull', 'GET', /^\/pulls\/(\d+)$/],
  ['pull_files', 'GET', /^\/pulls\/(\d+)\/files$/],
  ['issue_create', 'POST', /^\/issues$/],
  ['comment', 'GET', /^\/issues\/comments\/(\d+)$/],
  ['issue', 'GET', /^\/issues\/(\d+)$/],
  ['comment_create', 'POST', /^\/issues\/(\d+)\/comments$/],
]

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** What a request asks for, or null where there is no such route. */
export const askedOf = (method: string, url: string): Asked | null => {
  const [path = '', query = ''] = url.split('?')
  if (path === '/user' && method === 'GET') {
    return { route: 'user', owner: '', name: '', key: '', query: new URLSearchParams(query) }
  }
  const [, owner = '', name = '', rest = ''] = /^\/repos\/([^/]+)\/([^/]+)(.*)$/.exec(path) ?? []
  if (owner === '') return null
  for (const [route, verb, form] of table) {
    const match = verb === method ? form.exec(rest) : null
    const key = match === null ? null : decoded(match[1] ?? '')
    if (key === null) continue
    return { route, owner, name, key, query: new URLSearchParams(query) }
  }
  return null
}
