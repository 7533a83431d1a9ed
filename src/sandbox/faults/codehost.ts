/** Faults of the code host: what a host refuses, loses, or tells otherwise than it is. */
import { isObject } from '../json.js'
import type { Draft, FaultRoute, JsonObject } from '../types.js'
import { drop, set } from './change.js'
import type { FaultCall, FaultSpec } from './spec.js'

const otherId = 'deadbeef'.repeat(5)

const members = (
  name: string, route: FaultRoute, summary: string, change: (json: JsonObject) => void,
): FaultSpec => ({
  name, route, summary, services: ['codehost'], stage: 'members',
  apply: ({ draft }) => change(draft.json),
})

const header = (draft: Draft, name: string, value: string): void => {
  const others = draft.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase())
  draft.headers = [...others, [name, value]]
}

/** A refusal in the host's own words. */
const refusal = (draft: Draft, status: number, message: string): void => {
  draft.status = status
  draft.bytes = Buffer.from(JSON.stringify({
    message, documentation_url: 'https://docs.github.com/rest', status: String(status),
  }))
}

const refused = (
  name: string, route: FaultRoute, summary: string, status: number, message: string,
  more: (call: FaultCall) => void = () => undefined,
): FaultSpec => ({
  name, route, summary, services: ['codehost'], stage: 'bytes', prevents: true,
  apply: (call) => {
    refusal(call.draft, status, message)
    more(call)
  },
})

const rows = (json: JsonObject): unknown[] => Array.isArray(json.tree) ? json.tree as unknown[] : []

const sideOf = (json: JsonObject, name: string): JsonObject => {
  const side = json[name]
  return isObject(side) ? side : {}
}

/** Changes the list of a page of files. */
const listed = (
  name: string, summary: string, change: (list: unknown[]) => unknown[],
): FaultSpec => ({
  name, summary, route: 'pull_files', services: ['codehost'], stage: 'bytes',
  apply: ({ draft }) => {
    const value: unknown = JSON.parse((draft.bytes ?? Buffer.from('[]')).toString('utf8'))
    if (Array.isArray(value)) draft.bytes = Buffer.from(JSON.stringify(change(value as unknown[])))
  },
})

const spent = ({ draft, value }: FaultCall): void => {
  header(draft, 'X-RateLimit-Remaining', '0')
  header(draft, 'X-RateLimit-Reset', String(Math.floor(Date.now() / 1000) + value))
}

const hour = { meaning: 'seconds until the next hour begins', fallback: 600 }

const wait = { meaning: 'seconds in Retry-After', fallback: 60 }

const later = ({ draft, value }: FaultCall): void => header(draft, 'Retry-After', String(value))

const secondary = 'You have exceeded a secondary rate limit. Please wait a few minutes.'

const refusals: readonly FaultSpec[] = [
  {
    ...refused('read_limit_spent', 'host_read', 'a read: 403, no requests left in this hour', 403,
      'API rate limit exceeded for this token.', spent),
    value: hour,
  },
  {
    ...refused('write_limit_spent', 'host_write', 'a creation not done: 403, no requests left', 403,
      'API rate limit exceeded for this token.', spent),
    value: hour,
  },
  {
    ...refused('write_too_fast', 'host_write', 'a creation not done: 403, too many at once', 403,
      secondary, later),
    value: wait,
  },
  {
    ...refused('write_too_many', 'host_write', 'a creation not done: 429, too many at once', 429,
      secondary, later),
    value: wait,
  },
  refused('write_not_done_500', 'host_write', 'a creation not done: 500', 500, 'Server Error'),
  refused('write_not_done_422', 'host_write', 'a creation not done: 422', 422, 'Validation Failed'),
  refused('write_limit_named', 'host_write', 'a creation not done: 403 that names a limit, and no '
    + 'time', 403, secondary),
  refused('write_not_done_404', 'host_write', 'a creation not done: 404', 404, 'Not Found'),
  refused('write_not_done_408', 'host_write', 'a creation not done: 408', 408, 'Request Timeout'),
  refused('write_not_done_409', 'host_write', 'a creation not done: 409', 409, 'Conflict'),
  {
    name: 'write_exists_422', route: 'host_write', services: ['codehost'], stage: 'bytes',
    summary: 'a creation that is done: 422 that says it exists already, as if it came twice',
    apply: ({ draft }) => refusal(draft, 422, 'Reference already exists'),
  },
  refused('read_not_there', 'host_read', 'a read: 404, as for a moment after a creation', 404,
    'Not Found'),
  {
    name: 'write_timed_out', route: 'host_write', services: ['codehost'], stage: 'bytes',
    summary: 'a creation that is done: 422 that says it timed out',
    apply: ({ draft }) => refusal(
      draft, 422, 'Sorry, your request timed out. It’s likely that your input was too large.'),
  },
  {
    name: 'write_cut_422', route: 'host_write', services: ['codehost'], stage: 'bytes',
    summary: 'a creation that is done: 422 without a length, half of it, then an orderly close',
    apply: ({ draft }) => {
      refusal(draft, 422, 'Sorry, your request timed out.')
      const body = (draft.bytes ?? Buffer.alloc(0)).subarray(0, 20)
      draft.wire.raw = { status: 422, body, framing: 'close' }
    },
  },
]

const errorBeside = set({ error: { message: 'sandbox fault' } })

const errorOfNull = set({ error: null })

const objects: readonly FaultSpec[] = [
  members('write_error_beside', 'host_write', 'a creation that is done: an error in its reply',
    errorBeside),
  members('read_error_beside', 'host_read', 'a read: an error beside what was asked for',
    errorBeside),
  members('write_error_null', 'host_write',
    'a creation that is done: an error of null in its reply',
    errorOfNull),
  members('read_error_null', 'host_read', 'a read: an error of null beside what was asked for',
    errorOfNull),
  members('write_other_id', 'host_write', 'a creation that is done: another id in the reply',
    (json) => {
      if (json.sha !== undefined) json.sha = otherId
      sideOf(json, 'object').sha = otherId
    }),
  members('write_other_text', 'host_write', 'a creation that is done: the reply tells another text',
    (json) => {
      if (json.title !== undefined) json.title = 'Another title'
      else if (json.body !== undefined) json.body = 'Another text'
    }),
  members('write_elsewhere', 'host_write',
    'a creation that is done: the reply is of another place', (json) => {
      for (const name of ['repository_url', 'issue_url']) {
        const at = json[name]
        if (typeof at === 'string') json[name] = `${at}0`
      }
    }),
  members('write_old_time', 'host_write',
    'a creation that is done: the reply tells a time of before', (json) => {
      if (json.created_at !== undefined) json.created_at = '2020-01-02T03:04:05Z'
    }),
  members('write_no_time', 'host_write',
    'a creation that is done: the reply tells no time of it', drop('created_at')),
  members('write_no_author', 'host_write',
    'a creation that is done: the reply names nobody as its maker', (json) => {
      if (json.user !== undefined) json.user = null
    }),
  members('write_other_author', 'host_write',
    'a creation that is done: the reply names somebody else as its maker', (json) => {
      if (isObject(json.user)) json.user = { ...json.user, login: 'somebody', id: 7_000_001 }
    }),
  members('tree_truncated', 'tree', 'the second half of the rows is left out, and that is said',
    (json) => {
      json.tree = rows(json).slice(0, Math.ceil(rows(json).length / 2))
      json.truncated = true
    }),
  members('tree_cut', 'tree', 'the last row is left out, and nothing is said', (json) => {
    json.tree = rows(json).slice(0, -1)
  }),
  members('tree_other_row', 'tree', 'the last row names another object', (json) => {
    const last = rows(json).at(-1)
    if (isObject(last)) last.sha = otherId
  }),
  members('blob_other_bytes', 'blob', 'other bytes under the id that was asked for',
    set({ content: 'b3RoZXIK\n', size: 6 })),
  members('commit_other_message', 'commit', 'another message under the id',
    set({ message: 'Another message' })),
  members('ref_moved', 'ref', 'the branch points somewhere else', (json) => {
    sideOf(json, 'object').sha = otherId
  }),
]

const talk: readonly FaultSpec[] = [
  members('repository_renumbered', 'repository', 'another repository under the name', (json) => {
    json.id = Number(json.id) + 1
  }),
  members('repository_archived', 'repository', 'the repository is archived',
    set({ archived: true })),
  members('repository_no_push', 'repository', 'the token may not push there', (json) => {
    json.permissions = { ...sideOf(json, 'permissions'), push: false }
  }),
  members('pull_closed', 'pull', 'the pull request is closed', set({ state: 'closed' })),
  members('pull_draft', 'pull', 'the pull request is a draft', set({ draft: true })),
  members('pull_retitled', 'pull', 'the pull request has another title',
    set({ title: 'Another title' })),
  {
    ...members('pull_counts', 'pull', 'the pull request tells another number of files',
      () => undefined),
    value: { meaning: 'files that it says it changes', fallback: 2_001 },
    apply: ({ draft, value }) => {
      draft.json.changed_files = value
    },
  },
  members('pull_moved', 'pull', 'the pull request has another head', (json) => {
    sideOf(json, 'head').sha = otherId
  }),
  members('issue_elsewhere', 'issue', 'the issue is one of another repository',
    set({ repository_url: 'https://127.0.0.1/repos/other/place' })),
  members('read_no_time', 'host_read', 'a read: no time of what is told', drop('created_at')),
  members('read_old_time', 'host_read', 'a read: what is told was made long ago', (json) => {
    if (json.created_at !== undefined) json.created_at = '2020-01-02T03:04:05Z'
  }),
  {
    name: 'read_spaced', route: 'host_read', services: ['codehost'], stage: 'bytes',
    summary: 'a read: the same document in other spacing',
    apply: ({ draft }) => {
      const said: unknown = JSON.parse((draft.bytes ?? Buffer.from(JSON.stringify(draft.json)))
        .toString('utf8'))
      draft.bytes = Buffer.from(JSON.stringify(said, null, 2))
    },
  },
  members('read_reordered', 'host_read', 'a read: the same members in another order', (json) => {
    for (const [name, value] of Object.entries(json).reverse()) {
      delete json[name]
      json[name] = value
    }
  }),
  members('read_other_author', 'host_read', 'a read: somebody else made what is told', (json) => {
    if (isObject(json.user)) json.user = { ...json.user, login: 'somebody', id: 7_000_001 }
  }),
  members('read_no_author', 'host_read', 'a read: nobody is told as the maker', (json) => {
    if (json.user !== undefined) json.user = null
  }),
  members('issue_other_body', 'issue', 'the issue has another text', set({ body: 'Another text' })),
  members('comment_elsewhere', 'comment', 'the comment belongs to another issue', (json) => {
    json.issue_url = `${String(json.issue_url)}0`
  }),
  listed('files_cut', 'the last file of the page is left out', (list) => list.slice(0, -1)),
  listed('files_twice', 'the last file of the page stands twice', (list) =>
    [...list, ...list.slice(-1)]),
  {
    name: 'read_no_date', route: 'host_read', services: ['codehost'], stage: 'wire',
    summary: 'a read: the host does not tell its time',
    apply: ({ draft }) => header(draft, 'Date', 'unknown'),
  },
  {
    name: 'files_more', route: 'pull_files', services: ['codehost'], stage: 'wire',
    summary: 'the page says that another one follows',
    apply: ({ draft, origin }) =>
      header(draft, 'Link', `<${origin}/more?page=99>; rel="next"`),
  },
]

/** Every fault of the code host besides those of the transport. */
export const codehostFaults: readonly FaultSpec[] = [...refusals, ...objects, ...talk]
