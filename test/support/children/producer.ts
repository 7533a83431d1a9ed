/** A process that runs a bound producer of a test's folder and says what came of it. */
import { runFrom } from '../codehost/producing.js'

const { dir, holds = false } = JSON.parse(process.argv[2] ?? '{}') as {
  dir: string
  /** It gives its supervisor the token and nothing more. */
  holds?: boolean
}
const forever = (): Promise<void> => new Promise(() => void setInterval(() => undefined, 1_000))
const verdict = await runFrom(
  dir, (pid) => process.stdout.write(`${pid}\n`), holds ? forever : undefined)
process.stdout.write(`${JSON.stringify(verdict)}\n`)
