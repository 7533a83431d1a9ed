import type { NounEntry } from '../table.js'

/** `sallyport state …`. */
export const stateNoun: NounEntry = {
  noun: 'state',
  summary: 'look after the state directory',
  verbs: [
    { verb: 'path', load: () => import('./path.js') },
  ],
}
