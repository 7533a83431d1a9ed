/** A world whose connection may publish, and its publications in short. */
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import type { ToolPlaces } from '../../../src/codehost/producer/tools.js'
import type { SandboxOptions } from '../../../src/sandbox/start.js'
import type { Teardown } from '../../world/place.js'
import { must } from '../must.js'
import { working, type Working } from './working.js'

/** A folder to publish. */
export type Folder = Readonly<Record<string, string | Uint8Array>>

/** What a world is made with. */
export interface PublishingOptions extends Partial<SandboxOptions> {
  /** Another producer than the shipped one. */
  readonly producer?: ToolPlaces
}

/** What the worlds of these tests have. */
export interface Publishing extends Working {
  /** Prepares a publication onto a new branch; gives its id. */
  preparedPublication(files?: Folder, flags?: Readonly<Record<string, string>>): Promise<string>
  /** Prepared and approved. */
  approvedPublication(files?: Folder, flags?: Readonly<Record<string, string>>): Promise<string>
  /** What no program does: frees the connection of a job that occupies it for good. */
  free(job: string): Promise<void>
}

/**
 * A blob, a chunk, one growth, commit, branch and pull request: six POSTs. The number makes every
 * body one of its own, so that what is sent twice is seen.
 */
const usualFiles = (number: number): Folder => ({
  'README.md': '# Notes, of another kind\n', 'src/new.ts': 'export const one = "MARK-new"\n',
  'src/binary': Buffer.from([0, number, 2, 255]), 'docs/plan.md': '# Plan\n\n- one\n- two\n',
})

/** Makes one of a world that is there. */
export const publishingOf = async (
  at: Working, { producer }: Pick<PublishingOptions, 'producer'> = {},
): Promise<Publishing> => {
  const how = producer === undefined ? {} : { producer }
  must(await at.consentToPublish())
  let made = 0
  const preparedPublication: Publishing['preparedPublication'] = async (
    files, flags = {},
  ) => {
    made += 1
    const folder = at.folder(
      { ...files ?? usualFiles(made), 'own.txt': `publication ${made}\n` }, `source-${made}`)
    const branch = { '--branch': `topic/${made}`, '--title': `Publication ${made}` }
    return must(await at.publish(folder, { ...branch, ...flags }, how)).json().id
  }
  const more = {
    preparedPublication,
    approvedPublication: async (...of: Parameters<Publishing['preparedPublication']>) => {
      await at.freshConsent()
      const job = await preparedPublication(...of)
      const { digest } = await at.json(['codehost', 'preview', job])
      must(await at.run(['codehost', 'approve', job, '--preview-digest', digest], how))
      return job
    },
    free: (job: string) => at.transact((tx) => {
      tx.put(connectionCollection, at.id, { ...at.connection(), active_job_id: null })
      tx.put(jobCollection, job, { ...at.job(job), reserved: false })
    }),
  }
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(at), ...Object.getOwnPropertyDescriptors(more),
  }) as Publishing
}

/** Makes one. */
export const publishing = async (
  t: Teardown, { producer, ...options }: PublishingOptions = {},
): Promise<Publishing> => publishingOf(
  await working(t, options), producer === undefined ? {} : { producer })
