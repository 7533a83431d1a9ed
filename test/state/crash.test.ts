/**
 * Every step of creation, transactions and folds is ended at that step, and the disk is then read
 * as a reboot would find it: unsynced writes kept, dropped, or garbled by seed.
 */
import t from 'tap'
import { crashRepair, crashScript } from '../support/soak/crash-model.js'
import { script } from '../support/state/crash-script.js'
import { plan } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import { rounds } from '../support/slice.js'

t.test('durability 2, 4, 5 and 10: a crash at any step leaves before, after or a clear refusal', async (t) => {
  const whole = await script(new MemFiles(), plan())
  t.equal(whole.acknowledged, 7)
  const { broken, steps, refusals } =
    await crashScript(rounds('garbled disks', { short: 1, all: 2 }))
  t.strictSame(broken, [])
  t.ok(steps > 100, `${steps} steps, ${refusals} refusals after garbling`)
  t.ok(refusals > 0, 'some garbled last records were refused')
})

t.test('durability 10: a crash during a repair is no worse than the crash before it', async (t) => {
  const { broken, steps } = await crashRepair(rounds('garbled repairs', { short: 1, all: 4 }))
  t.strictSame(broken, [])
  t.ok(steps > 0, `${steps} steps of repairs`)
})
