import t from 'tap'
import { billingFaults } from '../../src/sandbox/faults/billing.js'
import { askedId, bill } from '../support/sandbox/asks.js'
import { World } from '../world/world.js'

const other = '"requestId":"9d7f0d0e-3c7b-5a41-8f0e-0d6f3a2b1c00"'

/** The reply's text for an id whose honest cost is 77; the second is the next attempt's. */
const texts = (id: string): Readonly<Record<string, readonly [string, string?]>> => {
  const own = `"requestId":"${id}"`
  const one = (cost: string): [string] => [`{"requests":[{${own},"costNanoUsd":${cost}}]}`]
  const [honest] = one('77')
  const warned = (text: string): [string] => [
    `{"requests":[{${own},"costNanoUsd":77,"warning":${text}}]}`,
  ]
  const error = '{"error":{"message":"sandbox fault","code":500}}'
  return {
    billing_no_entry: ['{"requests":[]}', '{"requests":[]}'],
    billing_no_entry_once: ['{"requests":[]}', honest],
    billing_no_envelope: ['{}'],
    billing_bare_list: [`{"data":[{${own},"costNanoUsd":77}]}`],
    billing_error_beside: [
      `{"requests":[{${own},"costNanoUsd":77}],${error.slice(1)}`,
    ],
    billing_error_null: [`{"requests":[{${own},"costNanoUsd":77}],"error":null}`],
    billing_duplicate_entry: [
      `{"requests":[{${own},"costNanoUsd":77},{${own},"costNanoUsd":77}]}`,
    ],
    billing_extra_entry: [
      `{"requests":[{${own},"costNanoUsd":77},{${other},"costNanoUsd":1000}]}`,
    ],
    billing_other_id: [`{"requests":[{${other},"costNanoUsd":77}]}`],
    billing_no_request_id: ['{"requests":[{"costNanoUsd":77}]}'],
    billing_uppercase_id: [
      `{"requests":[{"requestId":"${id.toUpperCase()}","costNanoUsd":77}]}`,
    ],
    billing_500_once: [error, honest],
    billing_500_always: [error, error],
    billing_no_cost: [`{"requests":[{${own}}]}`],
    billing_negative: one('-1'),
    billing_negative_zero: one('-0'),
    billing_above_range: one('1000000000001'),
    billing_top_of_range: one('1000000000000'),
    billing_huge: one('9007199254740993'),
    billing_float: one('1.0'),
    billing_fraction: one('0.5'),
    billing_exponent: one('1e3'),
    billing_bool: one('true'),
    billing_string: one('"1000"'),
    billing_null: one('null'),
    billing_list: one('[1000]'),
    billing_zero_first: [...one('0'), honest],
    billing_zero_always: [...one('0'), ...one('0')],
    billing_cost: one('1000'),
    billing_overrun: one('100001000'),
    billing_warning_text: warned('"cost is an estimate"'),
    billing_warning_space: warned('" "'),
    billing_warning_empty: warned('""'),
    billing_warning_null: warned('null'),
    billing_warning_false: warned('false'),
    billing_warning_zero: warned('0'),
    billing_warning_list: warned('[]'),
    billing_warning_object: warned('{}'),
  }
}

t.test('each billing fault answers with exactly the text its name says', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  t.strictSame(billingFaults.map((one) => one.name).sort(), Object.keys(texts('')).sort())
  for (const { name } of billingFaults) {
    const id = sandbox.provider.billingId(name)
    sandbox.provider.recordCharge(name, 77)
    sandbox.faults.set(name)
    for (const text of texts(id)[name] ?? []) {
      const reply = await bill(sandbox, id)
      t.equal(reply.body.toString(), text, name)
      t.equal(reply.status, text?.startsWith('{"error"') === true ? 500 : 200)
    }
    sandbox.faults.clear()
  }
  t.strictSame(sandbox.log.violations(), [])
})

t.test('a first attempt is one per id, not per sandbox', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  sandbox.faults.set('billing_500_once')
  const ids = [await askedId(sandbox), await askedId(sandbox)]
  const statuses = []
  for (const id of [...ids, ...ids]) statuses.push((await bill(sandbox, id)).status)
  t.strictSame(statuses, [500, 500, 200, 200])
})

t.test('a cost and a bound can be chosen', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const id = await askedId(sandbox)
  sandbox.faults.set('billing_cost', { value: 12, times: 1 })
  t.match((await bill(sandbox, id)).body.toString(), '"costNanoUsd":12}')
  sandbox.faults.set('billing_overrun', { value: 5000, times: 1 })
  t.match((await bill(sandbox, id)).body.toString(), '"costNanoUsd":5001000}')
})
