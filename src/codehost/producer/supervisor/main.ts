/** The program that a publication starts for its local work; built into one file of its own. */
import { probe, supervise, type Program } from './run.js'

const program: Program = {
  pid: process.pid, stdin: process.stdin, stdout: process.stdout,
  on: (signal, act) => void process.on(signal, act),
  exit: (status) => process.exit(status),
}
const [, , word, addonPath] = process.argv
if (word === 'probe' && addonPath !== undefined) void probe(program, addonPath)
else void supervise(program)
