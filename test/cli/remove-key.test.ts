/** A key that is not needed any more leaves the state, with the route that it was for. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { alphaCredentialRef } from '../../src/alpha/constants.js'
import { gatewayCredentialRef } from '../../src/gateway/constants.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { collections } from '../../src/governance/rows.js'
import type { View } from '../../src/state/types.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import type { Place } from '../world/place.js'
import { World } from '../world/world.js'

/** File of the sealed key in use under a reference. */
const sealedFile = (at: { readonly place: Place; view(): View }, ref: string): string => {
  const name = at.view().get(collections.credentials, ref)?.artifact.stored_sha256 ?? 'none'
  return join(at.place.stateDir, 'artifacts', name.slice(0, 2), name)
}

const removal = ['alpha', 'setup', '--remove-key', '--json']

t.test('A-050 A-165 the removed key of the text capability is gone from the disk, its route is disabled, limits stay', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const path = sealedFile(at, alphaCredentialRef)
  t.ok(existsSync(path))
  const before = (await at.json(['alpha', 'show'])).alpha_text
  const gone = must(await at.run(removal))
  t.match(gone.stderr, 'A backup from before still holds it')
  t.hasStrict(gone.json().alpha_text, {
    enabled: false, max_output_tokens: before.max_output_tokens,
    spend_ceiling_microusd: before.spend_ceiling_microusd,
  })
  t.equal(at.view().get(collections.credentials, alphaCredentialRef), undefined)
  t.notOk(existsSync(path), 'the sealed bytes are gone, too')
  t.equal((await at.ask()).status, 4)
  t.equal(at.inferences().length, 0)
  const { revision } = policyHead(at.view())
  must(await at.run(removal))
  t.equal(policyHead(at.view()).revision, revision, 'again it changes nothing')
  t.equal((await at.run(['state', 'check'])).status, 0)
  must(await at.run(['alpha', 'setup', '--enable', '--acknowledge-plaintext-egress',
    '--api-key-file', at.sandbox.keyFiles.provider, '--expected-policy-revision',
    String(revision)]))
  must(await at.ask())
})

t.test('A-077 S-011 the removed key of the gateway closes its slots, and leaves the text capability as it was', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha().gateway()
  const path = sealedFile(at, gatewayCredentialRef)
  const { alpha_text: alpha } = await at.json(['config', 'show'])
  t.ok(existsSync(path))
  t.hasStrict(must(await at.run(['gateway', 'setup', '--remove-key', '--json'])).json().gateway,
    { enabled: false })
  t.notOk(existsSync(path))
  t.hasStrict(at.view().all(collections.stops).map(({ doc }) => doc),
    [{ kind: 'gateway_slot', outcome: 'recorded' }])
  t.strictSame((await at.json(['config', 'show'])).alpha_text, alpha)
  t.ok(existsSync(sealedFile(at, alphaCredentialRef)))
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('A-167 a key stays while a bill is still read back with it, and goes where a person alone has to act', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { revision } = policyHead(at.view())
  must(await at.ask({ at: async (step) => {
    if (step !== 'ask.replied') return
    const refused = await at.run(removal)
    t.strictSame(failure(refused), { status: 5, code: 'key_reads_back', out: '' })
    t.match(refused.error().hint, 'Wait until it has ended')
  } }))
  t.equal(policyHead(at.view()).revision, revision)
  t.ok(existsSync(sealedFile(at, alphaCredentialRef)))
  t.strictSame(at.view().all(collections.stops), [])
  at.sandbox.faults.set('billing_status_500', { service: 'provider' })
  t.equal((await at.ask()).status, 7)
  at.sandbox.faults.clear()
  at.sandbox.faults.set('billing_overrun', { value: 1_000_000 })
  t.equal((await at.ask()).status, 7)
  const gone = must(await at.run([...removal, '--void-answers']))
  t.notOk(existsSync(sealedFile(at, alphaCredentialRef)), gone.stderr)
})

t.test('the flag stands alone, and a route that was never set up has no key', async (t) => {
  const at = await World.in(t).sandbox().state().session()
  for (const noun of ['alpha', 'gateway']) {
    const line = [noun, 'setup', '--remove-key', '--json']
    t.strictSame(failure(await at.run(line)), { status: 3, code: 'no_key_stored', out: '' })
    t.strictSame(failure(await at.run([...line, '--disable'])),
      { status: 2, code: 'several_sources', out: '' })
  }
})

t.test('A-074 A-191 killed before it is recorded the key stands, and the same line takes it away', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const path = sealedFile(at, alphaCredentialRef)
  const ran = await at.place.spawn(removal, {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'save.revoked' },
  })
  t.equal(ran.status, 137)
  t.ok(existsSync(path))
  t.equal((await at.ask()).status, 4, 'nothing leaves meanwhile')
  must(await at.run(removal))
  t.notOk(existsSync(path))
})

t.test('while another save is under way no key is taken away', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const path = sealedFile(at, alphaCredentialRef)
  let raced: number | undefined
  await at.run(['alpha', 'setup', '--acknowledge-plaintext-egress', '--enable',
    '--api-key-file', at.place.write('key-2', 'MARK-KEY-another\n'),
    '--expected-policy-revision', String(await at.revision())], {
    at: async (step) => {
      if (step !== 'save.credential') return
      const ran = await at.run(removal)
      raced = ran.status
      t.equal(ran.error().code, 'save_in_progress')
    },
  })
  t.equal(raced, 5)
  t.notOk(existsSync(path), 'the other save replaced it')
  t.ok(existsSync(sealedFile(at, alphaCredentialRef)))
})
