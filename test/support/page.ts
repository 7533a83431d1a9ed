import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Text of a file of the project, by its path in the project. */
export const page = (name: string): string => readFileSync(join(process.cwd(), name), 'utf8')
