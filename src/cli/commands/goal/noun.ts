import type { NounEntry } from '../../entry.js'

/** `sallyport goal …`. */
export const goalNoun: NounEntry = {
  noun: 'goal',
  summary: 'what your tasks are for',
  verbs: [
    { verb: 'add', load: () => import('./add.js') },
    { verb: 'list', load: () => import('./list.js') },
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'update', load: () => import('./update.js') },
    { verb: 'close', load: () => import('./close.js') },
  ],
}
