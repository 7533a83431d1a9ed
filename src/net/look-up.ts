import { lookup } from 'node:dns/promises'
import type { HttpsClientDeps } from './types.js'

/** Asks the machine's own resolver; every address, in the order in which it gives them. */
export const lookUp: HttpsClientDeps['resolve'] = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}
