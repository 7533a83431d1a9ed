/** Asks a place of `<port> <store id> <machine> <CA>` once and does nothing about its end. */
import { systemClock } from '../../../src/base/clock.js'
import { parsePlaceAddress } from '../../../src/state/place/address.js'
import { lazyPlace } from '../../../src/state/place/lazy-place.js'

const [port = '', storeId = '', machine = '', ca = ''] = process.argv.slice(2)
const place = lazyPlace({
  address: parsePlaceAddress(`postgres://sallyport@127.0.0.1:${port}/postgres`, null),
  password: null, ca: ca === '' ? null : ca, storeId, clock: systemClock,
  machine: { machine, writes: 1 },
})
const { records } = await place.follow(7, 10)
process.stdout.write(`${records.length}\n`)
