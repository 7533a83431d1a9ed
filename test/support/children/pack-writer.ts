/** A process that writes one pack or stream after the other and names each that is durable. */
import { openStore } from '../../../src/state/store.js'

const { dir, configDir, bytes } = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string; configDir: string; bytes: number
}
const { artifacts } = openStore({ dir, configDir, mode: 'write' })
process.stdout.write('going\n')
for (let n = 0; ; n += 1) {
  const content = Buffer.alloc(bytes, n)
  if (n % 2 === 0) {
    const pack = artifacts.writePack('x')
    for (let i = 0; i < 4; i += 1) pack.add(String(i), content)
    process.stdout.write(`${JSON.stringify(pack.finish())}\n`)
  } else {
    const stream = artifacts.writeStream('x')
    for (let i = 0; i < 4; i += 1) stream.write(content)
    process.stdout.write(`${JSON.stringify(stream.finish())}\n`)
  }
}
