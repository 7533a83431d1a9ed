/** The anchor of a state, as it lies beside the key. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../world/place.js'

/** Its text; another one once it has moved. */
export const anchorOf = ({ configDir }: Place): string => {
  const keys = join(configDir, 'keys')
  const name = readdirSync(keys).find((one) => one.endsWith('.anchor')) ?? 'none'
  return readFileSync(join(keys, name), 'utf8')
}
