/** Reads the host's replies: strict JSON, then the needed members; refused by name, not quoted. */
import * as v from 'valibot'
import { fail, SallyportError } from '../../base/errors.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { isRecord, saysError } from '../../net/reply.js'
import type { ListedEntry } from '../git/tree.js'
import { replyLimits } from '../plan/plan-limits.js'
import { hostReplies, type HostReplyName, type HostReplyOf } from './shapes.js'

/** Deepest nesting of a reply; a pull request with its repositories has six levels. */
const depthMax = 32

const bytesMax: Readonly<Partial<Record<HostReplyName, number>>> = {
  // A new tree is answered with its rows.
  tree: replyLimits.tree, created: replyLimits.tree, blob: replyLimits.blob,
  pull_files: replyLimits.filesPage,
}

const refused = (
  reply: HostReplyName, reason: string, what: string, field: string | null = null,
): SallyportError =>
  fail.remote('host_reply_invalid', `The code host’s ${reply} is not what it must be: ${what}.`, {
    reason, details: { reply, field },
  })

/** Names of the schema and places in lists; what only the reply names is in no issue's path. */
const fieldOf = (issue: v.BaseIssue<unknown>): string =>
  (issue.path ?? []).map(({ key }) => typeof key === 'number' ? `[${key}]` : `.${String(key)}`)
    .join('').replace(/^\./, '')

/**
 * The needed members of a reply. Throws `host_reply_invalid` (remote) with a reason: the code of
 * `parseStrictJson`, `error` where it carries one, or `shape` with the field among the details.
 * Nothing of the reply is quoted.
 */
export const readReply = <N extends HostReplyName>(name: N, bytes: Uint8Array): HostReplyOf<N> => {
  const value = parsed(name, bytes)
  if (isRecord(value) && saysError(value)) throw refused(name, 'error', 'it carries an error')
  const result = v.safeParse(hostReplies[name], value)
  if (result.success) return result.output
  const field = fieldOf(result.issues[0])
  throw refused(name, 'shape', `${field === '' ? 'the whole' : field} has another form`, field)
}

const parsed = (name: HostReplyName, bytes: Uint8Array): unknown => {
  try {
    return parseStrictJson(bytes, { bytesMax: bytesMax[name] ?? replyLimits.other, depthMax })
  } catch (error) {
    if (error instanceof SallyportError) throw refused(name, error.code, 'it is no strict JSON')
    throw error
  }
}

/** Rows of a tree's reply as a listing; whether it was cut stays with the caller. */
export const listingOf = ({ tree }: HostReplyOf<'tree'>): readonly ListedEntry[] =>
  tree.map(({ path, mode, sha }) => ({ path, mode, id: sha }))

/** Bytes of a blob's reply. Throws `host_reply_invalid` where base64 or size are not exact. */
export const blobBytesOf = ({ content, size }: HostReplyOf<'blob'>): Buffer => {
  const digits = content.replaceAll('\n', '')
  const bytes = Buffer.from(digits, 'base64')
  if (bytes.toString('base64') !== digits) throw refused('blob', 'base64', 'it is no base64')
  if (bytes.length === size) return bytes
  throw refused('blob', 'size', 'it has another size than it says', 'size')
}

const link = /^\s*<[^<>]*>;\s*rel="(\w+)"\s*$/

/**
 * Whether a page's `Link` header says that another page follows. Throws `host_reply_invalid` with
 * the reason `link` for a header that is not of its form: it might say so.
 */
export const hasNextPage = (header: string | undefined): boolean =>
  header !== undefined && header.split(',').some((part) => {
    const rel = link.exec(part)?.[1]
    if (rel === undefined) throw refused('pull_files', 'link', 'its links cannot be read')
    return rel === 'next'
  })
