/** Keys that are made of words: the same for the same, of one owner, one use and one state. */
import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { keyOfText, type KeyUse } from '../../../src/governance/board/text-keys.js'
import { line, prepared, send, withSite } from '../../support/codehost/publish-lines.js'
import { publishing } from '../../support/codehost/publishing.js'
import { failure, must } from '../../support/must.js'
import { takenBack } from '../../support/place/over-a-place.js'
import { sessionOf } from '../../world/session.js'
import { World } from '../../world/world.js'

/** RFC 9562, section 5.5, by its text alone. */
const version5 = (namespace: string, name: string): string => {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex')).update(name).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .join('-')
}

t.test('A-102 the key of some words is a UUID of version 5 in the namespace of the store', async (t) => {
  const at = await World.in(t).state().session()
  const session = sessionOf(at)
  const { storeId } = at.open('read')
  const other = '01890000-0000-4000-8000-000000000000'
  const own = session.principal.principal_id
  const key = (text: string, use: KeyUse = 'ask', store = storeId): string =>
    keyOfText({ storeId: store }, session, use, text)
  t.equal(key('run-3'), version5(storeId, `["ask","${own}","run-3"]`))
  t.equal(key('run-3'), key('run-3'))
  t.equal(new Set([
    key('run-3'), key('run-4'), key('run-3', 'job'), key('run-3', 'ask', other),
    keyOfText({ storeId }, {
      ...session, principal: { ...session.principal, principal_id: 'prn_other' },
    }, 'ask', 'run-3'),
  ]).size, 5, 'other words, another use, store or owner: another key')
  t.equal(key('ü'.repeat(100)).length, 36)
  for (const bad of ['', 'ü'.repeat(101), 'a\nb', 'a\u0000', '\ud800']) {
    t.throws(() => key(bad), { code: 'idempotency_text' })
  }
})

t.test('A-026 A-186 the same words pay once, also in a later session and over a restored copy', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const ask = (text: string) => at.ask({ args: ['--idempotency-text', text] })
  const first = must(await ask('1041-3')).json()
  t.equal(must(await ask('1041-3')).json().task.id, first.task.id)
  must(await at.run(['logout']))
  must(await at.run(['login']))
  t.equal(must(await ask('1041-3')).json().task.id, first.task.id)
  const copy = at.place.path('copy')
  must(await at.run(['state', 'backup', copy]))
  await takenBack(at)
  must(await at.run(['state', 'restore', copy, '--yes']))
  must(await at.run(['login']))
  t.equal(must(await ask('1041-3')).json().task.id, first.task.id)
  t.equal(at.inferences().length, 1)
  t.strictSame(failure(await at.ask({
    args: ['--idempotency-text', 'x', '--idempotency-key', '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10'],
  })), { status: 2, code: 'key_twice', out: '' })
  t.strictSame(failure(await at.ask({ args: ['--idempotency-key', '1041-3'] })),
    { status: 3, code: 'idempotency_key', out: '' }, 'a key itself is a UUID alone')
})

t.test('C-118 the same words prepare one publication, and an ask of the same words is another matter', async (t) => {
  const at = await publishing(t)
  const source = at.folder({ 'a.txt': 'one\n' }, 'source')
  const flags = { '--branch': 'topic/text', '--title': 'By words', '--idempotency-text': '1041' }
  const first = must(await at.publish(source, flags)).json()
  t.equal(must(await at.publish(source, flags)).json().id, first.id)
  const again = must(await at.publish(source, {
    ...flags, '--branch': 'topic/other', '--idempotency-text': '1042',
  })).json()
  t.not(again.id, first.id)
})

t.test('C-118 a folder that is published by words, and prepared again by them, is one job', async (t) => {
  const at = await withSite(t)
  const words = { '--idempotency-text': 'build 1041' }
  const first = await prepared(at, words)
  t.equal((await prepared(at, words)).job, first.job)
  t.not((await prepared(at, { '--idempotency-text': 'build 1042' })).job, first.job)
  const both = await at.run([...line(at, { ...words, '--idempotency-key': randomUUID() }),
    '--prepare', '--json'])
  t.strictSame(failure(both), { status: 2, code: 'key_twice', out: '' })
  t.hasStrict(must(await send(at, first)).json(), { state: 'succeeded' })
  t.hasStrict(await prepared(at, words), { job: first.job, state: 'succeeded' })
})
