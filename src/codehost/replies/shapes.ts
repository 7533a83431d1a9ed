/**
 * What is needed of the host's replies. The named members are strict; whatever else a host sends is
 * let go, since hosts add members at any time.
 */
import * as v from 'valibot'
import { replyObject, strictInteger, nullableText, text } from '../../base/schema.js'
import { isObjectId } from '../git/object-id.js'
import { treeModes, typeOfMode } from '../git/tree-entry.js'

const number = strictInteger(1, Number.MAX_SAFE_INTEGER)
const count = strictInteger(0, Number.MAX_SAFE_INTEGER)
const objectId = v.pipe(
  v.string(), v.check(isObjectId, 'must be an object id of 40 lowercase hex digits'))
const flag = v.boolean()
const person = replyObject({
  name: text, email: text,
  // Not every host leaves the fraction of a second out.
  date: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/)),
})
const named = replyObject({ sha: objectId })

/** The repository and what the token may do there, where the host tells. */
const repositoryReply = replyObject({
  id: number, name: text, full_name: text, owner: replyObject({ login: text }), private: flag,
  archived: v.optional(flag, false), has_issues: flag, default_branch: text,
  permissions: v.optional(replyObject({
    pull: flag, push: flag, triage: v.optional(flag), maintain: v.optional(flag),
    admin: v.optional(flag),
  })),
})

/** A reference and what it points at. */
const refReply = replyObject({
  ref: text,
  object: replyObject({ type: v.picklist(['commit', 'tag', 'tree', 'blob']), sha: objectId }),
})

/** A commit; hosts leave out the message's last line end. */
const commitReply = replyObject({
  sha: objectId, message: text, tree: named, parents: v.array(named), author: person,
  committer: person,
})

const row = v.pipe(
  replyObject({
    path: v.pipe(v.string(), v.minLength(1)), mode: v.picklist(treeModes),
    type: v.picklist(['blob', 'tree', 'commit']), sha: objectId, size: v.nullish(count),
  }),
  v.check(({ mode, type }) => typeOfMode(mode) === type, 'has a type that is not of its mode'),
)

const treeReply = replyObject({ sha: objectId, truncated: flag, tree: v.array(row) })

/** A blob in base64, its lines cut by LF. */
const blobReply = replyObject({
  sha: objectId, size: count, encoding: v.literal('base64'), content: text,
})

/** What a new blob, tree or commit is answered with, as far as it is needed. */
const createdReply = named

const side = replyObject({
  ref: text, sha: objectId, repo: v.nullable(replyObject({ id: number, full_name: text })),
})

/** Whose a token is. */
const userReply = replyObject({ id: number, type: v.optional(text) })

/** How something came to be; a host that does not tell it is believed less. */
const origin = {
  created_at: v.optional(nullableText), updated_at: v.optional(nullableText),
  user: v.optional(v.nullable(replyObject({ id: number }))),
  performed_via_github_app: v.optional(v.nullable(replyObject({}))),
}

/** A pull request. */
const pullReply = replyObject({
  ...origin,
  id: number, number, state: v.picklist(['open', 'closed']), draft: flag, merged: flag,
  title: text, body: nullableText, head: side, base: side, changed_files: count,
})

/** One page of a pull request's files. */
const pullFilesReply = v.array(replyObject({
  filename: v.pipe(v.string(), v.minLength(1)), sha: v.nullable(objectId),
  status: v.picklist(['added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged']),
  previous_filename: v.optional(v.pipe(v.string(), v.minLength(1))),
}))

/** An issue; a pull request is one too, and has `pull_request`. */
const issueReply = replyObject({
  ...origin,
  id: number, number, state: v.picklist(['open', 'closed']), title: text, body: nullableText,
  pull_request: v.optional(v.nullable(replyObject({}))), repository_url: v.optional(text),
})

/** A comment, which tells its issue by that one's address alone. */
const commentReply = replyObject({ ...origin, id: number, body: text, issue_url: text })

/** Every reply that is read, by its name. */
export const hostReplies = {
  repository: repositoryReply, ref: refReply, commit: commitReply, tree: treeReply,
  blob: blobReply, created: createdReply, pull: pullReply, pull_files: pullFilesReply,
  issue: issueReply, comment: commentReply, user: userReply,
} as const
/** Name of a reply. */
export type HostReplyName = keyof typeof hostReplies
/** What a reply of a name holds. */
export type HostReplyOf<N extends HostReplyName> = v.InferOutput<(typeof hostReplies)[N]>
