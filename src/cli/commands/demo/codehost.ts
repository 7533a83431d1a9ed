/** The part of the demo about a code host. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exitStatus } from '../../../base/outcome.js'
import type { Sandbox } from '../../../sandbox/start.js'
import { playClosures } from './closures.js'
import type { Stage } from './stage.js'

/** The repository that every sandbox has. */
const repository = 'operator/notes'

const revisionOf = (rows: unknown): { readonly id: string; readonly revision: number } => {
  const [first] = rows as readonly { id: string; revision: number }[]
  if (first === undefined) throw new TypeError('the demo connected before')
  return first
}

const jobOf = (rows: unknown): { readonly id: string; readonly preview_digest: string } => {
  const [newest] = rows as readonly { id: string; preview_digest: string }[]
  if (newest === undefined) throw new TypeError('the demo prepared a job before')
  return newest
}

/** Prepares, looks, approves: what every job goes through before it runs. */
const approve = async (stage: Stage, connection: string, title: string): Promise<string> => {
  await stage.play({
    say: 'Prepare an issue. The exact request is sealed; nobody is contacted.',
    argv: ['codehost', 'prepare', 'issue', '--connection', connection, '--title', title,
      '--body-file', '-'],
    stdin: 'It was seen in the nightly build.',
  })
  const { id, preview_digest: digest } = jobOf(await stage.ask(['codehost', 'jobs']))
  await stage.play({ say: 'Look at exactly what it will send.', argv: ['codehost', 'preview', id] })
  await stage.play({
    say: 'Approve that, and nothing else, by its digest.',
    argv: ['codehost', 'approve', id, '--preview-digest', digest],
  })
  return id
}

/** One issue that is sent and read back, and one of which the readback is lost. */
const playJobs = async (stage: Stage, sandbox: Sandbox, connection: string): Promise<void> => {
  const first = await approve(stage, connection, 'Mend the build')
  await stage.play({
    say: 'Run it: sent once, read back, and only that counts as done.',
    argv: ['codehost', 'run', first],
  })
  const second = await approve(stage, connection, 'Mend the docs')
  // The look before it passes; the reply of the readback is lost.
  sandbox.faults.set('read_close_before_headers', { service: 'codehost', after: 1, times: 1 })
  await stage.play({
    say: 'This time a reply is lost. What may have happened is unknown, and never sent again.',
    argv: ['codehost', 'run', second], status: exitStatus.blocked,
  })
  await stage.play({
    say: 'It occupies its connection until it is known what became of it.',
    argv: ['codehost', 'jobs'],
  })
  const { revision } = revisionOf(await stage.ask(['codehost', 'connections']))
  await stage.play({
    say: 'Read it back, by GET alone: it matches what was sealed.',
    argv: ['codehost', 'recover', 'reconcile', second, '--expected-revision', String(revision)],
  })
  await stage.play({
    say: 'Let its task count as done.', argv: ['codehost', 'recover', 'adopt', second],
  })
}

const files = {
  'README.md': '# Notes\n\nA repository to try publications on, mended.\n',
  'docs/today.md': '# Today\n\n- publish the notes\n',
  'docs/picture.bin': new Uint8Array([0, 1, 2, 255]),
} as const

const writeFiles = (dir: string, title: string): void => {
  for (const [path, content] of Object.entries({ ...files, 'docs/title.md': `# ${title}\n` })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}

/** From a folder to an approved publication. */
const approvePublication = async (
  stage: Stage, connection: string, source: string, { title, branch }: {
    readonly title: string
    readonly branch: string
  },
): Promise<string> => {
  writeFiles(source, title)
  await stage.play({
    say: 'Prepare a publication: what of a folder differs from the base, as a new branch with a '
      + 'pull request. The base is read by GET; every id is known from here on.',
    argv: ['codehost', 'prepare', 'publication', '--connection', connection, '--source', source,
      '--base', 'main', '--branch', branch, '--title', title, '--author',
      'Operator <operator@example.org>'],
  })
  const { id, preview_digest: digest } = jobOf(await stage.ask(['codehost', 'jobs']))
  await stage.play({
    say: 'Look at every creation in order, and at what changes on the base.',
    argv: ['codehost', 'preview', id, '--diff'],
  })
  await stage.play({
    say: 'Approve that. The programs that will make its objects here are bound with it.',
    argv: ['codehost', 'approve', id, '--preview-digest', digest],
  })
  return id
}

/** One publication that is read back, and one of which a reply is lost on the way. */
const playPublications = async (
  stage: Stage, sandbox: Sandbox, connection: string, source: string,
): Promise<void> => {
  const first = await approvePublication(stage, connection, source, {
    title: 'Mend the notes', branch: 'topic/notes',
  })
  await stage.play({
    say: 'Run it. Git makes its objects here once, then each creation is sent once, in order. '
      + 'Tree, commit, branch and pull request are read back.',
    argv: ['codehost', 'run', first],
  })
  const second = await approvePublication(stage, connection, source, {
    title: 'Mend them again', branch: 'topic/again',
  })
  sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 2, times: 1 })
  await stage.play({
    say: 'This time the reply of its third creation is lost: nothing later is sent.',
    argv: ['codehost', 'run', second], status: exitStatus.blocked,
  })
  const { revision } = revisionOf(await stage.ask(['codehost', 'connections']))
  await stage.play({
    say: 'Its id was known before, so it is found by GET. The rest was never sent.',
    argv: ['codehost', 'recover', 'reconcile', second, '--expected-revision', String(revision)],
    status: exitStatus.blocked,
  })
  await stage.play({
    say: 'Go on with the rest; nothing is sent twice.',
    argv: ['codehost', 'run', second, '--resume'],
  })
}

/** Where the demo has what it publishes. */
interface CodehostPlaces {
  /** A folder of the demo's own. */
  readonly source: string
  /** Whether this machine makes publications. */
  readonly publishes: boolean
}

/** Connects, consents, runs jobs, publishes, closes capacity, and takes the consent back. */
export const playCodehost = async (
  stage: Stage, sandbox: Sandbox, places: CodehostPlaces,
): Promise<void> => {
  await stage.play({
    say: 'Connect to one repository of a code host. A token identifies an account; it allows '
      + 'nothing.',
    argv: ['codehost', 'connect', '--repo', repository, '--token-file', sandbox.keyFiles.codehost],
  })
  const { id, revision } = revisionOf(await stage.ask(['codehost', 'connections']))
  const consent = [
    'codehost', 'consent', id, '--action', 'issue.create', 'comment.create', 'git.object.create',
    'git.ref.create', 'pull_request.create', '--duration', '30m', '--expected-revision',
    String(revision),
  ]
  await stage.play({
    say: 'Writes need a consent, and a consent the acknowledgment of its words: this is refused.',
    argv: consent, status: exitStatus.rejected,
  })
  await stage.play({
    say: 'Consent to five kinds of writes for half an hour. One GET shows what it is about.',
    argv: [...consent, '--acknowledge'],
  })
  await stage.play({ say: 'What is allowed, and until when.', argv: ['codehost', 'connections',
  '--grants'] })
  await playJobs(stage, sandbox, id)
  if (places.publishes) await playPublications(stage, sandbox, id, places.source)
  await playClosures({
    stage, sandbox, connection: id, receiptFile: `${places.source}-receipt.json`,
    approve: (title) => approve(stage, id, title),
    consent: async () => {
      const now = revisionOf(await stage.ask(['codehost', 'connections'])).revision
      await stage.play({
        say: 'Consent anew: what was given before the closure is for no successor of it.',
        argv: ['codehost', 'consent', id, '--action', 'issue.create', '--duration', '10m',
          '--expected-revision', String(now), '--acknowledge'],
      })
    },
  })
  await stage.play({ say: 'Take it back: in force at once.', argv: ['codehost', 'revoke', id] })
}
