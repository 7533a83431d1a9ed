import * as fc from 'fast-check'
import t from 'tap'
import { parseStrictJson } from '../../src/base/strict-json.js'
import { microFromUsd, readUsageCost } from '../../src/gateway/cost.js'

const micro = (lexeme: string): number | string => {
  const cost = microFromUsd(lexeme)
  return typeof cost === 'string' ? cost : cost.microUsd
}

t.test('a dollar amount becomes micro-USD, rounded up, on its digits', async (t) => {
  const table: [string, number | string][] = [
    ['0', 0], ['0.0', 0], ['0e5', 0], ['1', 1_000_000], ['0.000001', 1], ['0.0000010', 1],
    ['0.0000000001', 1], ['0.0000011', 2], ['1e-6', 1], ['1.5E-6', 2], ['1e-99', 1],
    ['0.1', 100_000], ['0.1234567', 123_457], ['1000', 1_000_000_000], ['1e3', 1_000_000_000],
    // A double would say 290000.00000000006 and round up to 290001.
    ['0.29', 290_000], ['4.35', 4_350_000], ['0.000029', 29], ['1.1', 1_100_000],
    ['0.07', 70_000], ['9.999999999999999999', 10_000_000],
    ['1000.0000001', 'cost_out_of_range'], ['1e99', 'cost_out_of_range'],
    ['1e100', 'cost_unreadable'], ['-1', 'cost_negative'], ['-0', 'cost_negative'],
    ['-0.0', 'cost_negative'], [`0.${'1'.repeat(63)}`, 'cost_unreadable'],
    [`0.${'1'.repeat(62)}`, 111_112], [`0.${'0'.repeat(61)}1`, 1],
    ['01', 'cost_unreadable'], ['.5', 'cost_unreadable'], ['', 'cost_unreadable'],
    ['NaN', 'cost_unreadable'], ['1.', 'cost_unreadable'], ['0x1', 'cost_unreadable'],
  ]
  for (const [lexeme, expected] of table) t.equal(micro(lexeme), expected, lexeme)
})

t.test('the ceiling is exact for every amount with up to twelve places', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(
    fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 12 }),
    (digits, places) => {
      const text = String(digits).padStart(places + 1, '0')
      const lexeme = places === 0
        ? text : `${text.slice(0, -places)}.${text.slice(-places)}`
      const exact = digits * 10n ** 6n
      const unit = 10n ** BigInt(places)
      const ceiling = exact / unit + (exact % unit === 0n ? 0n : 1n)
      const expected = ceiling > 1_000_000_000n ? 'cost_out_of_range' : Number(ceiling)
      return micro(lexeme) === expected
    },
  )))
})

t.test('only a number of the reply is a charge', async (t) => {
  const costOf = (json: string): unknown => readUsageCost(
    parseStrictJson(Buffer.from(json), { bytesMax: 1_000, depthMax: 2 }),
  )
  t.hasStrict(costOf('0.00125'), { microUsd: 1_250, lexeme: '0.00125' })
  t.hasStrict(costOf('2'), { microUsd: 2_000_000, lexeme: '2' })
  for (const json of ['"0.1"', 'true', '[]', '{}']) t.equal(costOf(json), 'cost_not_number', json)
  t.equal(costOf('null'), 'cost_missing')
  t.equal(readUsageCost(undefined), 'cost_missing')
  t.equal(costOf('-0'), 'cost_negative')
})
