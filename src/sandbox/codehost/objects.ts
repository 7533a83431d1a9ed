/** Blobs, trees, commits and references. */
import { isObject } from '../json.js'
import { jsonDraft, type Draft, type JsonObject } from '../types.js'
import type { NewEntry, Person } from './git.js'
import { invalid, notFound, problem, unprocessable } from './replies.js'
import type { Shapes } from './shapes.js'
import type { Kept } from './store.js'

/** What an answer is made from. */
export interface Ask {
  readonly kept: Kept
  readonly shapes: Shapes
  /** The request's body; empty for reads. */
  readonly json: JsonObject
  /** Object id, reference or number of the path. */
  readonly key: string
  readonly query: URLSearchParams
  /** Milliseconds since 1970. */
  readonly wallMs: number
}

const idForm = /^[0-9a-f]{40}$/
/** Most rows of a recursive listing; more is cut off and said to be. */
const rowsMax = 100_000

const emptyRepository = (): Draft => problem(409, 'Git Repository is empty.')

/** The draft of a read, unless the repository has no commit. */
const reading = async ({ kept }: Ask, read: () => Promise<Draft>): Promise<Draft> =>
  (await kept.git.isEmpty()) ? emptyRepository() : read()

export const createBlob = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, json: { content, encoding = 'utf-8' } } = ask
  if (typeof content !== 'string') {
    return invalid({ resource: 'Blob', field: 'content', code: 'missing_field' })
  }
  if (encoding !== 'utf-8' && encoding !== 'base64') {
    return invalid({ resource: 'Blob', field: 'encoding', code: 'invalid' })
  }
  const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8')
  if (encoding === 'base64' && bytes.toString('base64') !== content.replace(/\n/g, '')) {
    return unprocessable('content is not valid Base64')
  }
  const id = await kept.git.writeBlob(bytes)
  const url = `${shapes.repositoryUrl(kept.facts)}/git/blobs/${id}`
  return jsonDraft(201, { sha: id, url }, [['Location', url]])
})

export const readBlob = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, key } = ask
  const found = idForm.test(key) ? await kept.git.object(key) : null
  return found?.type === 'blob' ? jsonDraft(200, shapes.blob(kept.facts, key, found.bytes))
    : notFound()
})

const modes: Readonly<Record<string, string>> = {
  100644: 'blob', 100755: 'blob', 120000: 'blob', '040000': 'tree', 160000: 'commit',
}

// What git refuses below any tree; the host says so before it makes one.
const badName = /^(?:|\.|\.\.|\.git|git~1)$/i

/** Entries of a tree's POST, or what is wrong with them. */
const entriesOf = (list: unknown): NewEntry[] | string => {
  if (!Array.isArray(list) || list.length === 0) return 'Invalid tree info'
  const entries: NewEntry[] = []
  for (const one of list as unknown[]) {
    if (!isObject(one) || typeof one.path !== 'string') return 'Invalid tree info'
    const { path, mode, type, sha, content } = one
    if (path.split('/').some((name) => badName.test(name) || /[\0\n]/.test(name))) {
      return 'tree.path contains a malformed path component'
    }
    if (typeof mode !== 'string' || modes[mode] === undefined) {
      return 'Must supply a valid tree.mode'
    }
    if (type !== undefined && type !== modes[mode]) return 'tree.type does not fit tree.mode'
    const [id, text] = [typeof sha === 'string' ? sha : null,
      typeof content === 'string' ? content : null]
    if ((id === null) === (text === null) || (text !== null && modes[mode] !== 'blob')) {
      return 'Must supply either tree.sha or tree.content'
    }
    if (id !== null && !idForm.test(id)) return 'tree.sha is not a SHA'
    entries.push({ path, mode, id, content: text })
  }
  return entries
}

/** Makes a tree, over another one or from nothing. */
export const createTree = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, json } = ask
  const entries = entriesOf(json.tree)
  if (typeof entries === 'string') return unprocessable(entries)
  const base = json.base_tree ?? null
  if (base !== null && (typeof base !== 'string' || !idForm.test(base))) {
    return unprocessable('base_tree is not a valid tree')
  }
  const named = entries.flatMap(({ id, mode }) =>
    id === null || modes[mode] === 'commit' ? [] : [{ id, type: modes[mode] }])
  const ids = [...named.map(({ id }) => id), ...(base === null ? [] : [base])]
  const types = await kept.git.typesOf([...new Set(ids)])
  if (base !== null && types.get(base) !== 'tree') {
    return unprocessable('base_tree is not a valid tree')
  }
  if (named.some(({ id, type }) => types.get(id) !== type)) {
    return unprocessable('tree.sha is not a valid object')
  }
  const id = await kept.git.writeTree(base, entries)
  const document = shapes.tree(kept.facts, id, await kept.git.rows(id, false), false)
  return jsonDraft(201, document, [['Location', String(document.url)]])
})

/** Reads a tree; any value of `recursive` asks for all levels. */
export const readTree = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, key, query } = ask
  const types = idForm.test(key) ? await kept.git.typesOf([key]) : new Map()
  if (types.get(key) !== 'tree') return notFound()
  const rows = await kept.git.rows(key, query.has('recursive'))
  const kept100k = rows.slice(0, rowsMax)
  return jsonDraft(200, shapes.tree(kept.facts, key, kept100k, rows.length > rowsMax))
})

const personOf = (value: unknown, seconds: number): Person | null => {
  if (!isObject(value)) return null
  const { name, email, date } = value
  if (typeof name !== 'string' || typeof email !== 'string') return null
  const ms = date === undefined ? seconds * 1000
    : typeof date === 'string' ? Date.parse(date) : Number.NaN
  return Number.isNaN(ms) ? null : { name, email, seconds: Math.floor(ms / 1000) }
}

export const createCommit = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, json, wallMs } = ask
  const { message, tree, parents = [] } = json
  const ids = Array.isArray(parents) ? (parents as unknown[]).map(String) : []
  if (typeof message !== 'string' || typeof tree !== 'string') {
    return unprocessable('Invalid request.')
  }
  const types = [tree, ...ids].every((id) => idForm.test(id))
    ? await kept.git.typesOf([tree, ...ids]) : new Map<string, string>()
  if (types.get(tree) !== 'tree') return unprocessable('Tree SHA does not exist')
  if (ids.some((id) => types.get(id) !== 'commit')) {
    return unprocessable('Parent SHA does not exist or is not a commit object')
  }
  const now = Math.floor(wallMs / 1000)
  const someone = { name: 'operator', email: 'operator@users.noreply.invalid', seconds: now }
  const author = json.author === undefined ? someone : personOf(json.author, now)
  const committer = json.committer === undefined ? author : personOf(json.committer, now)
  if (author === null || committer === null) return unprocessable('Invalid author or committer')
  const id = await kept.git.writeCommit({ tree, parents: ids, author, committer, message })
  const stored = await kept.git.commit(id)
  if (stored === null) return notFound()
  const document = shapes.commit(kept.facts, id, stored)
  return jsonDraft(201, document, [['Location', String(document.url)]])
})

export const readCommit = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, key } = ask
  const found = idForm.test(key) ? await kept.git.commit(key) : null
  return found === null ? notFound() : jsonDraft(200, shapes.commit(kept.facts, key, found))
})

export const createRef = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, json: { ref, sha } } = ask
  if (typeof ref !== 'string' || typeof sha !== 'string') return unprocessable('Invalid request.')
  const form = /^refs\/[^/]+\/./.test(ref) && (await kept.git.validRef(ref))
  if (!form) return unprocessable('Reference name is not valid')
  if (!idForm.test(sha) || (await kept.git.typesOf([sha])).get(sha) !== 'commit') {
    return unprocessable('Object does not exist')
  }
  if ((await kept.git.ref(ref)) !== null || !(await kept.git.setRef(ref, sha, null))) {
    return unprocessable('Reference already exists')
  }
  const document = shapes.ref(kept.facts, ref, sha)
  return jsonDraft(201, document, [['Location', String(document.url)]])
})

/** Reads one reference by its exact name. */
export const readRef = (ask: Ask): Promise<Draft> => reading(ask, async () => {
  const { kept, shapes, key } = ask
  const name = `refs/${key}`
  const id = (await kept.git.validRef(name)) ? await kept.git.ref(name) : null
  return id === null ? notFound() : jsonDraft(200, shapes.ref(kept.facts, name, id))
})

export const readRepository = async (
  { kept, shapes }: Ask, permissions: { pull: boolean, push: boolean },
): Promise<Draft> => {
  const open = kept.issues.filter(({ state }) => state === 'open').length
  return jsonDraft(200, shapes.repository(kept.facts, permissions, open))
}
