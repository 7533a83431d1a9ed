/** The disk of a device that is full, or fails at each of its calls, through the program. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { onDisk, pictureOf } from '../../support/edge/device.js'
import { deviceOf } from '../../support/edge/paired.js'
import { must } from '../../support/must.js'
import { hasSmallDisks, onSmallDisk } from '../../support/small-disk.js'
import { onFailingDisk, type DiskFault } from '../../support/soak/failing-disk.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const faults: readonly DiskFault[] = ['ENOSPC', 'EIO', 'short']

t.test('S-036 S-037 S-040 a disk that fails at any step of a capture or of the sending: what was '
  + 'answered arrives once, whole, in order and under numbers that only grow', async (t) => {
  const device = await deviceOf(t)
  const { place, service } = device
  const dir = place.edgeDir
  const answered: string[] = []
  const kinds = new Map<string, number>()
  let number = 0
  /** One capture and one run of the daemon while call `at` fails; whether that call was met. */
  const round = async (at: number, fault: DiskFault): Promise<boolean> => {
    number += 1
    const file = place.write(`faulty-${number}.png`, pictureOf(number))
    const seen: string[] = []
    const plan = { at, fault, seen, openOnes: true } as const
    const ran = await onFailingDisk([dir], plan, async () => {
      const captured = await place.run(['edge', 'capture', file, '--json'])
      if (captured.status === 0) answered.push(captured.json().request_id)
      else kinds.set(captured.error().code, (kinds.get(captured.error().code) ?? 0) + 1)
      return device.once()
    })
    const call = `${fault} at ${at}, ${seen[at - 1]?.replaceAll(dir, '').split(' ')[0]}`
    t.ok([0, 1, 9].includes(ran.status), `${call}: ${ran.status} ${ran.stderr}`)
    const again = await device.once()
    t.equal(again.status, 0, `${call}: ${again.stderr}`)
    t.equal(onDisk(dir).items, 0, `${call}: nothing is left`)
    return seen.length >= at
  }
  for (const fault of faults) {
    let at = 1
    while (await round(at, fault)) at += 1
  }
  const [ids, stored] = [service.uploads.map(({ told }) => told['request_id']), service.stored]
  t.ok(answered.every((id) => stored.has(id)), 'what was answered is there')
  t.ok(kinds.size > 0 && number > 60, `${number} rounds`)
  t.comment(number, JSON.stringify([...kinds]))
  const order = [...stored.keys()]
  t.strictSame(order.filter((id) => answered.includes(id)), answered, 'in order')
  for (const { told, body } of service.uploads) {
    t.ok(told['sha256'] === sha256(body) && told['bytes'] === body.length)
  }
  const digests = new Map(service.uploads.map(({ told }) => [told['request_id'], told['sha256']]))
  t.ok(service.uploads.every(({ told }) => digests.get(told['request_id']) === told['sha256']),
    'a request id never comes with other bytes')
  const numbers = new Map<unknown, unknown>()
  for (const { told } of service.uploads) {
    const before = numbers.get(told['sequence'])
    t.ok(before === undefined || before === told['request_id'], 'a number is of one request')
    numbers.set(told['sequence'], told['request_id'])
  }
  t.ok(ids.length >= stored.size)
  t.strictSame(service.violations, [])
  t.strictSame(JSON.parse(readFileSync(join(dir, 'sending.json'), 'utf8'))['last_sequence'],
    service.lastSequence)
})

t.test('S-035 S-040 a disk that fails at any step of a pairing leaves the pairing of before or the new '
  + 'one whole, and pairing once more ends it', async (t) => {
  const device = await deviceOf(t)
  const { place } = device
  let [rounds, kept] = [0, 0]
  for (const fault of faults) {
    for (let at = 1; ; at += 1) {
      rounds += 1
      const { credential: before } = device.pairing()
      const seen: string[] = []
      const ran = await onFailingDisk([place.edgeDir], { at, fault, seen, openOnes: true },
        () => device.pair())
      const { credential } = device.pairing()
      t.match(credential, /^spe_[A-Za-z0-9_-]{43}$/, `${fault} at ${at}`)
      if (credential === before) kept += 1
      t.equal(statSync(join(place.edgeDir, 'pairing.json')).mode & 0o777, 0o600)
      if (seen.length < at) {
        t.equal(ran.status, 0)
        break
      }
      const id = await device.capture(rounds)
      if ((await device.once()).status !== 0) must(await device.pair())
      t.ok(device.service.stored.has(id), `${fault} at ${at}: it goes on`)
    }
  }
  t.ok(kept > 0 && rounds > 10, `${rounds} rounds, ${kept} kept the pairing of before`)
  t.strictSame(device.service.violations, [])
})

t.test('S-040 a disk that is really full: a capture that does not fit leaves nothing, one that fits waits', {
  skip: hasSmallDisks ? false : 'no user namespaces here',
}, async (t) => {
  const { place } = await World.in(t)
  const file = place.write('large.png', Buffer.concat([pictureOf(1), Buffer.alloc(300_000, 1)]))
  const env = { ...place.env, SALLYPORT_EDGE_DIR: place.path('small/device') }
  const small = { ...place, env }
  const full = await onSmallDisk(small, 'small', 280, ['edge', 'capture', file])
  t.equal(full.ran.status, 1)
  t.match(full.ran.stderr, /disk is full/)
  t.strictSame(full.left.filter((line) => !/ 0$/.test(line)), [], 'no byte of it')
  const fits = await onSmallDisk(small, 'small', 400, ['edge', 'capture', file])
  t.equal(fits.ran.status, 0, fits.ran.stderr)
  t.equal(fits.left.filter((line) => /^device\/(queue|ids)\//.test(line)).length, 2)
})
