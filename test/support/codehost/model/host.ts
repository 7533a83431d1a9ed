/**
 * A code host in this process, behind the seam of the one HTTPS client: it takes requests in the
 * order of the real one (authority, look-up, authority, mark, authority under the fence, bytes) and
 * opens no socket. It knows one repository and its issues.
 */
import { ContactError, noteContact } from '../../../../src/net/contact-error.js'
import type { HttpsSession } from '../../../../src/net/client.js'
import type { HttpsClient, HttpsReply, HttpsRequest } from '../../../../src/net/types.js'
import { repositoryBody } from '../plain-host.js'

/** Where it is; nobody listens there. */
export const modelHost = 'https://127.0.0.1:9'

/** What it does wrong, once. */
export type PostFault = 'reply_lost' | 'request_lost' | 'refused' | 'unreachable'
export const readFaults = [
  'not_found', 'failed', 'differs', 'reset', 'list', 'redirect', 'moved',
] as const
export type ReadFault = (typeof readFaults)[number]

interface Issue {
  readonly title: string
  readonly body: string
}

/** A request that it was sent. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** Its clock stands: whatever it made was made in the contact. Likenesses are tested elsewhere. */
const standing = new Date(Date.UTC(2026, 10, 20, 12))

const reply = (
  status: number, told: unknown, headers: readonly (readonly [string, string])[] = [],
): HttpsReply => {
  const body = Buffer.from(JSON.stringify(told))
  const own = [
    ['content-type', 'application/json'], ['content-length', String(body.length)],
    ['date', standing.toUTCString()], ...headers,
  ] as const
  return { status, body, headers: new Map(own.map(([name, value]) => [name, [value]])) }
}

const nothing = reply(404, { message: 'Not Found' })

const read: Readonly<Record<ReadFault, (whole: HttpsReply) => HttpsReply>> = {
  not_found: () => nothing,
  failed: () => reply(502, { message: 'Bad Gateway' }),
  differs: ({ body }) => {
    const told = JSON.parse(body.toString('utf8')) as Record<string, unknown>
    return reply(200, { ...told, full_name: 'octo-org/other', title: `${String(told['title'])}.` })
  },
  reset: () => {
    throw new ContactError('reset', 'possible', 'The connection ended.')
  },
  list: ({ body }) => reply(200, [JSON.parse(body.toString('utf8'))]),
  redirect: () => reply(301, {}, [['location', `${modelHost}/repositories/1/issues/1`]]),
  moved: () => reply(200, { ...repositoryBody(), id: 7 }),
}

/** One host; what it has made and was sent is there to be looked at. */
export class ModelHost {
  readonly issues: Issue[] = []
  readonly seen: Seen[] = []
  post: PostFault | null = null
  /** What the next read but `skip` more does. */
  readFault: { readonly fault: ReadFault; skip: number } | null = null
  /** Its other end is dead: nothing reaches it any more. */
  gone = false

  /** Somebody makes one by hand; gives its number. */
  make(issue: Issue): number {
    return this.issues.push(issue)
  }

  #answer({ method, path, body }: Seen): HttpsReply {
    if (method === 'POST') {
      if (this.post === 'refused') return reply(422, { message: 'Validation Failed' })
      if (this.post === 'request_lost') throw new ContactError('reset', 'possible', 'Lost.')
      const issue = JSON.parse(body) as Issue
      const number = this.make({ title: issue.title, body: issue.body })
      if (this.post === 'reply_lost') throw new ContactError('reset', 'possible', 'Lost.')
      return reply(201, this.#issue(number))
    }
    if (path === '/user') return reply(200, { login: 'octo', id: 5 })
    const number = Number(/\/issues\/(\d+)$/.exec(path)?.[1] ?? '0')
    if (number > this.issues.length) return nothing
    const whole = reply(200, number === 0 ? repositoryBody() : this.#issue(number))
    return this.#faulted(whole)
  }

  #faulted(whole: HttpsReply): HttpsReply {
    const { readFault: at } = this
    if (at === null) return whole
    if (at.skip > 0) {
      at.skip -= 1
      return whole
    }
    this.readFault = null
    return read[at.fault](whole)
  }

  #issue(number: number) {
    const { title, body } = this.issues[number - 1] as Issue
    return {
      id: 1_000 + number, number, state: 'open', title, body,
      repository_url: `${modelHost}/repos/octo-org/hello`, created_at: standing.toISOString(),
      user: { id: 5 },
    }
  }

  async #leave(request: HttpsRequest): Promise<Seen> {
    await request.authority('before_resolve')
    await request.authority('before_dial')
    await request.markContact()
    const refused = this.gone || (request.method === 'POST' && this.post === 'unreachable')
    if (refused) throw new ContactError('connect_failed', 'none', 'Nobody listens.')
    const { fence, signal = new AbortController().signal } = request
    await fence?.take(true, signal)
    try {
      await request.authority('before_first_byte')
      if (this.gone) throw new ContactError('connect_failed', 'none', 'Nobody listens.')
      await fence?.look()
      fence?.note('begun')
      const seen: Seen = {
        method: request.method, path: new URL(request.url).pathname,
        body: Buffer.from(request.body ?? '').toString('utf8'),
      }
      this.seen.push(seen)
      fence?.note('whole')
      return seen
    } finally {
      fence?.give()
    }
  }

  async #request(request: HttpsRequest): Promise<HttpsReply> {
    let seen: Seen
    try {
      seen = await this.#leave(request)
    } catch (error) {
      noteContact(error, 'none')
      throw error
    }
    return this.#answer(seen)
  }

  /** What the program contacts it by. */
  client(): HttpsClient & { openSession(): HttpsSession } {
    const one: HttpsClient = { request: (request) => this.#request(request) }
    return { ...one, openSession: () => ({ ...one, close: () => undefined }) }
  }
}
