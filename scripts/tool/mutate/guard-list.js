// The checked list of guards that no test can miss, each with its reason.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `{ file, in, guard, reason }`; `in` is the function or class member that holds it. */
export const listedGuards = (from) =>
  JSON.parse(readFileSync(join(from, 'scripts/tool/mutate/guards.json'), 'utf8'))

const bare = (text) => text.replace(/\s/g, '')

/** The entry that excuses a guard; undefined where it stands in no list. */
export const guardExcuse = (list, guard) => list.find((one) =>
  one.file === guard.file && one.in === guard.in && bare(one.guard) === bare(guard.guard))
