/**
 * Every row of the table of hostile replies, through the whole use case over real TLS: what becomes
 * of the ask, its task, its money and its answer, and how many requests went out.
 */
import t, { type Test } from 'tap'
import {
  bodyMarker, goodBillingReply, goodCompletionReply, hostileBillings, hostileCompletions,
  tableAnswer, tableUuid, type BillingExpected, type CompletionExpected, type HostileBilling,
  type HostileCompletion,
} from '../support/alpha/hostile-replies.js'
import { checkLedger } from '../support/ledger.js'
import { manyAsks, type Asked, type Wire } from '../support/alpha/wire.js'
import { slice } from '../support/slice.js'
import { roomy } from '../world/alpha.js'
import { World } from '../world/world.js'

const liability = { kind: 'cost_liability', reason: 'alpha_cost_readback_required' }
const boundMicrousd = roomy.boundMicrousd

/** What holds for every row, whatever was replied. */
const checkAlways = (t: Test, asked: Asked): void => {
  t.equal(asked.inferences, 1, 'exactly one inference request')
  t.ok(asked.billings <= 2, 'at most two billing requests')
  t.equal(asked.pauses.length, Math.max(0, asked.billings - 1), 'a pause before the second')
  t.notMatch(JSON.stringify(asked.error ?? {}) + String(asked.error?.message), bodyMarker)
}

const checkSettled = (t: Test, asked: Asked, microUsd: number): void => {
  t.hasStrict(asked.reservation, {
    state: 'settled', charged_microusd: microUsd, runtime: 'alpha_text_native',
  })
  t.hasStrict(asked.rows.at(-1), {
    kind: 'settle',
    evidence: { operation_id: asked.task.operation_id, billing_uuid: tableUuid },
  })
}

const checkNoAnswer = (t: Test, wire: Wire, asked: Asked): void => {
  t.equal(asked.result, null)
  t.notOk(asked.keepsAnswer, 'no answer is kept')
  t.equal(asked.task.result_artifact_id, null)
  t.not(wire.outputCode(asked), null, 'and none can be read')
}

const checkBlocked = (t: Test, wire: Wire, asked: Asked): void => {
  t.equal(asked.status, 7)
  t.equal(asked.task.state, 'blocked')
  t.strictSame(asked.task.blocked, liability)
  t.hasStrict(asked.reservation, { state: 'unknown', bound_microusd: boundMicrousd })
  checkNoAnswer(t, wire, asked)
}

const checkCompletion = (
  t: Test, wire: Wire, expected: CompletionExpected, asked: Asked,
): void => {
  checkAlways(t, asked)
  if (expected.task === 'blocked') {
    t.equal(asked.billings, 0, 'nobody knows what to ask billing for')
    return checkBlocked(t, wire, asked)
  }
  t.equal(asked.billings, 1)
  checkSettled(t, asked, 2)
  if (expected.ok) {
    t.equal(asked.status, 0)
    t.equal(asked.task.state, 'succeeded')
    t.equal(asked.result?.answer, expected.answer)
    return
  }
  t.equal(asked.status, 9)
  t.equal(asked.task.state, 'failed')
  t.equal(asked.task.reason, `completion_${expected.reason}`)
  checkNoAnswer(t, wire, asked)
}

const checkBilling = (t: Test, wire: Wire, expected: BillingExpected, asked: Asked): void => {
  checkAlways(t, asked)
  t.equal(asked.billings, expected.posts)
  if (expected.task === 'blocked') return checkBlocked(t, wire, asked)
  t.equal(asked.status, 0)
  t.equal(asked.result?.answer, tableAnswer)
  checkSettled(t, asked, expected.microUsd)
  t.hasStrict(asked.rows.at(-1)?.evidence, { cost_nano_usd: expected.nanoUsd })
}

let wire: Wire
t.before(async () => {
  const world = World.in(t).sandbox().state().session().alpha({ money: roomy })
  wire = (await world.with(manyAsks)).wire
})

type Reason = string | null
const reasonOf = (expected: CompletionExpected | BillingExpected): Reason =>
  'reason' in expected ? expected.reason : null
type Hostile = HostileCompletion | HostileBilling
const cut = {
  axesOf: ({ expected }: Hostile) => [String(reasonOf(expected)), expected.task],
  idOf: ({ name }: Hostile) => name,
}

/** Rows that this run sends; each reason is among them. */
const sent: {
  completions?: readonly HostileCompletion[], billings?: readonly HostileBilling[]
} = {}
const sentCompletions = (): readonly HostileCompletion[] =>
  sent.completions ??= slice('completions', hostileCompletions(wire.model), {
    ...cut, atLeast: 40,
  })
const sentBillings = (): readonly HostileBilling[] =>
  sent.billings ??= slice('billings', hostileBillings(), { ...cut, atLeast: 20 })

/** Some rows under one title; the rows that it needs must exist. */
const completions = (title: string, rows: (row: HostileCompletion) => boolean): void => {
  t.test(title, async (t) => {
    t.ok(hostileCompletions(wire.model).some(rows), 'rows exist')
    for (const { name, reply, expected } of sentCompletions().filter(rows)) {
      await t.test(name, async (t) => {
        const asked = await wire.ask({ completion: reply, billing: goodBillingReply() })
        checkCompletion(t, wire, expected, asked)
      })
    }
  })
}

const billings = (title: string, rows: (row: HostileBilling) => boolean): void => {
  t.test(title, async (t) => {
    t.ok(hostileBillings().some(rows), 'rows exist')
    for (const { name, reply, expected } of sentBillings().filter(rows)) {
      await t.test(name, async (t) => {
        const completion = goodCompletionReply(wire.model)
        const asked = await wire.ask({ completion, billing: reply })
        checkBilling(t, wire, expected, asked)
      })
    }
  })
}

const because = (...reasons: readonly Reason[]) =>
  ({ expected }: { readonly expected: CompletionExpected | BillingExpected }): boolean =>
    reasons.includes(reasonOf(expected))

completions('odd replies that are one answer under one id give that answer', because(null))
completions('A-024 A-025 A-020 a redirect or an error status is contact: the charge is unknown',
  because('redirect', 'http_status'))
completions('A-171 an encoded reply is rejected undecoded', because('content_encoding'))
completions('A-172 A-200 A-203 malformed or oversize JSON is rejected',
  because('malformed_json', 'oversize'))
completions('A-018 an event stream is not consumed as an answer', because('event_stream'))
completions('A-144 A-147 A-149 without a trustworthy id the charge is unknown',
  because('body_id', 'inference_id'))
completions('A-173 another model is rejected, and its charge stands', because('model_mismatch'))
completions('A-022 other than one choice is rejected, and its charge stands',
  because('choice_count', 'choice_malformed'))
completions('A-018 A-175 an error or a piece of a stream is no answer, and its charge stands',
  because('error_member', 'stream_piece'))
completions('A-174 tools are rejected, and their charge stands', because('tools'))
completions('A-175 what is no assistant text is rejected, and its charge stands',
  because('role', 'refusal', 'non_text', 'content_type', 'empty_answer', 'answer_too_large'))

billings('A-142 A-151 A-152 A-204 a definite charge settles, rounded up and whole', because(null))
billings('A-122 A-124 A-136 A-024 no verdict twice leaves the charge unknown',
  because('redirect', 'http_status', 'no_entry'))
billings('A-122 A-124 A-202 an encoded, oversize or malformed billing reply is final', because(
  'content_encoding', 'oversize', 'event_stream', 'malformed_json', 'envelope'))
billings('A-141 A-149 A-176 a duplicated, foreign or malformed entry is an unknown charge',
  because('entry_count', 'entry_malformed', 'request_id'))
billings('A-141 an error beside the list of charges is an unknown charge', because('error_member'))
billings('A-151 A-177 a warning of any other kind is an unknown charge', because('warning'))
billings('A-142 A-177 A-187 a cost that is no integer of the range is an unknown charge',
  because('cost_missing', 'cost_not_integer', 'cost_out_of_range'))

t.test('A-108 A-126 A-178 every row was sent, the ledger balances, no file holds a reply', async (t) => {
  const rows = hostileCompletions(wire.model).length + hostileBillings().length
  t.ok(rows >= 120, `${rows} rows`)
  const all = [...sentCompletions(), ...sentBillings()]
  t.equal(wire.rig.inferences().length, all.length, 'one inference for each row, and no other')
  t.strictSame(wire.rig.sandbox.log.violations(), [])
  t.equal(wire.rig.sandbox.log.connections('gateway').opened, 0)
  const account = checkLedger(t, wire.rig)
  const blocked = all.filter(({ expected }) => expected.task === 'blocked').length
  t.equal(account?.unknown_microusd, blocked * boundMicrousd, 'each unknown keeps its full bound')
  t.equal(account?.held_microusd, 0)
  t.strictSame(wire.filesWith(bodyMarker), [], 'no reply body')
  t.strictSame(wire.filesWith(tableAnswer), [], 'answers lie sealed')
})

t.test('A-141 A-126 a second answer under the billing id of an earlier one: nobody is asked what it cost, its charge is unknown', async (t) => {
  const replies = { completion: goodCompletionReply(wire.model), billing: goodBillingReply() }
  const first = await wire.ask(replies)
  t.equal(first.status, 0)
  checkSettled(t, first, 2)
  const second = await wire.ask({ ...replies, idsStayTaken: true })
  checkAlways(t, second)
  t.equal(second.billings, 0, 'one charge never settles two questions')
  checkBlocked(t, wire, second)
  checkLedger(t, wire.rig)
})
