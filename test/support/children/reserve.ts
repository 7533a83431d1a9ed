/** Takes holds of one micro-USD until the ceiling refuses; see `processes.test.ts`. */
import { SallyportError } from '../../../src/base/errors.js'
import { reserve } from '../../../src/governance/ledger/steps.js'
import { openStore } from '../../../src/state/store.js'

const args = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string, configDir: string, label: string,
}
const store = openStore({ dir: args.dir, configDir: args.configDir, mode: 'write', waitMs: 60_000 })

const take = async (operationId: string): Promise<boolean> => {
  try {
    await store.transact('reserve', (tx) => {
      reserve(tx, new Date().toISOString(), {
        operationId, runtime: 'alpha_text_native', profile: 'alpha.text', taskId: null,
        principal: 'prn_1', bound: 1,
      })
    })
    return true
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'ceiling_exceeded') return false
    throw error
  }
}

let taken = 0
while (await take(`op_${args.label}_${taken}`)) taken += 1
store.close()
process.stdout.write(`${taken}\n`)
