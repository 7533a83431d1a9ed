import type { NounEntry } from '../../entry.js'

/** `sallyport principal …`. */
export const principalNoun: NounEntry = {
  noun: 'principal',
  summary: 'owners: who may log in',
  verbs: [
    { verb: 'add', load: () => import('./add.js') },
    { verb: 'list', load: () => import('./list.js') },
    { verb: 'disable', load: () => import('./disable.js') },
  ],
}
