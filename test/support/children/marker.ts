/** A process that marks again and again, and tells of each mark that is durable. */
import { openStore } from '../../../src/state/store.js'

const place = JSON.parse(process.argv[2] ?? '{}') as { dir: string, configDir: string }
const store = openStore({ ...place, mode: 'write' })
for (let revision = 1; ; revision += 1) {
  await store.transact('publish', (tx) => tx.mark({ policyRevision: revision }))
  process.stdout.write(`${store.anchor().mark?.number ?? -1}\n`)
}
