/** What writes to a code host has its own consent; whatever else contacts somebody has another. */
import t from 'tap'
import { collections } from '../../src/governance/rows.js'
import { minute, movedClock } from '../support/clock.js'
import { must } from '../support/must.js'
import { World } from '../world/world.js'

t.test('C-028 an ask and the proof of a slot end the same without a consent to writes, with one, and when that is revoked, disabled, expired or disconnected', async (t) => {
  const at = await World.in(t, { clock: movedClock() })
    .sandbox().state().session().alpha().gateway()
  const { run, json, sandbox } = at
  /** What an ask comes to, apart from ids and times. */
  const outcome = async () => {
    const before = sandbox.log.all().length
    const ran = await at.ask()
    const { task, state, receipt } = ran.json()
    t.type(task ?? receipt, 'object')
    const proved = await at.prove('screenshot')
    const seen = sandbox.log.all().slice(before).map(({ service, method, path }) =>
      `${service} ${method} ${path.replace(/[0-9a-f-]{36}/g, 'ID')}`)
    return {
      status: ran.status, state: state ?? null, text: (await run(['alpha', 'show'])).stdout,
      proof: [proved.status, proved.json().verdict ?? proved.json().state ?? null], seen,
    }
  }
  const without = await outcome()
  t.equal(without.status, 0)
  t.ok(without.seen.length > 2, without.seen.join('; '))
  t.notOk(without.seen.some((one) => one.startsWith('codehost')))
  const { id } = must(await run(['codehost', 'connect', '--repo', 'operator/notes', '--token-file',
    sandbox.keyFiles.codehost, '--json'])).json()
  t.strictSame(await outcome(), without, 'a connection without a consent')
  const consent = async () => {
    const [{ revision }] = await json(['codehost', 'connections'])
    must(await run(['codehost', 'consent', id, '--acknowledge', '--action', 'issue.create',
      '--duration', '1m', '--expected-revision', String(revision)]))
  }
  await consent()
  const consents = at.view().all(collections.consents).map(({ doc }) => doc)
  t.strictSame(await outcome(), without, 'with a consent')
  await consent()
  at.clock.advance(minute)
  t.equal((await json(['codehost', 'grants']))[0].state, 'expired')
  t.strictSame(await outcome(), without, 'with one that has expired')
  await consent()
  for (const line of [
    ['codehost', 'revoke', id], ['codehost', 'mode', id, 'reconcile_only'],
    ['codehost', 'mode', id, 'disabled'], ['codehost', 'disconnect', id],
  ]) {
    must(await run(line))
    t.strictSame(await outcome(), without, line.join(' '))
  }
  t.strictSame(at.view().all(collections.consents).map(({ doc }) => doc), consents,
    'no consent of theirs has changed')
})
