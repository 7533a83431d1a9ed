/** A place whose driver is loaded at the first question: a state in a directory loads none. */
import type { Place } from './place.js'
import { nameOfPlace } from './address.js'
import type { PlaceOptions } from './postgres/postgres-place.js'

/** The place of these options; see `postgresPlace`. */
export const lazyPlace = (options: PlaceOptions): Place => {
  let made: Promise<Place> | undefined
  const place = (): Promise<Place> => {
    made ??= import('./postgres/postgres-place.js').then(({ postgresPlace }) =>
      postgresPlace(options))
    return made
  }
  return {
    name: nameOfPlace(options.address),
    follow: async (...given) => (await place()).follow(...given),
    append: async (...given) => (await place()).append(...given),
    take: async (...given) => (await place()).take(...given),
    renew: async (...given) => (await place()).renew(...given),
    release: async (...given) => (await place()).release(...given),
    takeFence: async (...given) => (await place()).takeFence(...given),
    giveFence: async (...given) => (await place()).giveFence(...given),
    fencesSince: async (...given) => (await place()).fencesSince(...given),
    putStop: async (...given) => (await place()).putStop(...given),
    dropStop: async (...given) => (await place()).dropStop(...given),
    untrueBlobs: async (...given) => (await place()).untrueBlobs(...given),
    hasBlobs: async (...given) => (await place()).hasBlobs(...given),
    putBlob: async (...given) => (await place()).putBlob(...given),
    async* getBlob(name) {
      yield* (await place()).getBlob(name)
    },
    removeBlobs: async (...given) => (await place()).removeBlobs(...given),
    machines: async () => (await place()).machines(),
    join: async (...given) => (await place()).join(...given),
    retire: async (...given) => (await place()).retire(...given),
    noteSeen: async (...given) => (await place()).noteSeen(...given),
    found: async (...given) => (await place()).found(...given),
    standing: async (...given) => (await place()).standing(...given),
    vouch: async (...given) => (await place()).vouch(...given),
    accept: async (...given) => (await place()).accept(...given),
    end: async (...given) => (await place()).end(...given),
    facts: async (...given) => (await place()).facts(...given),
    // One that was never asked loads nothing for its end.
    close: async () => (made === undefined ? undefined : (await made).close()),
  }
}
