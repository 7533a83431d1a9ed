/** Whose store at a server gives way to another founding of the same state. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Founding, Place } from '../../../../src/state/place/place.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { t } from '../../../support/tests-in-slices.js'
import { systemClock } from '../../../../src/base/clock.js'
import { parsePlaceAddress } from '../../../../src/state/place/address.js'
import { lazyPlace } from '../../../../src/state/place/lazy-place.js'
import { formatVersion } from '../../../../src/state/paths.js'

t.test('only a store that nobody uses gives way to another founding of the same state', async (t) => {
  const { url } = await startPostgres(t)
  const storeId = randomUUID()
  const by = (machine: string): Place => {
    const place = lazyPlace({
      address: parsePlaceAddress(url, null), ca: null, password: null, storeId,
      clock: systemClock, machine: { machine, writes: 1 },
    })
    t.teardown(() => place.close())
    return place
  }
  const founding = (machine: string): Founding => ({
    format: formatVersion, writes: 1, machine: { machine, name: 'one' },
    at: { sequence: 7, link: randomBytes(32), body: Buffer.from('base') },
  })
  const [a, b] = [randomUUID(), randomUUID()]
  await by(a).found(founding(a))
  await t.rejects(by(b).found(founding(b)), { kind: 'conflict', code: 'store_exists' })
  const again = founding(a)
  await by(a).found(again)
  const { records: [record] } = await by(a).follow(6, 1)
  t.strictSame(record?.link, again.at.link, 'a try that came to nothing')
  const next = { sequence: 8, link: randomBytes(32), body: Buffer.from('next') }
  t.equal(await by(a).append(again.at, next, []), 'placed')
  await t.rejects(by(a).found(founding(a)), { code: 'store_exists' }, 'it is used')
  t.strictSame(await by(a).end(next), [])
  await by(b).found(founding(b))
  t.strictSame((await by(b).machines()).map(({ machine }) => machine), [b])
  await t.rejects(by(a).follow(0, 1), { kind: 'blocked', code: 'machine_retired' })
})
