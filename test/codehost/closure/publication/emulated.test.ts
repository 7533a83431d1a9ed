/** Closing publications at a code host that nobody here wrote. */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import t from 'tap'
import { must } from '../../../support/must.js'
import {
  emulatedRepository, emulatedToken, startEmulated,
} from '../../../support/codehost/emulated.js'
import { World } from '../../../world/world.js'

t.test('C-021 C-154 C-247 C-248 at a host of others a publication without a pull request is closed by GET alone, and one with it is not, for the host tells no changed paths', async (t) => {
  const world = World.in(t)
  const host = await startEmulated(t, world.place.dir)
  const { place, run, json } =
    await world.state({ owner: 'ada', profileFile: host.profileFile }).session()
  const { id } = must(await run(['codehost', 'connect', '--repo', emulatedRepository,
    '--token-file', place.write('token', `${emulatedToken}\n`), '--json'])).json()
  mkdirSync(place.path('source/deep'), { recursive: true })
  place.write('source/README.md', '# Other notes\n')
  place.write('source/deep/binary', Buffer.from([0, 1, 255]))
  /** Runs one that is stopped at a step; answers the request that closes it. */
  const stopped = async (name: string, at: RegExp): Promise<readonly [string, string]> => {
    const [{ revision }] = await json(['codehost', 'connections'])
    must(await run(['codehost', 'consent', id, '--acknowledge', '--expected-revision',
      String(revision), '--action', 'git.object.create', 'git.ref.create',
      'pull_request.create']))
    const { id: job } = await json(['codehost', 'prepare', 'publication', '--connection', id,
      '--source', place.path('source'), '--base', 'main', '--branch', name, '--title', name,
      '--author', 'Ann <ann@example.org>'])
    const { digest } = await json(['codehost', 'preview', job])
    must(await run(['codehost', 'approve', job, '--preview-digest', digest]))
    const stop = new AbortController()
    await run(['codehost', 'run', job], {
      stop: stop.signal, at: (step) => {
        if (at.test(step)) stop.abort()
      },
    })
    const row = await json(['codehost', 'job', job])
    const [connection] = await json(['codehost', 'connections'])
    return [job, place.write(`${job}.json`, JSON.stringify({
      acknowledged_capacity_close: true, expected_job_revision: row.revision,
      expected_connection_revision: connection.revision,
      expected_connection_fence: connection.active_fence, idempotency_key: randomUUID(),
    }))]
  }
  const close = (job: string, request: string) =>
    run(['codehost', 'close-capacity', job, '--from', request, '--json'])
  const [first, request] = await stopped('topic/one', /^codehost\.post_(\d+)_of_\1$/)
  const before = host.exchanges.length
  const { receipt } = must(await close(first, request)).json()
  const { planned, contacted } = receipt.effects
  t.equal(contacted, planned - 1, 'the pull request was never sent')
  const seen = host.exchanges.slice(before)
  t.strictSame([...new Set(seen.map(({ method }) => method))], ['GET'])
  t.equal(seen.length, contacted + 1, 'the repository, and each effect once')
  const [whole, other] = await stopped('topic/two', /^codehost\.created$/)
  const refused = await close(whole, other)
  t.equal(refused.status, 7, refused.stderr)
  t.match(refused.error().reason, /^changed_paths_/)
  t.comment(refused.error().reason)
  const [connection] = await json(['codehost', 'connections'])
  t.equal(connection.active_job_id, whole, 'it stays occupied')
  t.equal((await run(['state', 'check'])).status, 0)
  t.strictSame(host.told.violations.filter((text) => / request: /.test(text)), [])
})
