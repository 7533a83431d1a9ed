/** A world of publications that occupy their connection, each stopped at one place. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Teardown } from '../../world/place.js'
import { must } from '../must.js'
import { clientOf, settled } from '../sandbox/host-client.js'
import { closingOf, type Closing } from './closing.js'
import { publishing, type Folder, type Publishing, type PublishingOptions } from './publishing.js'

/** What the worlds of these tests have. */
export interface PublicationClosing extends Closing, Publishing {
  /**
   * A publication whose reply to one POST was lost, by what that POST made: everything before it is
   * known to be made, and nothing behind it was sent.
   */
  stopped(at: StoppedAt, files?: Folder): Promise<string>
  /** A publication that is whole and whose readback was lost. */
  whole(files?: Folder): Promise<string>
  /** A publication whose process died when its local work was proved to be over. */
  local(files?: Folder): Promise<string>
  /** Names of the sealed files. */
  sealed(): readonly string[]
  /** The host's git is whole. */
  isWhole(t: Test): Promise<void>
}

/** Number of the POST whose reply is lost; of the usual publication, which has six. */
export const stops = {
  blob: 1, chunk: 2, growth: 3, commit: 4, ref: 5, pull_request: 6,
} as const
/** What was made last. */
export type StoppedAt = keyof typeof stops

const once = { service: 'codehost', times: 1 } as const

/** Makes one. */
export const publicationClosing = async (
  t: Teardown, options?: PublishingOptions,
): Promise<PublicationClosing> => {
  const at = closingOf(await publishing(t, options))
  const more = {
    stopped: async (last: StoppedAt, files?: Folder) => {
      const job = await at.approvedPublication(files)
      at.sandbox.faults.set('write_close_before_headers', { ...once, after: stops[last] - 1 })
      await at.runJob(job)
      at.sandbox.faults.clear()
      return job
    },
    whole: async (files?: Folder) => {
      const job = await at.approvedPublication(files)
      await at.runJob(job, {
        at: (step) => {
          if (step !== 'codehost.created') return
          at.sandbox.faults.set('read_close_before_headers', once)
        },
      })
      at.sandbox.faults.clear()
      return job
    },
    local: async (files?: Folder) => {
      const job = await at.approvedPublication(files)
      const killed = await at.place.spawn(['codehost', 'run', job, '--json'], {
        entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.produced' },
      })
      if (killed.status === 0) throw new Error('it was not killed')
      must(await at.run(['goal', 'add', `after ${job}`]))
      return job
    },
    sealed: () => readdirSync(join(at.place.stateDir, 'artifacts'), { recursive: true })
      .map(String).filter((name) => /[0-9a-f]{64}$/.test(name)).sort(),
    isWhole: (test: Test) => settled(test, clientOf(at.sandbox)),
  }
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(at), ...Object.getOwnPropertyDescriptors(more),
  }) as PublicationClosing
}
