import type { Place } from './place.js'
export const lazyPlace = (_options: object): Place => { throw new Error('stub') }
