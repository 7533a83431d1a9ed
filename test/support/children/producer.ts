/** A process that runs a bound producer of a test's folder and says what came of it. */
import { runFrom } from '../codehost/producing.js'

const { dir } = JSON.parse(process.argv[2] ?? '{}') as { dir: string }
const verdict = await runFrom(dir, (pid) => process.stdout.write(`${pid}\n`))
process.stdout.write(`${JSON.stringify(verdict)}\n`)
