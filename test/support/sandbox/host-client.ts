/** A plain client of the sandbox's code host; every exchange is held to the public description. */
import { dirname } from 'node:path'
import type { Test } from 'tap'
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/start.js'
import { seedRepository } from '../../../src/sandbox/codehost/store.js'
import type { Kept } from '../../../src/sandbox/codehost/store.js'
import { described } from '../codehost/described.js'
import type { Described } from '../codehost/described.js'
import { git, tryGit } from '../codehost/real-git.js'
import type { GitPlace } from '../codehost/real-git.js'
import { sandboxOf } from '../../world/sandbox.js'
import { post } from './https-post.js'
import type { Ask, Reply } from './https-post.js'

/** A reply with its body read. */
export interface HostReply extends Reply {
  /** The body's object or list; undefined where it is no JSON. */
  readonly json: any // eslint-disable-line @typescript-eslint/no-explicit-any -- read by tests
}

/** A sandbox with a client of its code host. */
export interface Host {
  readonly sandbox: Sandbox
  /** `/repos/operator/notes`. */
  readonly top: string
  readonly told: Described
  get(path: string, how?: Partial<Ask>): Promise<HostReply>
  create(path: string, body: unknown, how?: Partial<Ask>): Promise<HostReply>
  /** The repository that the sandbox began with. */
  seed(): Promise<Kept>
  /** Its git directory for the real program. */
  place(kept: Kept): GitPlace
}

const headers = {
  'user-agent': 'test', 'accept': 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28', 'authorization': 'Bearer sandbox-codehost-token',
}

const readJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** A sandbox and a client whose every plain exchange is validated. */
export const hostOf = async (
  t: Test, options: Partial<SandboxOptions> = {},
): Promise<Host> => clientOf(await sandboxOf(t, options))

/** The same of a sandbox that is there. */
export const clientOf = (sandbox: Sandbox): Host => {
  const told = described()
  const ask = async (
    method: string, path: string, bytes: Buffer, how: Partial<Ask>,
  ): Promise<HostReply> => {
    const reply = await post({
      url: `${sandbox.profile.codehost.base_url}${path}`, ca: sandbox.caPem, method, bytes,
      ...how, headers: { ...headers, ...how.headers },
    })
    const json = readJson(reply.body)
    if (reply.status !== null && reply.whole && json !== undefined && how.headers === undefined) {
      const sent = method === 'GET' ? null : how.bytes ?? bytes
      told.check({ method, path, sent, status: reply.status, received: reply.body })
    }
    return { ...reply, json }
  }
  const seed = async (): Promise<Kept> => {
    await sandbox.codehost.open()
    const kept = sandbox.codehost.find(seedRepository.owner, seedRepository.name)
    if (kept === undefined) throw new Error('no repository')
    return kept
  }
  return {
    sandbox, told, seed, top: '/repos/operator/notes',
    get: (path, how = {}) => ask('GET', path, Buffer.alloc(0), how),
    create: (path, body, how = {}) => ask('POST', path, Buffer.from(JSON.stringify(body)), how),
    place: (kept) => ({
      gitDir: kept.git.gitDir,
      env: {
        PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', HOME: '/dev/null',
        GIT_DIR: kept.git.gitDir, GIT_CEILING_DIRECTORIES: dirname(kept.git.gitDir),
        GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null',
      },
    }),
  }
}

/** What must hold after every test: sound objects, changed paths as git tells, no violation. */
export const settled = async (t: Test, host: Host, kept?: Kept): Promise<void> => {
  const one = kept ?? await host.seed()
  const place = host.place(one)
  const checked = tryGit(place, ['fsck', '--strict', '--no-dangling'])
  t.equal(checked.status, 0, checked.stderr)
  const top = `/repos/${one.facts.owner.login}/${one.facts.name}`
  for (const { number, pull } of one.issues) {
    if (pull === null) continue
    const served: string[] = []
    for (let page = 1; ; page += 1) {
      const reply = await host.get(`${top}/pulls/${number}/files?per_page=100&page=${page}`)
      served.push(...(reply.json as { filename: string }[]).map(({ filename }) => filename))
      if (!String(reply.headers.link).includes('rel="next"')) break
    }
    const ends = [`refs/heads/${pull.base}`, `refs/heads/${pull.head}`]
    const base = git(place, ['merge-base', ...ends]).toString().trim()
    const changed = git(place, ['diff-tree', '-r', '-M', '-z', '--name-only', base, ends[1] ?? ''])
    t.strictSame(served, changed.toString('utf8').split('\0').filter((path) => path !== ''))
  }
  t.strictSame(host.told.violations, [])
  t.strictSame(host.sandbox.log.violations(), [])
}
