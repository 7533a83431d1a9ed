/** Readers of the host's replies: recorded traffic is taken, what is altered is refused by name. */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { SallyportError } from '../../../src/base/errors.js'
import {
  blobBytesOf, hasNextPage, listingOf, readReply,
} from '../../../src/codehost/replies/parse-reply.js'
import { replyLimits } from '../../../src/codehost/plan/plan-limits.js'
import type { HostReplyName } from '../../../src/codehost/replies/shapes.js'
import { t } from '../../support/tests-in-slices.js'

const samples = JSON.parse(readFileSync('test/support/codehost/host-samples.json', 'utf8')) as
  Record<'repository' | 'ref' | 'issue' | 'pull' | 'comment', Record<string, unknown>[]> & {
    readonly links: readonly (string | null)[]
    readonly moved: readonly { response: object }[]
    readonly errors: readonly { response: object }[]
  }

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

t.test('recorded replies are taken with whatever else stands in them', async (t) => {
  for (const name of ['repository', 'ref', 'issue', 'pull', 'comment'] as const) {
    const list = samples[name].filter((one) => name !== 'issue' || 'state' in one)
    t.ok(list.length >= 2, `${list.length} of ${name}`)
    for (const one of list) {
      const read = readReply(name, bytesOf({ ...one, a_member_of_tomorrow: { a: [1.5] } }))
      for (const [key, value] of Object.entries(read)) {
        if (value !== null && typeof value !== 'object') t.equal(value, one[key], `${name}.${key}`)
      }
      t.notOk('a_member_of_tomorrow' in read)
    }
  }
})

t.test('two recorded issues lack their state, which the description demands, and are refused', async (t) => {
  const without = samples.issue.filter((one) => !('state' in one))
  t.equal(without.length, 2)
  for (const one of without) {
    t.throws(() => readReply('issue', bytesOf(one)), {
      code: 'host_reply_invalid', reason: 'shape', details: { reply: 'issue', field: 'state' },
    })
    t.doesNotThrow(() => readReply('issue', bytesOf({ ...one, state: 'open' })))
  }
})

t.test('a redirect or an error is none of the documents that are read', async (t) => {
  for (const { response } of [...samples.moved, ...samples.errors]) {
    for (const name of [
      'repository', 'ref', 'issue', 'pull', 'comment', 'tree', 'created',
    ] as const) {
      t.throws(() => readReply(name, bytesOf(response)), {
        code: 'host_reply_invalid', kind: 'remote', reason: 'shape',
      })
    }
  }
})

t.test('a document that carries an error is none, whatever else it holds; an error of null is left out', async (t) => {
  for (const name of ['repository', 'ref', 'pull', 'comment'] as const) {
    const one = samples[name][0] ?? {}
    t.doesNotThrow(() => readReply(name, bytesOf({ ...one, error: null })))
    for (const error of [{ message: 'x' }, '', false, []]) {
      t.throws(() => readReply(name, bytesOf({ ...one, error })), {
        code: 'host_reply_invalid', kind: 'remote', reason: 'error',
      }, name)
    }
  }
})

const sha = 'e9ba7ba07276a794d493db90e0384940ce2b757b'
const person = { name: 'A', email: 'a@b', date: '2024-01-01T00:00:00Z' }

/** One small reply of every kind, all of whose members are needed. */
const needed: Readonly<Record<HostReplyName, object>> = {
  repository: {
    id: 1, name: 'notes', full_name: 'a/notes', owner: { login: 'a' }, private: true,
    has_issues: true, default_branch: 'main',
  },
  ref: { ref: 'refs/heads/main', object: { type: 'commit', sha } },
  commit: {
    sha, message: 'm', tree: { sha }, parents: [{ sha }], author: person, committer: person,
  },
  tree: {
    sha, truncated: false, tree: [
      { path: 'a', mode: '040000', type: 'tree', sha },
      { path: 'a/b', mode: '100644', type: 'blob', sha },
    ],
  },
  blob: { sha, size: 5, encoding: 'base64', content: 'aGVs\nbG8=\n' },
  created: { sha }, user: { id: 1 },
  pull: {
    id: 1, number: 2, state: 'open', draft: false, merged: false, title: 'T', body: 'B',
    head: { ref: 'x', sha, repo: { id: 1, full_name: 'a/notes' } },
    base: { ref: 'main', sha, repo: { id: 1, full_name: 'a/notes' } }, changed_files: 1,
  },
  pull_files: [{ filename: 'a', sha, status: 'added' }],
  issue: { id: 1, number: 2, state: 'open', title: 'T', body: 'B' },
  comment: { id: 1, body: 'B', issue_url: 'https://host/issues/2' },
}

type Path = readonly (string | number)[]

/** Every member of a value, at any depth. */
const membersOf = (value: unknown, path: Path = []): Path[] =>
  typeof value !== 'object' || value === null ? []
    : Object.entries(value).flatMap(([key, one]) => {
      const here = [...path, Array.isArray(value) ? Number(key) : key]
      return [...Array.isArray(value) ? [] : [here], ...membersOf(one, here)]
    })

/** The value with the member at a path changed in place. */
const changed = (
  value: object, path: Path, change: (holder: Record<string, unknown>, key: string) => void,
): object => {
  const copy = structuredClone(value)
  const holder = path.slice(0, -1).reduce<unknown>(
    (here, key) => (here as Record<string, unknown>)[key], copy)
  change(holder as Record<string, unknown>, String(path.at(-1)))
  return copy
}

const refusedByName = (name: HostReplyName, value: unknown): boolean => {
  try {
    readReply(name, bytesOf(value))
    return false
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return error.code === 'host_reply_invalid' && error.kind === 'remote'
      && !error.message.includes('SECRET')
  }
}

t.test('a needed member that is removed, renamed or of another type is refused by name', async (t) => {
  let tried = 0
  for (const [name, value] of Object.entries(needed) as [HostReplyName, object][]) {
    t.doesNotThrow(() => readReply(name, bytesOf(value)), name)
    for (const path of membersOf(value)) {
      const where = `${name} ${path.join('.')}`
      t.ok(refusedByName(name, changed(value, path, (holder, key) => {
        delete holder[key]
      })), `${where} removed`)
      t.ok(refusedByName(name, changed(value, path, (holder, key) => {
        holder[`${key}_SECRET`] = holder[key]
        delete holder[key]
      })), `${where} renamed`)
      for (const other of [{ SECRET: 1 }, ['SECRET'], 1.5, -0.5]) {
        t.ok(refusedByName(name, changed(value, path, (holder, key) => {
          holder[key] = other
        })), `${where} retyped`)
        tried += 1
      }
    }
  }
  t.ok(tried > 200, `${tried} retyped`)
})

t.test('forms of single members are exact', async (t) => {
  const refused = (name: HostReplyName, path: Path, value: unknown): void => {
    t.ok(refusedByName(name, changed(needed[name], path, (holder, key) => {
      holder[key] = value
    })), `${name} ${path.join('.')} ${JSON.stringify(value)}`)
  }
  for (const wrong of ['', sha.toUpperCase(), `${sha}0`, sha.slice(1), `${sha}\n`, null, 1]) {
    refused('created', ['sha'], wrong)
    refused('tree', ['tree', 0, 'sha'], wrong)
  }
  for (const wrong of [0, -1, 1.5, '1', true, null, 2 ** 53]) refused('repository', ['id'], wrong)
  for (const wrong of ['100664', '40000', '', 100644]) refused('tree', ['tree', 1, 'mode'], wrong)
  refused('tree', ['tree', 1, 'type'], 'tree')
  for (const wrong of ['commit', 'blob']) refused('tree', ['tree', 0, 'type'], wrong)
  refused('tree', ['tree', 1, 'mode'], '160000')
  refused('tree', ['tree', 1, 'path'], '')
  refused('pull', ['state'], 'merged')
  refused('pull', ['draft'], 'false')
  refused('commit', ['author', 'date'], '2024-01-01T00:00:00+01:00')
  refused('blob', ['encoding'], 'utf-8')
  refused('pull_files', [0, 'previous_filename'], '')
})

t.test('whatever bytes come, a reader reads or refuses, and never ends otherwise', async (t) => {
  const names = Object.keys(needed) as HostReplyName[]
  fc.assert(fc.property(fc.constantFrom(...names), fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.jsonValue().map(bytesOf),
    fc.constantFrom(...Object.values(needed)).map(bytesOf)
      .chain((bytes) => fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)).map(([at, byte]) => {
        const copy = Buffer.from(bytes)
        copy[at] = byte
        return copy
      })),
  ), (name, bytes) => {
    try {
      readReply(name, bytes)
    } catch (error) {
      if (!(error instanceof SallyportError) || error.code !== 'host_reply_invalid') throw error
    }
  }), { numRuns: 1000 })
  for (const [text, reason] of [
    ['', 'not_json'], ['{"sha":1,"sha":1}', 'json_duplicate_key'], ['\ufeff{}', 'json_has_bom'],
    ['{"a":"\\ud800"}', 'json_lone_surrogate'],
    [`${'['.repeat(33)}${']'.repeat(33)}`, 'json_too_deep'],
  ] as const) {
    t.throws(() => readReply('created', Buffer.from(text)), { code: 'host_reply_invalid', reason })
  }
})

t.test('each reply has its own limit of bytes', async (t) => {
  const padded = (value: object, bytes: number): Buffer => {
    const text = bytesOf(value)
    return Buffer.concat([text, Buffer.alloc(bytes - text.length, 0x20)])
  }
  for (const [name, limit] of [
    ['created', replyLimits.tree], ['pull', replyLimits.other], ['blob', replyLimits.blob],
    ['pull_files', replyLimits.filesPage], ['tree', replyLimits.tree],
  ] as const) {
    t.doesNotThrow(() => readReply(name, padded(needed[name], limit)), name)
    t.throws(() => readReply(name, padded(needed[name], limit + 1)), {
      code: 'host_reply_invalid', reason: 'json_too_large',
    }, name)
  }
})

t.test('a tree gives its rows, a blob its bytes', async (t) => {
  t.strictSame(listingOf(readReply('tree', bytesOf(needed.tree))), [
    { path: 'a', mode: '040000', id: sha }, { path: 'a/b', mode: '100644', id: sha },
  ])
  const blob = (change: object): Buffer =>
    blobBytesOf(readReply('blob', bytesOf({ ...needed.blob, ...change })))
  t.equal(blob({}).toString(), 'hello')
  t.equal(blob({ content: '', size: 0 }).length, 0)
  for (const content of ['aGVsbG8', 'aGVsbG8=\r\n', 'aGVs bG8=', '*', 'aGVsbG9=', 'aGVsbG8_']) {
    t.throws(() => blob({ content }), { code: 'host_reply_invalid', reason: 'base64' }, content)
  }
  t.throws(() => blob({ size: 6 }), { code: 'host_reply_invalid', reason: 'size' })
})

t.test('the links of recorded pages tell whether another follows, and others are refused', async (t) => {
  t.strictSame(samples.links.map((link) => hasNextPage(link ?? undefined)),
    [true, true, true, true, false])
  t.equal(hasNextPage(undefined), false)
  t.equal(hasNextPage('<https://a/?page=1>; rel="prev"'), false)
  for (const wrong of ['', 'next', '<a>; rel=next', '<a>', '<a>; rel="prev", x']) {
    t.throws(() => hasNextPage(wrong), { code: 'host_reply_invalid', reason: 'link' }, wrong)
  }
})
