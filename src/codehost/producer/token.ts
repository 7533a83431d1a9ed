import type { Store } from '../../state/types.js'

/**
 * The private token of a producer: made from its id with the store's key, so that it lies in no row
 * and no file, and whoever has the key can tell its records from any others. 64 hex digits.
 */
export const producerToken = (store: Pick<Store, 'keyedDigest'>, producerId: string): string =>
  store.keyedDigest('codehost.producer_token.v1', Buffer.from(producerId, 'ascii'))
