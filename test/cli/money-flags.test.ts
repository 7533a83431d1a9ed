/** Each flag in micro-USD has a sister in dollars; JSON has integers alone. */
import { describingDeps } from '../../src/cli/describing.js'
import { describeTree } from '../../src/cli/tree.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('a flag of money takes dollars; its older name takes micro-USD and is in no help', async (t) => {
  const found = new Set<string>()
  for (const { meta, flags, help } of await describeTree(describingDeps())) {
    for (const { long, value } of flags) {
      t.notMatch(long, /-microusd$/, meta.name)
      if (value === '<usd>') found.add(long)
    }
    t.notMatch(help, /-microusd/, meta.name)
  }
  t.strictSame([...found].sort(), [
    '--acknowledged-open', '--amount', '--budget', '--request-cost-bound', '--spend-ceiling',
  ])
})

t.test('dollars are saved as the integer that they are', async (t) => {
  const world = await World.in(t).state().session()
  const set = (...flags: string[]) =>
    world.run(['shots', 'config', 'set', '--json', '--no-input', ...flags])
  must(await set('--budget', '1.50usd', '--request-cost-bound', '0.0138usd'))
  const { settings } = await world.json(['shots', 'config', 'show'])
  t.hasStrict(settings, {
    budget_microusd: { value: 1_500_000 }, request_cost_bound_microusd: { value: 13_800 },
  })
  const both = await set('--budget', '1.50usd', '--budget-microusd', '1500000')
  t.strictSame([both.status, both.error().code], [2, 'money_twice'])
  for (const amount of ['1.5', '1.0000001usd', '5000.00usd', '-1usd', '0usd']) {
    const refused = await set('--budget', amount)
    t.strictSame([refused.status, refused.error().code], [3, 'flag_invalid'], amount)
    t.notOk(refused.stderr.includes(amount), 'the value is not repeated')
  }
  t.equal((await world.json(['shots', 'config', 'show'])).settings.budget_microusd.value, 1_500_000)
})
