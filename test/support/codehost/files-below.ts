import { lstatSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every regular file below a folder, with its bytes. */
export const filesBelow = function* (dir: string): Generator<readonly [string, Buffer]> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    const stat = lstatSync(path)
    if (stat.isDirectory()) yield* filesBelow(path)
    else if (stat.isFile()) yield [path, readFileSync(path)]
  }
}
