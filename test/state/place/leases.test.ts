/** Leases of one process at the place. */
import t from 'tap'
import { Leases } from '../../../src/state/place/leases.js'
import type { Place } from '../../../src/state/place/place.js'

t.test('a lease is given back once, whoever asks again, and what is left with the end of its process', async (t) => {
  const given: (readonly string[])[] = []
  let made = 0
  const place = {
    take: async () => `token-${made += 1}`,
    release: async (tokens: readonly string[]) => void given.push([...tokens]),
    renew: async () => undefined,
  } as unknown as Place
  const leases = new Leases(() => place)
  const one = await leases.take('lane')
  await leases.take('guard')
  one?.release()
  one?.release()
  leases.close()
  one?.release()
  t.strictSame(given, [['token-1'], ['token-2']])
})
