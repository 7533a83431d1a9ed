/** The anchor of a state, as it lies beside the key. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../world/place.js'

/** Where it lies. */
export const anchorFile = ({ configDir }: Place): string => {
  const keys = join(configDir, 'keys')
  return join(keys, readdirSync(keys).find((one) => one.endsWith('.anchor')) ?? 'none')
}

/** Its text; another one once it has moved. */
export const anchorOf = (place: Place): string => readFileSync(anchorFile(place), 'utf8')

/** Makes it one that the key did not seal: another digit in the seal of each slot. */
export const forgeAnchor = (place: Place): void => {
  const forged = anchorOf(place).replace(/.\n/g, (end) => (end === '0\n' ? '1\n' : '0\n'))
  writeFileSync(anchorFile(place), forged)
}
