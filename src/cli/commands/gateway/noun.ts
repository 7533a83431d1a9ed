import type { NounEntry } from '../../entry.js'

/** `sallyport gateway …`. */
export const gatewayNoun: NounEntry = {
  noun: 'gateway',
  summary: 'the general model route: three slots, consents per purpose, capability proofs',
  verbs: [
    { verb: 'setup', load: () => import('./setup.js') },
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'prove', load: () => import('./prove.js') },
  ],
}
