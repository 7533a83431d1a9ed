/** Whose a token is: asked of the host with each consent, and what comes of its answers. */
import { isViaApp, judgeAuthor } from '../../src/codehost/adapter/look.js'
import { bindingOf } from '../../src/governance/connections/grant.js'
import { connected } from '../support/codehost/connected.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

t.test('C-031 a consent keeps the account that the host told, and is bound to it', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const { consent } = at.row()
  if (consent === null) throw new Error('it was given')
  t.strictSame(consent.author, { id: 583_231, via_app: false })
  t.equal(at.host.users.length, 1)
  t.equal(at.host.requests.length, 1)
  const { binding_sha256: binding, ended, ...unbound } = consent
  t.equal(ended, null)
  t.equal(bindingOf(at.id, unbound), binding)
  t.not(bindingOf(at.id, { ...unbound, author: { id: 583_232, via_app: false } }), binding)
  t.not(bindingOf(at.id, { ...unbound, author: null }), binding)
  const { author, ...before } = unbound
  t.ok(author)
  t.equal(bindingOf(at.id, before).length, 64, 'a consent of before has none')
})

t.test('a token of an installation may not ask that: the consent has no author, and the words say so', async (t) => {
  const at = await connected(t)
  for (const status of [403, 404]) {
    at.host.tells({ status, body: { message: 'Resource not accessible by integration' } })
    const ran = must(await at.consent())
    t.equal(at.row().consent?.author, null)
    t.match(ran.stderr, 'It does not say whose this token is')
  }
})

t.test('C-021 the account of an app is shared by whoever uses that: a host that tells it of a token tells no author', async (t) => {
  const at = await connected(t)
  at.host.tells({ status: 200, body: { id: 41_898_282, type: 'Bot' } })
  must(await at.consent())
  t.equal(at.row().consent?.author, null)
  at.host.tells({ status: 200, body: { id: 41_898_282, type: 'User' } })
  must(await at.consent())
  t.hasStrict(at.row().consent?.author, { id: 41_898_282 })
  must(await at.run(['codehost', 'connect', '--connection', at.id, '--token-file',
    at.place.write('workflow', 'ghs_MARKTOKEN0123456789abcdefghijklmnop\n'),
    '--expected-revision', String(at.revision())]))
  at.host.tells({ status: 200, body: { id: 41_898_282 } })
  must(await at.consent())
  t.equal(at.row().consent?.author, null, 'whatever the host tells of a workflow’s token')
})

t.test('an answer that is none ends the consent, and nothing is saved', async (t) => {
  const at = await connected(t)
  for (const [reply, code] of [
    [{ status: 401, body: {} }, 'codehost_token_refused'],
    [{ status: 429, body: {} }, 'codehost_rate_limited'],
    [{ status: 403, body: {}, headers: { 'retry-after': '60' } }, 'codehost_rate_limited'],
    [{ status: 429, body: {}, headers: { 'content-encoding': 'gzip' } }, 'codehost_rate_limited'],
    [{ status: 401, body: ' '.repeat(1_048_577) }, 'codehost_token_refused'],
    // Which refusal a 403 is its body alone may say.
    [{ status: 403, body: {}, headers: { 'content-encoding': 'gzip' } }, 'codehost_unreachable'],
    [{
      status: 403, body: {}, headers: { 'content-encoding': 'gzip', 'x-ratelimit-remaining': '0' },
    }, 'codehost_rate_limited'],
    [{ status: 500, body: {} }, 'codehost_reply'], [{ status: 200, body: '[]' }, 'codehost_reply'],
    [{ status: 200, body: { id: '583231' } }, 'codehost_reply'],
    [{ status: 200, body: { id: 0 } }, 'codehost_reply'],
    [{ status: 301, body: {}, headers: { location: '/users/1' } }, 'repository_moved'],
  ] as const) {
    at.host.tells(reply)
    const ran = await at.consent()
    t.equal(ran.status === 0 ? 'given' : ran.error().code, code, `${reply.status}`)
    t.equal(at.row().consent, null)
  }
})

t.test('what an app does for a person is told from what the person does', async (t) => {
  for (const [token, via] of [
    ['ghu_abc', true], ['ghp_abc', false], ['github_pat_1', false], ['gho_abc', false], ['', false],
  ] as const) {
    t.equal(isViaApp(Buffer.from(token)), via, token)
  }
  const reply = { status: 200, headers: new Map(), body: Buffer.from('{"id":9,"login":"a"}') }
  t.strictSame(judgeAuthor(reply, true), { kind: 'told', author: { id: 9, via_app: true } })
})
