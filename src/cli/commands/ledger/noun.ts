import type { NounEntry } from '../../entry.js'

/** `sallyport ledger …`. */
export const ledgerNoun: NounEntry = {
  noun: 'ledger',
  summary: 'the one ledger: ceiling, holds, unknown charges, overruns',
  verbs: [
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'reservations', load: () => import('./reservations.js') },
    { verb: 'review', load: () => import('./review.js') },
    { verb: 'settle', load: () => import('./settle.js') },
  ],
}
