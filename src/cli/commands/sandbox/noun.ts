import type { NounEntry } from '../../entry.js'

/** `sallyport sandbox …`. */
export const sandboxNoun: NounEntry = {
  noun: 'sandbox',
  summary: 'an embedded outside world on loopback, with faults, for trying things out',
  verbs: [
    { verb: 'start', load: () => import('./start.js') },
    { verb: 'status', load: () => import('./status.js') },
    { verb: 'fault', load: () => import('./fault.js') },
    { verb: 'faults', load: () => import('./faults.js') },
    { verb: 'samples', load: () => import('./samples.js') },
  ],
}
