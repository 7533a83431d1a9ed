import type { NounEntry } from '../../entry.js'

/** `sallyport config …`. */
export const configNoun: NounEntry = {
  noun: 'config',
  summary: 'the whole model configuration: the text capability and the gateway',
  verbs: [
    { verb: 'show', load: () => import('./show.js') },
    { verb: 'save', load: () => import('./save.js') },
  ],
}
