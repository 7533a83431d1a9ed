/** A publication of which everything was sent and nothing read back: what a closure begins with. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { jobCollection } from '../src/codehost/jobs/rows.js'
import { connectionCollection } from '../src/governance/connections/rows.js'
import { must } from '../test/support/must.js'
import { World } from '../test/world/world.js'

/** Files of a publication by their number. */
export interface Files {
  readonly count: number
  readonly contentOf: (n: number) => Buffer
}

/** Makes one, in a state of its own. `request` is the path of a request that closes its job. */
export const unknownPublication = async (
  profileFile: string, { count, contentOf }: Files,
) => {
  const endings: (() => Promise<void> | void)[] = []
  const t = { teardown: (done: () => Promise<void> | void) => void endings.push(done) }
  const world = await World.in(t).state({ owner: 'ada', profileFile }).session()
  const { place, run, json } = world
  const { id } = must(await run(['codehost', 'connect', '--repo', 'octo-org/hello', '--token-file',
    place.write('token', 'token-of-the-bench\n'), '--json'])).json<{ id: string }>()
  must(await run(['codehost', 'consent', id, '--acknowledge', '--expected-revision', '1',
    '--duration', '1h', '--action', 'git.object.create', 'git.ref.create', 'pull_request.create']))
  const source = place.path('source')
  for (let n = 0; n < count; n += 1) {
    const path = join(source, `part-${n % 40}`, `of-${n % 7}`, `file-${n}`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contentOf(n))
  }
  const { id: job } = must(await run(['codehost', 'prepare', 'publication', '--connection', id,
    '--source', source, '--base', 'main', '--branch', 'topic', '--title', 'T', '--author',
    'Ann <ann@example.org>', '--json'])).json<{ id: string }>()
  const { digest } = await json(['codehost', 'preview', job]) as { digest: string }
  must(await run(['codehost', 'approve', job, '--preview-digest', digest]))
  const stop = new AbortController()
  await run(['codehost', 'run', job], { stop: stop.signal, at: (step) => {
    if (step === 'codehost.created') stop.abort()
  } })
  const [row, connection] = [
    world.view().get(jobCollection, job), world.view().get(connectionCollection, id)]
  const request = place.write('close.json', JSON.stringify({
    acknowledged_capacity_close: true, expected_job_revision: row?.revision,
    expected_connection_revision: connection?.revision,
    expected_connection_fence: connection?.active_fence, idempotency_key: randomUUID(),
  }))
  const end = async (): Promise<void> => {
    for (const done of endings.reverse()) await done()
  }
  return { world, job, request, end }
}
