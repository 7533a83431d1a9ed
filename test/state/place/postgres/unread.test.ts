/** A server that does not keep to its protocol. */
import type { Socket } from 'node:net'
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { placeTimes } from '../../../../src/state/place/place.js'
import { chanceOf } from '../../../support/chance.js'
import { PlacedStore } from '../../../support/place/placed.js'
import { message, toldServer, welcome } from '../../../support/place/told-server.js'

const numbers = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4)
  return bytes
}

const short = Buffer.alloc(2, 0xff)

/** A server whose way of answering is given, and a place behind it that waits for little. */
const serverOf = async (t: Test, patience: number, answers: (asking: Socket) => void) => {
  const port = await toldServer(t, answers)
  const { patienceMs } = placeTimes
  placeTimes.patienceMs = patience
  t.teardown(() => { placeTimes.patienceMs = patienceMs })
  return () => new PlacedStore(t, { port }).placeOf(randomUUID())
}

t.test('what a server says that cannot be read ends the connection, never the process', async (t) => {
  let [first, further]: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)]
  const placeNow = await serverOf(t, 300, (asking) => {
    asking.write(first)
    asking.once('data', () => void asking.write(further))
  })
  const chance = chanceOf('bytes')
  const noise = (): Buffer => Buffer.from(Array.from({ length: 400 }, () => chance.below(256)))
  for (const [what, greeting, answer] of [
    ['a greeting of no kind', message('R', numbers(99)), noise()],
    ['a greeting that ends too soon', message('R', Buffer.alloc(0)), noise()],
    ['a parameter without an end', message('S', Buffer.from('name')), noise()],
    ['bytes by chance', noise(), noise()],
    ['fields that are not there', welcome, message('D', short)],
    ['a field longer than its row', welcome, message('D', Buffer.concat([
      Buffer.from([0, 1]), numbers(2 ** 31 - 1)]))],
    ['columns that are not there', welcome, message('T', short)],
    ['a row of no columns', welcome, message('D', Buffer.from([0, 1, 0, 0, 0, 1, 65]))],
    ['an end of nothing', welcome, Buffer.concat([
      message('C', Buffer.from('SELECT 1\0')), message('C', Buffer.from('SELECT 1\0'))])],
    ['bytes by chance behind a greeting', welcome, noise()],
  ] as const) {
    [first, further] = [greeting, answer]
    const place = placeNow()
    await t.rejects(place.follow(7, 1), { kind: 'locked', code: 'place_unreachable' }, what)
    await place.close()
  }
})

t.test('an answer that does not end is not waited for', async (t) => {
  const piece = Buffer.alloc(1024 * 1024, 1)
  const row = Buffer.from('D\x7f\xff\xff\xff', 'latin1')
  const sent: number[] = []
  const placeNow = await serverOf(t, 5_000, (asking) => {
    const at = sent.push(0) - 1
    const more = (): void => {
      // One that is read to the end of it fails here, not by the memory of the machine.
      while (!asking.destroyed && sent[at]! < 300 && asking.write(piece)) sent[at]! += 1
    }
    asking.write(welcome)
    asking.once('data', () => {
      asking.on('drain', more)
      asking.write(row)
      more()
    })
  })
  const place = placeNow()
  await t.rejects(place.follow(7, 1), { kind: 'locked', code: 'place_unreachable' })
  await place.close()
  const most = Math.max(...sent)
  // The limit is 128 MiB; what systems keep between the two ends is on either side of it.
  t.ok(most > 64 && most < 256, `${sent.join(', ')} MiB`)
})
