import fc from 'fast-check'
import t from 'tap'
import { microusdOf, moneyText } from '../../src/base/money.js'
import { forAll } from '../support/for-all.js'

t.test('an amount reads in dollars, by its digits, with the integer beside it', async (t) => {
  const texts: Readonly<Record<number, string>> = {
    0: '$0.00 (0 µUSD)', 5: '$0.000005 (5 µUSD)', 13_800: '$0.0138 (13,800 µUSD)',
    1_000_000: '$1.00 (1,000,000 µUSD)', 1_230_000: '$1.23 (1,230,000 µUSD)',
    1_234_567_890: '$1,234.56789 (1,234,567,890 µUSD)',
  }
  for (const [amount, text] of Object.entries(texts)) t.equal(moneyText(Number(amount)), text)
  t.equal(moneyText(-13_800), '-$0.0138 (-13,800 µUSD)')
})

t.test('an amount in dollars is taken by its digits or not at all, never rounded', async (t) => {
  const taken: Readonly<Record<string, number>> = {
    '0usd': 0, '5.00usd': 5_000_000, '0.0138usd': 13_800, '0.000001usd': 1, '12usd': 12_000_000,
    // Both are wrong by one where an amount is made by multiplying.
    '4.35usd': 4_350_000, '1.005usd': 1_005_000,
  }
  for (const [text, amount] of Object.entries(taken)) t.equal(microusdOf(text), amount, text)
  for (const text of ['', 'usd', '5', '5.00', '$5.00', '05usd', '.5usd', '5.usd', '-1usd', '+1usd',
    '1e3usd', '0.0000001usd', '5.00 usd', '5.00USD', '1,000usd', ' 5usd', '5usd\n', '0x1usd',
    '99999999999usd']) t.equal(microusdOf(text), null, JSON.stringify(text))
})

t.test('what is shown in dollars is read back as the same amount', async (t) => {
  forAll(t, fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (amount) => {
    const [, shown = ''] = /^\$([0-9,.]+) /.exec(moneyText(amount)) ?? []
    return microusdOf(`${shown.replaceAll(',', '')}usd`) === amount
  }))
})
