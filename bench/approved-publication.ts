/** A publication that only waits to be run: what a bench of publishing or closing begins with. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { must } from '../test/support/must.js'
import { World } from '../test/world/world.js'

/** Files of a publication by their number. */
export interface Files {
  readonly count: number
  readonly contentOf: (n: number) => Buffer
}

/** Prepares and approves one, in a state of its own; `end` takes that state away. */
export const approvedPublication = async (profileFile: string, { count, contentOf }: Files) => {
  const endings: (() => Promise<void> | void)[] = []
  const t = { teardown: (done: () => Promise<void> | void) => void endings.push(done) }
  const world = await World.in(t).state({ owner: 'ada', profileFile }).session()
  const { place, run, json } = world
  const { id: connection } = must(await run(['codehost', 'connect', '--repo', 'octo-org/hello',
    '--token-file', place.write('token', 'token-of-the-bench\n'), '--json'])).json<{ id: string }>()
  must(await run(['codehost', 'consent', connection, '--acknowledge', '--expected-revision', '1',
    '--duration', '1h', '--action', 'git.object.create', 'git.ref.create', 'pull_request.create']))
  const source = place.path('source')
  for (let n = 0; n < count; n += 1) {
    const path = join(source, `part-${n % 40}`, `of-${n % 7}`, `file-${n}`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contentOf(n))
  }
  const { id: job } = must(await run(['codehost', 'prepare', 'publication', '--connection',
    connection, '--source', source, '--base', 'main', '--branch', 'topic', '--title', 'T',
    '--author', 'Ann <ann@example.org>', '--json'])).json<{ id: string }>()
  const { digest } = await json(['codehost', 'preview', job]) as { digest: string }
  must(await run(['codehost', 'approve', job, '--preview-digest', digest]))
  const end = async (): Promise<void> => {
    for (const done of endings.reverse()) await done()
  }
  return { world, connection, job, end }
}
