import { systemClock, type Clock } from '../../src/base/clock.js'
import { gatewayLimits } from '../../src/gateway/constants.js'
import { verifyAudit } from '../../src/governance/audit.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { movedClock } from '../support/clock.js'
import { checkLedger, ledgerRowsOf } from '../support/ledger.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { bodyOf, gatewayKey, slotFlags } from '../world/gateway.js'
import { World } from '../world/world.js'

const day = 24 * 3_600_000

/** The machine's clock with its wall set ahead, milliseconds. */
const shifted = (ms: number): Clock => ({ ...systemClock, wallMs: () => Date.now() + ms })

t.test('one proof is one request with every routing control, settled and recorded', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const steps: string[] = []
  const ran = await rig.prove('report', { at: (step) => void steps.push(step) })
  t.equal(ran.status, 0, ran.stderr)
  t.equal(rig.calls().length, 1)
  t.strictSame(rig.sandbox.log.violations(), [])
  const [seen] = rig.calls()
  t.strictSame(seen?.headers.get('authorization'), [`Bearer ${gatewayKey}`])
  t.equal(seen?.path, '/api/v1/chat/completions')
  const body = bodyOf(seen)
  t.strictSame(body.provider, {
    only: ['acme-host', 'other-host'], allow_fallbacks: false, data_collection: 'deny', zdr: true,
    require_parameters: true,
  })
  t.equal(body.model, 'acme/report-1')
  t.notOk('models' in body, 'no fallback list')
  t.hasStrict(ran.json(), {
    slot: 'report', made: true, reply_model: 'acme/report-1-2026-01-15',
    reply_provider: 'Acme Host', receipt: { outcome: 'succeeded', profile: 'gateway.report' },
  })
  t.strictSame(steps.filter((step) => step.startsWith('prove.')), [
    'prove.begin', 'prove.claimed', 'prove.slot', 'prove.reserved', 'prove.before_resolve',
    'prove.before_dial', 'prove.contact_begin', 'prove.contact_intent', 'prove.before_first_byte',
    'prove.replied', 'prove.charge_known', 'prove.finished',
  ])
  checkLedger(t, rig)
  t.strictSame(verifyAudit(rig.view()), [])
})

t.test('a slot is proved on the consent to any of its purposes, and on none without one', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway({ slots: ['chat'] })
  must(await rig.widen(slotFlags('report')))
  const none = await rig.prove('report')
  t.hasStrict(none.error(), { code: 'gateway_slot_not_ready', reason: 'consent_not_current' })
  for (const purpose of ['gateway.digest', 'gateway.report']) {
    must(await rig.widen(['--consent', purpose]))
    const ran = await rig.prove('report')
    t.hasStrict(ran.json(), { made: true, receipt: { purpose } }, ran.stderr)
    const { gateway: { slots } } = (await rig.run(['gateway', 'show', '--json'])).json()
    t.hasStrict(slots.report, { status: 'configured', purpose, consent_current: true })
  }
  t.equal(rig.calls().length, 2)
  checkLedger(t, rig)
})

t.test('every ledger step of a proof names the gateway runtime and the slot', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const { receipt } = (await rig.prove('chat')).json()
  const view = rig.view()
  const reservation = findReservation(view, receipt.operation_id)
  t.hasStrict(reservation, {
    runtime: 'gateway_route', profile: 'gateway.chat', state: 'settled', task_id: null,
  })
  const rows = reservation === undefined ? [] : ledgerRowsOf(view, reservation)
  t.strictSame(rows.map(({ kind }) => kind), ['reserve', 'recheck', 'contact', 'settle'])
  t.hasStrict(
    rows.at(-1)?.evidence, { source: 'gateway_usage', operation_id: receipt.operation_id }
  )
  t.equal(rows.at(-1)?.row_id, receipt.cost.ledger_ref)
  t.equal(reservation?.charged_microusd, receipt.cost.amount_microusd)
})

t.test('the screenshot slot is proved with a synthetic image and a strict schema', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await rig.prove('screenshot')
  t.equal(ran.status, 0, ran.stderr)
  t.strictSame(rig.sandbox.log.violations(), [])
  const body = bodyOf(rig.calls()[0])
  t.matchStrict(body.messages[0]?.content, [
    { type: 'text' }, { type: 'image_url', image_url: { url: /^data:image\/png;base64,/ } },
  ])
  t.equal(body.response_format.json_schema.strict, true)
})

t.test('a reply that is refused and cost more than its bound waits for its review', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const costly = () => {
    rig.sandbox.faults.clear()
    rig.sandbox.faults.set('refusal', { service: 'gateway' })
    rig.sandbox.faults.set('usage_cost', { service: 'gateway', value: 900_000 })
  }
  costly()
  const one = await rig.prove('chat')
  t.equal(one.status, 7, one.stderr)
  const { details: { operation_id: operation, outcome }, next } = one.error()
  t.equal(outcome, 'reply_rejected')
  t.strictSame(next.map(({ command }: { command: string }) => command),
    [`sallyport ledger review ${operation}`])
  must(await rig.run(['ledger', 'review', operation, '--reject']))
  const all = await rig.run(['gateway', 'prove', '--all', '--json'])
  t.equal(all.status, 7, all.stderr)
  t.match(all.error().hint, 'sallyport ledger review ')
})

t.test('a proof shows as current, and --if-stale then contacts nobody', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  t.hasStrict((await rig.show()).gateway.slots.chat.proof, { state: 'missing', proof_id: null })
  const first = (await rig.prove('chat')).json()
  t.matchStrict((await rig.show()).gateway.slots.chat.proof, {
    state: 'current', proof_id: first.proof_id, receipt: { operation_id: String },
  })
  const again = (await rig.prove('chat', { args: ['--if-stale'] })).json()
  t.hasStrict(again, { made: false, proof_id: first.proof_id })
  t.equal(rig.calls().length, 1)
  t.equal((await rig.prove('chat')).json().made, true, 'without the flag it is proved again')
  t.equal(rig.calls().length, 2)
})

t.test('a clock that was set back: the next proof is the current one and is paid once', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const login = ['login', '--json', '--replace']
  const ahead = { clock: shifted(2 * day) }
  await rig.run(login, ahead)
  t.equal((await rig.run(['gateway', 'prove', 'chat', '--json'], ahead)).status, 0)
  await rig.run(login)
  t.hasStrict((await rig.show()).gateway.slots.chat.proof, {
    state: 'stale', reason: 'made_in_the_future',
  })
  const first = (await rig.prove('chat', { args: ['--if-stale'] })).json()
  t.equal(first.made, true)
  t.hasStrict((await rig.show()).gateway.slots.chat.proof, {
    state: 'current', proof_id: first.proof_id,
  })
  for (let again = 0; again < 2; again += 1) {
    t.hasStrict((await rig.prove('chat', { args: ['--if-stale'] })).json(), {
      made: false, proof_id: first.proof_id,
    })
  }
  t.equal(rig.calls().length, 2)
})

t.test('a proof goes stale after 24 hours and when what it was bound to changes', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await rig.prove('chat')
  const later = (ms: number) => ({ clock: shifted(ms) })
  const login = ['login', '--json', '--idle', '24h', '--ttl', '7d']
  await rig.run(login)
  const shown = await rig.run(['gateway', 'show', '--json'], later(day - 60_000))
  t.equal(shown.json().gateway.slots.chat.proof.state, 'current')
  await rig.run(login, later(day))
  const old = (await rig.run(['gateway', 'show', '--json'], later(day + 1_000))).json()
  t.hasStrict(old.gateway.slots.chat.proof, { state: 'stale', reason: 'older_than_24_hours' })
  await rig.run(login)
  await rig.widen(['--slot', 'chat', '--upstream-allow', 'acme-host', '--consent', 'chat'])
  t.hasStrict((await rig.show()).gateway.slots.chat.proof, {
    state: 'stale', reason: 'upstream_allow_changed',
  })
})

t.test('an unknown charge keeps the full bound, keeps no proof, and is not repeated', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  rig.sandbox.faults.set('status_500', { service: 'gateway' })
  const ran = await rig.prove('chat')
  t.equal(ran.status, 7)
  t.hasStrict(ran.error(), { code: 'proof_charge_unknown', reason: 'http_status_500' })
  const view = rig.view()
  t.hasStrict(findReservation(view, ran.error().details.operation_id), {
    state: 'unknown', bound_microusd: 100_000, charged_microusd: null,
  })
  t.equal((await rig.show()).gateway.slots.chat.proof.state, 'missing')
  rig.sandbox.faults.clear()
  const again = await rig.prove('chat', { args: ['--if-stale'] })
  t.equal(again.status, 7)
  t.hasStrict(again.error(), { code: 'proof_not_repeated', reason: 'charge_unknown' })
  t.equal(rig.calls().length, 1)
  checkLedger(t, rig)
})

t.test('a reply that is not as it was asked for is paid, and is no proof', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  rig.sandbox.faults.set('two_choices', { service: 'gateway' })
  const ran = await rig.prove('chat')
  t.strictSame([ran.status, ran.error().code], [9, 'proof_failed'])
  t.hasStrict(findReservation(rig.view(), ran.error().details.operation_id), { state: 'settled' })
  t.equal((await rig.show()).gateway.slots.chat.proof.state, 'missing')
  t.equal(rig.calls().length, 1)
  checkLedger(t, rig)
})

t.test('a connection that nobody took releases the hold and may be tried again', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await rig.sandbox.stop()
  const ran = await rig.prove('chat')
  t.equal(ran.error().code, 'proof_not_sent')
  t.hasStrict(findReservation(rig.view(), ran.error().details.operation_id), { state: 'released' })
  const again = await rig.prove('chat', { args: ['--if-stale'] })
  t.equal(again.error().code, 'proof_not_sent', 'nothing was sent, so it may be tried again')
  checkLedger(t, rig)
})

t.test('a slot that is not set, and a name that is no slot, are refused unsent', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  await rig.run(['gateway', 'setup', '--remove-slot', 'report', '--json'])
  const unset = await rig.prove('report')
  t.equal(unset.status, 7)
  t.equal(unset.error().reason, 'slot_not_set')
  t.equal((await rig.prove('alpha')).status, 3)
  t.equal((await rig.run(['gateway', 'prove', '--json'])).status, 2)
  t.equal(rig.calls().length, 0)
})

t.test('a request for which its operation has less than a second left is not begun, however long one may take', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const clock = movedClock()
  const ran = await rig.prove('chat', {
    clock,
    at: (step) => {
      if (step === 'prove.reserved') clock.advance(gatewayLimits.operationMsMax - 800)
    },
  })
  t.strictSame([ran.error().code, ran.error().reason], ['proof_not_sent', 'deadline_passed'])
  t.strictSame(rig.calls(), [], 'nothing was sent')
  checkLedger(t, rig)
})
