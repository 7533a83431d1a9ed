/**
 * A world with the sandbox's code host, one consented connection and its jobs in short. The clock
 * is moved by the test; requests are counted from when the world stood.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { closedByConsent, jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import {
  connectionCollection, type Connection,
} from '../../../src/governance/connections/connection-rows.js'
import { collections, type Task } from '../../../src/governance/rows.js'
import { rowsUnder } from '../../../src/state/indexes.js'
import type { SandboxOptions } from '../../../src/sandbox/start.js'
import type { SeenRequest } from '../../../src/sandbox/types.js'
import type { Loose, Ran, RunOptions, Teardown } from '../../world/place.js'
import type { Outside } from '../../world/sandbox.js'
import type { SignedIn } from '../../world/session.js'
import type { Stateful, StateOptions } from '../../world/state.js'
import { World, type Placed } from '../../world/world.js'
import { movedClock, type StillClock } from '../clock.js'
import { must } from '../must.js'

/** What the worlds of these tests have. */
export interface Working extends Placed<StillClock>, Stateful, SignedIn, Outside {
  /** Id of the connection. */
  readonly id: string
  connection(): Connection
  /** A job's row as it is now. */
  job(id: string): Job
  task(id: string): Task | undefined
  /** Consents anew; the flags replace those of all follow-through actions. */
  consent(flags?: readonly string[]): Promise<Ran>
  /** Prepares an issue; gives its id. */
  prepare(title?: string): Promise<string>
  /** Prepares a comment on an issue; gives its id. */
  prepareComment(issue: number, text?: string): Promise<string>
  /** Consents to what a publication needs. */
  consentToPublish(): Promise<Ran>
  /** The same consent anew where a job was closed under the one of now; else nothing. */
  freshConsent(): Promise<void>
  /** Writes a folder of files, its name that of the working folder's; gives its path. */
  folder(files: Readonly<Record<string, string | Uint8Array>>, name?: string): string
  /** Prepares a publication of a folder; more flags replace or add to the usual ones. */
  publish(source: string, flags?: Readonly<Record<string, string>>, how?: RunOptions): Promise<Ran>
  /** Approves what the preview shows. */
  approve(job: string): Promise<Ran>
  /** Prepared and approved. */
  approved(title?: string): Promise<string>
  runJob(job: string, options?: RunOptions): Promise<Ran>
  reconcile(job: string, options?: RunOptions): Promise<Ran>
  /** Requests to the code host since the world stood. */
  requests(): readonly SeenRequest[]
  /** Its creations. */
  posts(): readonly SeenRequest[]
  /** TCP connections to it: a TLS hello is one too. */
  dials(): number
}

/** What is published here ends in this word, so that leaks are found. */
export const hostMark = 'MARK-host-text'

const requestsOf = ({ sandbox }: Outside): readonly SeenRequest[] =>
  sandbox.log.all().filter(({ service }) => service === 'codehost')

/** A world that connections are saved in. */
export type Signed = Placed<StillClock> & Stateful & SignedIn & Outside

/** Saves a connection of its own, consented, and gives its jobs in short. */
export const connectionOf = async (world: Signed): Promise<Working> => {
  const { place, run, json, sandbox } = world
  const { id }: Loose = must(await run([
    'codehost', 'connect', '--repo', 'operator/notes', '--token-file', sandbox.keyFiles.codehost,
    '--json',
  ])).json()
  const connection = (): Connection => {
    const found = world.view().get(connectionCollection, id)
    if (found === undefined) throw new Error('no such row')
    return found
  }
  const consent = (flags: readonly string[] = ['--action', 'issue.create', 'comment.create']) =>
    run(['codehost', 'consent', id, '--acknowledge', '--json', '--expected-revision',
      String(connection().revision), ...flags])
  must(await consent())
  const before = requestsOf(world).length
  /** What a person does who goes on behind a closure: another consent to the same. */
  const freshConsent = async (): Promise<void> => {
    const given = connection().consent
    const spent = given !== null && given.ended === null && rowsUnder(
      world.view(), jobCollection, closedByConsent, { under: [given.consent_id], limit: 1 },
    ).length > 0
    if (spent) must(await consent(['--action', ...given.actions]))
  }
  const prepared = async (words: readonly string[], text: string): Promise<string> =>
    (await json(['codehost', 'prepare', ...words, '--connection', id, '--body-file',
      place.write('body.md', text)])).id
  const folder = (
    files: Readonly<Record<string, string | Uint8Array>>, name = 'source',
  ): string => {
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(place.path(`${name}/${path}`)), { recursive: true })
      place.write(`${name}/${path}`, bytes)
    }
    return place.path(name)
  }
  const publish = (
    source: string, flags: Readonly<Record<string, string>> = {}, how?: RunOptions,
  ): Promise<Ran> => run(['codehost', 'prepare', 'publication', ...Object.entries({
    '--connection': id, '--source': source, '--base': 'main', '--branch': 'topic/one',
    '--title': 'One', '--author': 'Ann <ann@example.org>', ...flags,
  }).flat(), '--json'], how)
  const prepare = (title = 'A title') => prepared(['issue', '--title', title], hostMark)
  const approve = async (job: string) => run(['codehost', 'approve', job, '--preview-digest',
    (await json(['codehost', 'preview', job])).digest, '--json'])
  const more = {
    id, connection, consent, freshConsent, prepare, approve, folder, publish,
    consentToPublish: () => consent(['--action', 'git.object.create', 'git.ref.create',
      'pull_request.create']),
    job: (of: string): Job => {
      const found = world.view().get(jobCollection, of)
      if (found === undefined) throw new Error('no such job')
      return found
    },
    task: (of: string) => world.view().get(collections.openTasks, of)
      ?? world.view().get(collections.closedTasks, of),
    prepareComment: (issue: number, text = hostMark) =>
      prepared(['comment', '--issue', String(issue)], text),
    approved: async (title?: string) => {
      await freshConsent()
      const job = await prepare(title)
      must(await approve(job))
      return job
    },
    runJob: (job: string, how?: RunOptions) => run(['codehost', 'run', job, '--json'], how),
    reconcile: (job: string, how?: RunOptions) => run(['codehost', 'reconcile', job, '--json',
      '--expected-read-revision', String(connection().revision)], how),
    requests: () => requestsOf(world).slice(before),
    posts: () => requestsOf(world).slice(before).filter(({ method }) => method === 'POST'),
    dials: () => new Set(requestsOf(world).slice(before).map((one) => one.connection)).size,
  }
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(world), ...Object.getOwnPropertyDescriptors(more),
  }) as Working
}

/** Makes one; `state`: how its state is made. */
export const working = async (
  t: Teardown, options: Partial<SandboxOptions> = {}, state?: StateOptions,
): Promise<Working> => connectionOf(
  await World.in(t, { clock: movedClock() }).sandbox(options).state(state).session())
