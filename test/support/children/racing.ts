/** A process that adds one to a sum, commit by commit, once it is told to; tells what it cost. */
import { once } from 'node:events'
import { openingAny, openStore } from '../../../src/state/store.js'
import { closingsDone } from '../../../src/state/place/closings.js'
import { marks, sums } from '../soak/shared-race.js'

const { dir, configDir, name, commits } = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string; configDir: string; name: string; commits: number
}
/** Long enough for whoever comes last; what is measured is the whole. */
const waitMs = 120_000
const store = await openingAny(() => openStore({ dir, configDir, mode: 'write', waitMs }))
await store.fresh()
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
const before = process.cpuUsage()
for (let n = 0; n < commits; n += 1) {
  await store.transact('race', (tx) => {
    const sum = (tx.get(sums, 'sum')?.sum ?? 0) + 1
    tx.put(sums, 'sum', { sum })
    tx.put(marks, `${name}-${n}`, { by: name, sum })
  })
}
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${JSON.stringify({ processorMs: (user + system) / 1_000 })}\n`)
store.close()
await closingsDone()
