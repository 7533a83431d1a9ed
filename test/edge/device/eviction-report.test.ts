/** The daemon tells how many captures left its spool unsent, and nothing waits for that. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { HttpsReply } from '../../../src/net/types.js'
import { EvictionReport } from '../../../src/edge/device/eviction-report.js'
import { deviceOf, linesOf } from '../../support/edge/paired.js'
import { must } from '../../support/must.js'
import { until } from '../../support/until.js'

const full = { limits: { max_items: 1 }, retry: { first_ms: 100, most_ms: 400 } }

t.test('S-039 nothing is told where nothing was lost; else the number, once for each', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const { service } = device
  await device.capture(1)
  must(await device.once())
  t.strictSame(service.requests, ['POST /api/edge/artifacts'])
  for (const n of [2, 3, 4]) await device.capture(n)
  must(await device.once())
  t.strictSame(service.evictions, [2])
  t.strictSame(service.requests.slice(1), [
    'POST /api/edge/artifacts', 'POST /api/edge/pairing/spool',
  ], 'behind the capture that waited')
  await device.running(async () => {
    await until('the first telling', () => service.evictions.length === 2)
    for (const n of [5, 6]) await device.capture(n)
    await until('all to be sent', () => service.uploads.length >= 3)
  })
  t.ok(service.evictions.every((count, at, all) => count >= (all[at - 1] ?? 0)))
  t.strictSame(service.violations, [])
})

t.test('S-036 S-038 S-039 a number that cannot be told holds no capture back, and is told later', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const { service } = device
  for (const n of [1, 2]) await device.capture(n)
  service.spoolFaults.push('cut', 503)
  const ran = must(await device.once())
  t.strictSame(linesOf(ran).map(({ event }) => event), ['ready', 'sent', 'stopped'])
  t.strictSame([service.uploads.length, service.evictions], [1, []])
  service.spoolFaults.push('cut', 503)
  const waited = await device.running(() =>
    until('it to be told', () => service.evictions.length === 1))
  t.strictSame(linesOf(waited).filter(({ event }) => event === 'waiting')
    .map(({ request_id, reason }) => [request_id, reason]),
  [[null, 'reset'], [null, 'refused']])
  t.strictSame(service.evictions, [1])
})

t.test('S-039 S-198 a service that does not know the question is not asked it again; one that ended the '
  + 'pairing ends the sending', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const { service } = device
  for (const n of [1, 2]) await device.capture(n)
  service.spoolFaults.push(404)
  must(await device.once())
  t.equal(service.requests.filter((line) => /spool/.test(line)).length, 1)
  t.strictSame(service.evictions, [])
  service.spoolFaults.push(401)
  t.equal((await device.once()).status, 4)
  t.ok(device.pairing().ended_at !== null)
})

t.test('S-039 what leaves the spool while a number is told is told next', async (t) => {
  const report = new EvictionReport()
  const sent: number[] = []
  const got = { status: 204 } as HttpsReply
  const tell = (meanwhile: number) => report.tell(async (number) => {
    sent.push(number)
    report.noted(meanwhile)
    return { got }
  })
  report.noted(1)
  for (const meanwhile of [3, 3, 3]) await tell(meanwhile)
  t.strictSame(sent, [1, 3])
  t.strictSame(await tell(3), { kind: 'nothing' })
})

t.test('S-039 a capture that the service may have is not counted as one that left unsent', async (t) => {
  const device = await deviceOf(t, { settings: { limits: { max_items: 1 } } })
  const first = await device.capture(1)
  device.service.fault('lost-reply')
  t.equal((await device.once()).status, 9)
  const taken = await device.place.json(['edge', 'capture', 'shot-1.png'])
  t.matchStrict(taken.evicted, [{ number: 0, reason: 'may_be_sent', request_id: first }])
  must(await device.once())
  t.ok(device.service.stored.has(first))
  t.strictSame(device.service.evictions, [])
  for (const n of [2, 3]) await device.capture(n)
  must(await device.once())
  t.strictSame(device.service.evictions, [1], 'what never left counts')
})

t.test('S-039 a capture that may have come by a pairing of before does not count as one that left unsent, also where a daemon was killed while it kept the new pairing', async (t) => {
  for (const isKilled of [false, true]) {
    const device = await deviceOf(t, { settings: { limits: { max_items: 1 } } })
    const { place, service } = device
    const sending = join(place.edgeDir, 'sending.json')
    const first = await device.capture(1)
    service.fault('lost-reply')
    t.equal((await device.once()).status, 9)
    if (isKilled) {
      const before = readFileSync(sending)
      service.fault('cut')
      t.equal((await device.pair()).status, 9)
      writeFileSync(sending, before)
    }
    const args = isKilled ? [] : ['--pair-file', '-']
    const ran = await place.run(['edge', 'daemon', '--once', '--json', ...args], {
      ...isKilled ? {} : { stdin: `${service.pairingString()}\n` },
      at: (step) => step === 'daemon.numbered' ? service.close() : undefined,
    })
    t.equal(ran.status, 9)
    t.equal(service.uploads.length, isKilled ? 2 : 1, 'nothing of it left')
    const { device_id: id, under_way: kept } = JSON.parse(readFileSync(sending, 'utf8'))
    t.equal(id, device.pairing().device_id)
    t.strictSame(kept, { request_id: first, sequence: 1, contacted: true }, 'its first number')
    const taken = await place.json(['edge', 'capture', 'shot-1.png'])
    t.matchStrict(taken.evicted, [{ number: 0, reason: 'may_be_sent', request_id: first }])
    t.strictSame(service.violations, [])
  }
})

t.test('S-039 a capture of which nothing left, the service being away, counts as one that left unsent', async (t) => {
  const device = await deviceOf(t, { settings: { limits: { max_items: 1 } } })
  await device.capture(1)
  await device.service.close()
  t.equal((await device.once()).status, 9)
  const taken = await device.place.json(['edge', 'capture', 'shot-1.png'])
  t.matchStrict(taken.evicted, [{ number: 1, reason: 'items' }])
})

t.test('S-036 S-038 S-039 a service that answers, though it takes nothing, is told once what left unsent, and each try stays one', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const { service } = device
  for (const n of [1, 2]) await device.capture(n)
  service.always({ status: 503 })
  const ran = await device.running(() =>
    until('five tries', () => service.uploads.length === 5))
  t.strictSame(service.evictions, [1], 'while a capture waits')
  const tellings = () => service.requests.filter((line) => /spool/.test(line)).length
  t.equal(tellings(), 1)
  const waits = linesOf(ran).filter(({ event }) => event === 'waiting')
  t.ok(waits.length >= 4, 'a gap behind each')
  t.ok(waits.every(({ reason, wait_ms: ms }) => reason === 'refused' && Number(ms) > 0))
  service.always('cut')
  t.equal((await device.once()).status, 9)
  t.equal(tellings(), 1, 'what does not answer is told nothing')
})

t.test('S-039 a telling that fails beside a capture that is not taken changes nothing of the gap; one that ends the pairing ends it', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const { service } = device
  for (const n of [1, 2]) await device.capture(n)
  service.always({ status: 503 })
  service.spoolFaults.push(503, 'cut')
  for (const told of [[], [], [1]]) {
    const ran = await device.once()
    t.strictSame([ran.status, ran.error().reason], [9, 'refused'])
    t.strictSame(service.evictions, told)
  }
  service.spoolFaults.push(401)
  const ended = await device.once()
  t.strictSame([ended.status, ended.error().code], [4, 'edge_pairing_ended'])
  t.ok(device.pairing().ended_at !== null)
  t.equal((await device.once()).status, 4)
  t.equal(service.uploads.length, 4, 'nothing more was sent')
})

t.test('S-039 a capture that a full service refused counts as one that left unsent, and is told while the next one waits', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const { service } = device
  await device.capture(1)
  service.always({ status: 507, code: 'edge_store_full' })
  t.equal((await device.once()).status, 9)
  const taken = await device.place.json(['edge', 'capture', 'shot-1.png'])
  t.matchStrict(taken.evicted, [{ number: 1, reason: 'items' }])
  t.equal((await device.once()).status, 9)
  t.strictSame(service.evictions, [1])
})

t.test('S-039 what was sent, and whose answer was lost, may be sent whatever another answer than a full store says', async (t) => {
  const device = await deviceOf(t, { settings: full })
  const first = await device.capture(1)
  device.service.fault('lost-reply', { status: 503 })
  for (const reason of ['reset', 'refused']) t.equal((await device.once()).error().reason, reason)
  const taken = await device.place.json(['edge', 'capture', 'shot-1.png'])
  t.matchStrict(taken.evicted, [{ number: 0, reason: 'may_be_sent', request_id: first }])
  must(await device.once())
  t.strictSame(device.service.evictions, [])
})
