/** A world of jobs that occupy their connection, and closing their capacity in short. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { referencedArtifacts } from '../../../src/governance/artifacts.js'
import type { Loose, Ran, RunOptions, Teardown } from '../../world/place.js'
import { connectionOf, working, type Working } from './working.js'

/** What the worlds of these tests have. */
export interface Closing extends Working {
  /** A job that is unknown: its reply was lost, or (`numbered`) its readback. */
  unknown(title?: string, numbered?: 'numbered'): Promise<string>
  /** A request for a job with the numbers of now; more fields replace or add. */
  request(job: string, more?: Loose): Loose
  /** Sends a request as a file; a text as it is. */
  close(job: string, request: Loose, options?: RunOptions): Promise<Ran>
  /** Requests to the code host that one piece of work made. */
  during(work: () => Promise<unknown>): Promise<readonly string[]>
  /** The same for another connection to the same repository, saved now. */
  beside(): Promise<Closing>
  /** Digest of each file of the state that a refused closure must leave as it was. */
  bytes(): ReadonlyMap<string, string>
}

const leftOut = new Set(['run', 'lock', 'fold', 'pending'])

const filesBelow = (dir: string, below = ''): readonly string[] => readdirSync(join(dir, below))
  .flatMap((name) => {
    const path = join(below, name)
    if (below === '' && leftOut.has(name)) return []
    return statSync(join(dir, path)).isDirectory() ? filesBelow(dir, path) : [path]
  })

/** Makes one of a world that is there. */
export const closingOf = <W extends Working>(at: W): W & Closing => {
  const more = {
    unknown: async (title?: string, numbered?: 'numbered') => {
      const job = await at.approved(title)
      const once = { service: 'codehost', times: 1 } as const
      if (numbered === undefined) at.sandbox.faults.set('write_close_before_headers', once)
      await at.runJob(job, {
        at: (step) => {
          if (numbered === undefined || step !== 'codehost.created') return
          at.sandbox.faults.set('read_close_before_headers', once)
        },
      })
      at.sandbox.faults.clear()
      return job
    },
    request: (job: string, given: Loose = {}): Loose => ({
      acknowledged_capacity_close: true, expected_job_revision: at.job(job).revision,
      expected_connection_revision: at.connection().revision,
      expected_connection_fence: at.connection().active_fence, idempotency_key: randomUUID(),
      ...given,
    }),
    close: (job: string, request: Loose, options?: RunOptions) => {
      const raw = typeof request === 'string' ? request : JSON.stringify(request)
      return at.run(['codehost', 'close-capacity', job, '--from',
        at.place.write(`request-${randomUUID()}.json`, raw), '--json'], options)
    },
    during: async (work: () => Promise<unknown>) => {
      const before = at.requests().length
      await work()
      return at.requests().slice(before).map(({ method, path }) => `${method} ${path}`)
    },
    beside: async () => closingOf(await connectionOf(at)),
    bytes: () => {
      const { stateDir } = at.place
      const named = referencedArtifacts(at.view())
      return new Map(filesBelow(stateDir)
        .filter((path) => !path.startsWith('artifacts/') || named.has(path.split('/').at(-1) ?? ''))
        .filter((path) => existsSync(join(stateDir, path)))
        .map((path) => [path, createHash('sha256')
          .update(readFileSync(join(stateDir, path))).digest('hex')]))
    },
  }
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(at), ...Object.getOwnPropertyDescriptors(more),
  }) as W & Closing
}

/** Makes one. */
export const closing = async (t: Teardown): Promise<Closing> => closingOf(await working(t))
