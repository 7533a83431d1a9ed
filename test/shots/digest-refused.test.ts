/** Texts that are not kept, calls that are not repeated, and what a person may do then. */
import { claimCollection } from '../../src/gateway/call/claims.js'
import { checkLedger } from '../support/ledger.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment, type Said } from '../world/texts.js'
import { World } from '../world/world.js'

const base64 = Buffer.alloc(600, 7).toString('base64')

/** A text of the gateway, how it is said, and why it is refused. */
const refusals: readonly (readonly [string, Said, string])[] = [
  ['x'.repeat(6_001), {}, 'text_too_long'],
  ['   \n ', {}, 'text_empty'],
  ['A bell \u0007 rings.', {}, 'text_has_control_characters'],
  ['It was data:image/png;base64,iVBORw0KGgo= there.', {}, 'text_has_data'],
  [`Blob ${base64}`, {}, 'text_has_data'],
  [`Hash ${'ab'.repeat(32)}.`, {}, 'text_has_digest'],
  ['The key is sk-live-abcdefghijklmnop0123456789ABCD.', {}, 'payload_contains_secret'],
  ['AKIAIOSFODNN7EXAMPLE was on the screen.', {}, 'payload_contains_secret'],
  ['[10:42] Ann: do not tell anybody', {}, 'text_has_message'],
  ['-----BEGIN RSA PRIVATE KEY-----', {}, 'payload_contains_secret'],
  ['Cut off', { finish: 'length' }, 'reply_truncated'],
  ['The person was preparing the', { finish: 'content_filter' }, 'reply_truncated'],
  ['The upstream broke off', { finish: 'error' }, 'reply_truncated'],
  ['Another model', { model: 'acme/other-9' }, 'reply_model_changed'],
  ['Another host', { provider: 'Other Host' }, 'reply_provider_changed'],
  ['No cost', { cost: null }, 'cost_missing'],
  ['Dear', { cost: '0.2' }, 'overrun_review_required'],
]

t.test('S-101 S-102 S-087 S-141 a text that is too long, holds data, a hash, a control character, a chat message or a key, or comes from another model is refused whole and bought once', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const ends = refusals.map((_, at) => moment(at + 1))
  await world.analysed(...refusals.map((_, at) => ({ name: `${at}.png`, at: moment(at + 2, 3) })))
  for (const [at, [text, how, reason]] of refusals.entries()) {
    world.say(text, how)
    const ran = await world.digest('--window-end', ends[at] ?? '')
    const due = reason === 'cost_missing' || reason === 'overrun_review_required'
    t.equal(ran.status, due ? 7 : 9, reason)
    t.hasStrict(ran.json().windows, [{ outcome: 'failed', reason, episode: null }])
  }
  t.strictSame(world.episodes(), [], 'nothing of any is kept')
  const asked = world.asked().length
  t.equal(asked, refusals.length)
  const claims = world.view().all(claimCollection).map(({ doc }) => doc)
  const charged = claims.filter((one) => (one.ended?.receipt.cost.amount_microusd ?? 0) > 0)
  t.equal(charged.length, refusals.length, 'known charges stand: all but one, and the proof')
  const again = (await world.digest()).json()
  t.hasStrict(again, { written: 0, failed: 0, not_repeated: refusals.length })
  t.equal(again.windows.length, 4)
  t.equal(world.asked().length, asked, 'none is repeated by itself')
  world.say('A person asked for one more.')
  const retried = (await world.digest('--window-end', ends[0] ?? '', '--retry')).json()
  t.hasStrict(retried, { written: 1 })
  t.equal(world.asked().length, asked + 1)
  checkLedger(t, world)
})

/** Replies that are no reply, and what a digest comes to; null: it is written. */
const noReplies: Readonly<Record<string, string | null>> = {
  error_beside: 'error_member', error_in_choice: 'error_member', chunk_object: 'stream_piece',
  delta: 'stream_piece', first_line_http2: 'reply_malformed', first_line_foreign: 'reply_malformed',
  first_line_nul: 'reply_malformed', switching: 'reply_malformed', error_null: null,
}

t.test('S-101 S-105 what is no reply gives no digest: its charge stands or stays unknown, and it is sent once', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const faults = Object.entries(noReplies)
  await world.analysed(...faults.map(([name], at) =>
    ({ name: `${name}.png`, at: moment(at + 2, 3) })))
  for (const [at, [fault, reason]] of faults.entries()) {
    world.sandbox.faults.set(fault, { service: 'gateway', times: 1 })
    const ran = await world.digest('--window-end', moment(at + 1))
    t.hasStrict(ran.json().windows, [reason === null
      ? { outcome: 'written' } : { outcome: 'failed', reason, episode: null }], fault)
    t.equal(world.asked().length, at + 1, fault)
  }
  t.equal(world.episodes().length, 1)
  const again = (await world.digest()).json()
  t.hasStrict(again, { written: 0, failed: 0 })
  t.equal(world.asked().length, faults.length, 'none is repeated by itself')
  checkLedger(t, world)
})

t.test('S-104 S-159 a call that provably sent nothing is made later; one whose consent went between claim and send sends nothing', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  const ran = await world.run(['shots', 'digest', '--json'], {
    at: async (step) => {
      if (step === 'digest.reserved') await world.run(['policy', 'revoke'])
    },
  })
  t.equal(ran.status, 7)
  t.hasStrict(
    ran.json().windows, [{ outcome: 'blocked', reason: 'policy_revoked', cost_microusd: null }]
  )
  t.equal(world.asked().length, 0, 'zero bytes')
  t.hasStrict((await world.digest()).json(), { status: 'blocked', reason: 'policy_revoked' })
  const shown = await world.show()
  await world.run([
    'gateway', 'setup', '--json', '--enable', '--acknowledge-cloud-egress', '--consent', 'digest',
    '--consent', 'report', '--expected-policy-revision', String(shown.policy_revision),
  ])
  world.say('Later.')
  const later = await world.digest()
  t.hasStrict(later.json(), { written: 1 }, later.stderr)
  t.equal(world.asked().length, 1)
})
