// `npm run interrupts`: runs the tests that prove the tables of docs/dev/interrupts.md, one after
// the other, and writes what they saw there. A cell that is not as the rule says fails as ever.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { root } from './tool/run.js'

const folder = 'test/contact/interrupts'
const env = { ...process.env, SALLYPORT_WRITE_INTERRUPTS: '1' }
for (const name of readdirSync(`${root}/${folder}`)) {
  if (!name.endsWith('.test.ts')) continue
  const { status } = spawnSync(
    process.execPath, [`${root}/scripts/test.js`, `${root}/${folder}/${name}`],
    { cwd: root, env, stdio: 'inherit' },
  )
  if (status !== 0) process.exitCode = 1
}
