/** The part of the demo about closing capacity: by proof, refused, and verified offline. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { exitStatus } from '../../../base/outcome.js'
import type { Sandbox } from '../../../sandbox/start.js'
import type { Stage } from './stage.js'

interface ShownJob {
  readonly id: string
  readonly revision: number
  readonly fence: number | null
  readonly remote_id: number | null
  readonly closure: { readonly id: string } | null
}

/** What this part of the demo works with. */
interface ClosingDemo {
  readonly stage: Stage
  readonly sandbox: Sandbox
  /** Id of the connection. */
  readonly connection: string
  /** Prepares, looks and approves; gives the id of the job. */
  readonly approve: (title: string) => Promise<string>
  /** Consents anew, under the revision of now. */
  readonly consent: () => Promise<void>
  /** Where the receipt is kept. */
  readonly receiptFile: string
}

const jobsOf = async ({ stage }: ClosingDemo): Promise<readonly ShownJob[]> =>
  await stage.ask(['codehost', 'jobs']) as readonly ShownJob[]

/** What a person who looks on the host finds: issues and pull requests share their numbers. */
const foundNumber = async (demo: ClosingDemo): Promise<number> =>
  Math.max(0, ...(await jobsOf(demo)).map(({ remote_id: id }) => id ?? 0)) + 1

/** A job whose creation was answered by nobody. */
const lose = async (demo: ClosingDemo, title: string): Promise<string> => {
  const job = await demo.approve(title)
  demo.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await demo.stage.play({
    say: 'The reply of its creation is killed: nobody knows whether the issue is there.',
    argv: ['codehost', 'run', job], status: exitStatus.blocked,
  })
  return job
}

/** A request to close, with the numbers of now and a key of its own. */
const closing = async (
  demo: ClosingDemo, job: string, hint: readonly string[],
): Promise<readonly string[]> => {
  const row = (await jobsOf(demo)).find(({ id }) => id === job)
  const connections = await demo.stage.ask(['codehost', 'connections'])
  const [connection] = connections as readonly { readonly revision: number }[]
  if (row === undefined || connection === undefined) throw new TypeError('both are there')
  return [
    'codehost', 'close-capacity', job, '--acknowledge', '--expected-job-revision',
    String(row.revision), '--expected-connection-revision', String(connection.revision),
    '--expected-connection-fence', String(row.fence ?? 1), '--idempotency-key', randomUUID(),
    ...hint,
  ]
}

const playClosed = async (demo: ClosingDemo): Promise<string> => {
  const { stage } = demo
  const number = await foundNumber(demo)
  const job = await lose(demo, 'Mend the index')
  await stage.play({
    say: 'It is unknown and occupies its connection; nothing else may be sent through it.',
    argv: ['codehost', 'jobs', job],
  })
  await stage.play({
    say: 'Look on the host yourself, and close the capacity with its number. It is read by GET, '
      + 'and only what matches the sealed bytes proves it.',
    argv: await closing(demo, job, ['--remote-id', String(number)]),
  })
  await stage.play({
    say: 'The job stays unknown, and never runs again, whoever asks.',
    argv: ['codehost', 'run', job, '--resume'], status: exitStatus.conflict,
  })
  await demo.consent()
  const successor = await demo.approve('Mend the index, once more')
  await stage.play({
    say: 'A successor runs: another job, under a consent of after the closure, with an approval '
      + 'of its own.',
    argv: ['codehost', 'run', successor],
  })
  return job
}

const playRefused = async (demo: ClosingDemo): Promise<void> => {
  const { stage } = demo
  const number = await foundNumber(demo)
  const job = await lose(demo, 'Mend the links')
  await stage.play({
    say: 'Without its number nothing is searched for: the closure is refused, and says what can '
      + 'be done.',
    argv: await closing(demo, job, []), status: exitStatus.blocked,
  })
  await stage.play({
    say: 'Another issue is no proof of this one: refused, and still occupied.',
    argv: await closing(demo, job, ['--remote-id', String(number - 1)]),
    status: exitStatus.blocked,
  })
  await stage.play({
    say: 'With the right number it is proved.',
    argv: await closing(demo, job, ['--remote-id', String(number)]),
  })
}

/** Closes by proof, is refused, and verifies the receipt of the first closure. */
export const playClosures = async (demo: ClosingDemo): Promise<void> => {
  const { stage, receiptFile } = demo
  const job = await playClosed(demo)
  await playRefused(demo)
  const closure = (await jobsOf(demo)).find(({ id }) => id === job)?.closure?.id ?? ''
  const { stdout } = await stage.play({
    say: 'Keep the receipt of the first closure in a file.',
    argv: ['codehost', 'recover', 'closures', closure, '--receipt'],
  })
  writeFileSync(receiptFile, stdout)
  await stage.play({
    say: 'Verify it offline: no session, no host. It proves our record and not the host.',
    argv: ['codehost', 'recover', 'verify', receiptFile],
  })
}
