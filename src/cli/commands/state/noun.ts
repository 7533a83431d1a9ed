import type { NounEntry } from '../../entry.js'

/** `sallyport state …`. */
export const stateNoun: NounEntry = {
  noun: 'state',
  summary: 'look after the state directory',
  verbs: [
    { verb: 'path', load: () => import('./path.js') },
    { verb: 'check', load: () => import('./check.js') },
    { verb: 'repair', load: () => import('./repair.js') },
    { verb: 'backup', load: () => import('./backup.js') },
    { verb: 'restore', load: () => import('./restore.js') },
    { verb: 'compact', load: () => import('./compact.js') },
  ],
}
