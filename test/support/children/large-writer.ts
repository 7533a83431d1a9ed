/** A process that writes packs, streams and histories, and tells of each that is durable. */
import { historyHead } from '../../../src/state/history/read-history.js'
import type { FileStore } from '../../../src/state/store.js'
import { openStore } from '../../../src/state/store.js'
import { steps, stepsFrom } from '../state/histories.js'

const { dir, configDir, bytes } = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string; configDir: string; bytes: number
}
const store = openStore({ dir, configDir, mode: 'write' }) as FileStore
const { artifacts } = store
const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
tell({})
for (let n = 0; ; n += 1) {
  const content = Buffer.alloc(bytes, n)
  if (n % 3 === 0) {
    const pack = artifacts.writePack('x')
    for (let i = 0; i < 4; i += 1) pack.add(String(i), content)
    tell({ ref: pack.finish() })
  } else if (n % 3 === 1) {
    const stream = artifacts.writeStream('x')
    for (let i = 0; i < 4; i += 1) stream.write(content)
    tell({ ref: stream.finish() })
  } else {
    const head = historyHead(store.read(), steps, 'a')
    tell({ head: await store.transact('append', (tx) =>
      tx.append(steps, 'a', head, stepsFrom(head.entries, 3, 'x'.repeat(200)))) })
    await store.exclusive('fold', () => store.checkpoint())
  }
}
