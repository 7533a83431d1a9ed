/**
 * A record of a shared state may stand although nobody answered: what it names is not thrown away,
 * and the same line goes on.
 */
import { publishing } from '../support/codehost/publishing.js'
import { must } from '../support/must.js'
import { fail } from '../../src/base/errors.js'
import { alphaSchemas } from '../../src/alpha/constants.js'
import { keepInput, keptInputCollection } from '../../src/alpha/ask/kept-input.js'
import { FileStore } from '../../src/state/file-store.js'
import { jobCollection } from '../../src/codehost/jobs/job-rows.js'
import type { View } from '../../src/state/types.js'
import { World } from '../world/world.js'
import t from 'tap'

/** While it works no record of that verb is answered by which `came` is so, though each stands. */
const unanswered = async <T>(
  verb: string, work: () => Promise<T>, came: (view: View) => boolean = () => true,
): Promise<T> => {
  const { prototype } = FileStore
  const own = { transact: prototype.transact, transactLoaded: prototype.transactLoaded }
  for (const name of ['transact', 'transactLoaded'] as const) {
    prototype[name] = async function transact(
      this: FileStore, ...given: Parameters<typeof own.transact>
    ) {
      const result = await own[name].apply(this, given)
      if (given[0] === verb && came(this.read())) {
        throw fail.partial('commit_unknown', 'Nobody answered.')
      }
      return result
    } as typeof own.transact
  }
  try {
    return await work()
  } finally {
    Object.assign(prototype, own)
  }
}

t.test('A-026 what a record names that stands unanswered is there, and the same line goes on: texts and keys', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { run, place, gov } = world
  const check = async (what: string) =>
    t.equal((await run(['state', 'check'])).status, 0, what)
  const question = Buffer.from(JSON.stringify({
    schema: alphaSchemas.input, question: 'MARK: what is a quay?', max_output_tokens: 64,
  }))
  const told = { kind: 'partial', code: 'commit_unknown' }
  await t.rejects(unanswered('alpha input', () =>
    keepInput(gov, world.session(), question)), told)
  await check('keep a question')
  t.equal(gov.store.read().all(keptInputCollection).length, 1)
  const key = place.write('key-2', 'MARK-KEY-2-012345\n')
  const ran = await unanswered('alpha setup', async () => run([
    'alpha', 'setup', '--json', '--api-key-file', key, '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(await world.revision()),
  ]))
  t.match(ran.stderr, 'commit_unknown')
  await check('save a key')
})

t.test('A-026 what a record names that stands unanswered is there, and the same line goes on: jobs', async (t) => {
  const at = await publishing(t)
  const { run } = at
  const check = async (what: string) => t.equal((await run(['state', 'check'])).status, 0, what)
  const connect = ['codehost', 'connect', '--repo', 'operator/notes', '--token-file',
    at.sandbox.keyFiles.codehost, '--json']
  t.match((await unanswered('codehost connect', () => run(connect))).stderr, 'commit_unknown')
  await check('connect')
  // What is read of the host before is recorded by the same verb.
  await t.rejects(unanswered('codehost prepare', () => at.preparedPublication(), (view) =>
    view.all(jobCollection).length > 0), { message: /commit_unknown/ })
  await check('prepare a publication')
  const job = await at.preparedPublication()
  const approved = await unanswered('codehost approve', () => at.approve(job))
  t.match(approved.stderr, 'commit_unknown')
  await check('approve a publication')
  must(await at.approve(job))
  must(await at.runJob(job))
  t.equal(at.job(job).state, 'succeeded')
})
