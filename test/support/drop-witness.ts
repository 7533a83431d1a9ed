/** The witness as a save leaves it that dies between its record and its line. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Takes the last line out. */
export const dropLastWitness = ({ stateDir }: { readonly stateDir: string }): void => {
  const path = join(stateDir, 'witness.log')
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  writeFileSync(path, lines.slice(0, -1).map((line) => `${line}\n`).join(''))
}
