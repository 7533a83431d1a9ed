import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../src/base/errors.js'
import { nodeFiles } from '../../../src/state/files.js'
import { stillClock } from '../../support/clock.js'
import {
  captureOf, drained, onDisk, pictureOf, sizeOf, spoolAt,
} from '../../support/edge/device.js'
import { faulty, plan } from '../../support/state/faults.js'
import { t } from '../../support/tests-in-slices.js'
import { temporaryFolder } from '../../world/place.js'

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'none'
  } catch (error) {
    return error instanceof SallyportError ? error.code : String(error)
  }
}
const one = captureOf(pictureOf(1))
const size = sizeOf(one)

t.test('S-036 captures leave in the order in which they came, over every border of a folder',
  async (t) => {
    const dir = temporaryFolder(t)
    const [first, second] = [spoolAt(dir), spoolAt(dir)]
    const ids: string[] = []
    for (let n = 0; n < 140; n += 1) {
      const capture = captureOf(Buffer.from(`picture ${n}`))
      ids.push(capture.facts.request_id)
      await (n % 2 === 0 ? first : second).add(capture)
    }
    const { counts } = await first.look()
    t.strictSame([counts.items, counts.bytes], [140, onDisk(dir).bytes])
    t.strictSame(await drained(second), ids)
    t.strictSame((await first.look()).counts, { items: 0, bytes: 0, aside: 0 })
    t.equal(onDisk(dir).items, 0)
    t.notOk(onDisk(dir).entries.some(({ path }) => /queue\//.test(path)), 'no folder is left')
  })

t.test('S-037 a request id waits once; with other bytes it is a conflict, and once it left it is free',
  async (t) => {
    const spool = spoolAt(temporaryFolder(t))
    const id = randomUUID()
    t.equal((await spool.add(captureOf(pictureOf(1), id))).outcome, 'spooled')
    t.equal((await spool.add(captureOf(pictureOf(1), id))).outcome, 'known')
    t.equal(await codeOf(spool.add(captureOf(pictureOf(2), id))), 'request_id_conflict')
    t.strictSame(await drained(spool), [id])
    t.equal((await spool.add(captureOf(pictureOf(2), id))).outcome, 'spooled')
  })

t.test('S-039 S-209 items never exceed their limit: the oldest leaves, and that is on record', async (t) => {
  const dir = temporaryFolder(t)
  const spool = spoolAt(dir, { limits: { max_items: 3 } })
  const ids: string[] = []
  for (let n = 0; n < 6; n += 1) {
    const capture = captureOf(Buffer.from(`picture ${n}`))
    ids.push(capture.facts.request_id)
    const { evicted, counts } = await spool.add(capture)
    t.ok(onDisk(dir).items <= 3 && counts.items <= 3)
    t.strictSame(evicted.map(({ request_id, reason, number }) => [request_id, reason, number]),
      n < 3 ? [] : [[ids[n - 3], 'items', n - 2]])
  }
  t.strictSame((await spool.look()).lastEviction?.number, 3)
  t.strictSame(await drained(spool), ids.slice(3))
})

t.test('S-039 bytes never exceed their limit, at no step of adding one', async (t) => {
  const dir = temporaryFolder(t)
  const most = { bytes: 0 }
  const spool = spoolAt(dir, {
    limits: { max_bytes: 3 * size + 10 },
    at: () => void (most.bytes = Math.max(most.bytes, onDisk(dir).bytes)),
  })
  for (let n = 0; n < 7; n += 1) {
    const { evicted } = await spool.add(captureOf(pictureOf(1)))
    t.strictSame(evicted.map(({ reason }) => reason), n < 3 ? [] : ['bytes'])
    t.ok(onDisk(dir).bytes <= 3 * size + 10)
  }
  t.ok(most.bytes <= 3 * size + 10, `${most.bytes}`)
  const small = spoolAt(temporaryFolder(t), { limits: { max_bytes: size - 1 } })
  t.equal(await codeOf(small.add(captureOf(pictureOf(1)))), 'capture_over_limit')
})

t.test('S-039 what is too old leaves unsent, and that is on record', async (t) => {
  const dir = temporaryFolder(t)
  const clock = stillClock()
  const spool = spoolAt(dir, { clock, limits: { max_age_seconds: 60 } })
  await spool.add(one)
  clock.advance(50_000)
  const young = captureOf(pictureOf(2))
  await spool.add(young)
  clock.advance(10_001)
  const { entry, evicted } = await spool.front()
  t.strictSame(evicted.map(({ request_id, reason }) => [request_id, reason]),
    [[one.facts.request_id, 'age']])
  t.equal(entry?.requestId, young.facts.request_id)
  t.equal(onDisk(dir).items, 1)
  const record = readFileSync(join(dir, 'evictions.log'), 'utf8')
  t.ok(record.includes(one.facts.request_id))
  t.notOk(record.includes('shot.png'), 'nothing of what it was')
})

t.test('S-036 S-039 a clock that steps back loses nothing and keeps the order; one that was ahead '
  + 'keeps nothing for ever', async (t) => {
  const clock = stillClock()
  const spool = spoolAt(temporaryFolder(t), { clock, limits: { max_age_seconds: 3_600 } })
  const ids = []
  for (const step of [0, -86_400_000 * 400, 1_000]) {
    clock.stepWall(step)
    const capture = captureOf(Buffer.from(`picture ${step}`))
    ids.push(capture.facts.request_id)
    t.strictSame((await spool.add(capture)).evicted, [])
  }
  t.equal((await spool.front()).entry?.requestId, ids[0], 'it is not old: it never was')
  clock.advance(3_601_000)
  const { entry, evicted } = await spool.front()
  t.strictSame([entry, evicted.map(({ request_id }) => request_id)], [null, ids])
  clock.stepWall(-clock.wallMs() - 5_000)
  t.equal((await spool.add(one)).outcome, 'spooled', 'also before 1970')
})

t.test('S-037 what the service will never take lies aside with its reason, counts to the limits and '
  + 'leaves first', async (t) => {
  const dir = temporaryFolder(t)
  const spool = spoolAt(dir, { limits: { max_items: 3 } })
  const [refused, next] = [captureOf(pictureOf(1)), captureOf(pictureOf(2))]
  await spool.add(refused)
  await spool.add(next)
  const { entry } = await spool.front()
  await spool.setAside(entry!, 'mime_differs')
  t.strictSame((await spool.look()).counts.aside, 1)
  t.equal((await spool.front()).entry?.requestId, next.facts.request_id, 'the next one goes on')
  const [lies] = onDisk(dir).entries.filter(({ path }) => /aside\/./.test(path))
  t.match(lies?.name, /\.mime_differs$/)
  t.ok(readFileSync(lies!.path).includes(refused.bytes), 'with its bytes')
  await spool.add(captureOf(pictureOf(3)))
  const { evicted, counts } = await spool.add(captureOf(pictureOf(4)))
  t.strictSame(evicted.map(({ request_id, reason }) => [request_id, reason]),
    [[refused.facts.request_id, 'aside']])
  t.strictSame([counts.items, counts.aside, onDisk(dir).items], [3, 0, 3])
  t.equal((await spool.add(refused)).outcome, 'spooled', 'its id is free again')
})

t.test('S-040 whatever call of the disk fails or is the last one, what waits is whole and in order',
  async (t) => {
    for (const fault of ['stop', 'ENOSPC', 'short'] as const) {
      for (let at = 1; ; at += 1) {
        const dir = temporaryFolder(t)
        const before = captureOf(pictureOf(1))
        await spoolAt(dir).add(before)
        const to = plan(at, fault)
        const added = captureOf(pictureOf(2))
        const ended = await codeOf(spoolAt(dir, { files: faulty(nodeFiles, to) }).add(added))
        const again = spoolAt(dir)
        await again.front()
        const { items, bytes } = onDisk(dir)
        const waits = [before, ...items === 2 ? [added] : []]
        t.equal(bytes, waits.reduce((sum, capture) => sum + sizeOf(capture), 0), to.seen.join('\n'))
        if (ended === 'none') t.equal(items, 2, 'what was answered is there')
        if (fault === 'ENOSPC' && to.seen[at - 1]?.startsWith('unlink') !== true) {
          t.match(ended, /disk_full|none/)
        }
        t.equal((await again.add(added)).outcome, items === 2 ? 'known' : 'spooled')
        t.strictSame(await drained(again), [before, added].map(({ facts }) => facts.request_id))
        if (to.calls < at) break
      }
    }
  })

t.test('S-040 taking one out, putting one aside and dropping one may end at any call of the disk',
  async (t) => {
    for (const act of ['remove', 'setAside', 'evict'] as const) {
      for (let at = 1; ; at += 1) {
        const dir = temporaryFolder(t)
        const [first, second] = [captureOf(pictureOf(1)), captureOf(pictureOf(2))]
        await spoolAt(dir).add(first)
        await spoolAt(dir).add(second)
        const to = plan(at, 'stop')
        const spool = spoolAt(dir, { files: faulty(nodeFiles, to) })
        const { entry } = await spool.front()
        await codeOf(act === 'remove' ? spool.remove(entry!)
          : act === 'evict' ? spool.evict(entry!, 'blocked') : spool.setAside(entry!, 'refused'))
        const again = spoolAt(dir)
        const { entry: still } = await again.front()
        if (act === 'evict' && still?.requestId === first.facts.request_id) {
          await again.evict(still, 'blocked')
        }
        const left = await drained(again)
        t.equal(left.at(-1), second.facts.request_id)
        t.ok(left.length <= 2)
        const { counts, lastEviction } = await again.look()
        t.equal(counts.items, 0)
        t.equal(onDisk(dir).items, counts.aside, 'nothing lies where nobody sees it')
        if (act === 'evict') {
          t.strictSame([lastEviction?.number, lastEviction?.reason], [1, 'blocked'])
        }
        if (to.calls < at) break
      }
    }
  })

t.test('S-040 what is not the capture that was spooled is told from one, and does not stop the rest',
  async (t) => {
    const dir = temporaryFolder(t)
    const spool = spoolAt(dir)
    const lies = async (): Promise<string> => {
      await spool.add(captureOf(pictureOf(1)))
      return onDisk(dir).entries.find(({ path, facts }) =>
        facts.isFile() && path.includes('/queue/'))!.path
    }
    const harm: readonly ((path: string) => void)[] = [
      (path) => appendFileSync(path, 'x'),
      (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
      (path) => writeFileSync(path, ''),
      (path) => writeFileSync(path, 'x'.repeat(100_000)),
      (path) => writeFileSync(path, readFileSync(path).map((byte, at, all) =>
        at === all.length - 20 ? byte ^ 1 : byte)),
      (path) => {
        renameSync(path, `${path}.x`)
        symlinkSync(`${path}.x`, path)
      },
    ]
    for (const act of harm) {
      act(await lies())
      const { entry } = await spool.front()
      t.equal(spool.read(entry!), 'damaged')
      await spool.setAside(entry!, 'spool_item_damaged')
      t.equal((await spool.front()).entry, null)
    }
    await lies()
    const { entry } = await spool.front()
    await spool.remove(entry!)
    t.equal(spool.read(entry!), 'gone')
    await spool.remove(entry!)
    await spool.setAside(entry!, 'late')
    t.equal(await spool.evict(entry!, 'age'), null)
  })

t.test('S-037 S-039 what is too old by the time it is put in again waits as a new one: it is not called known while it leaves', async (t) => {
  const clock = stillClock()
  const dir = temporaryFolder(t)
  const spool = spoolAt(dir, { clock, limits: { max_age_seconds: 60, max_items: 2 } })
  await spool.add(one)
  clock.advance(60_001)
  const again = await spool.add(one)
  t.strictSame([again.outcome, again.counts.items], ['spooled', 1])
  t.strictSame(again.evicted.map(({ request_id, reason }) => [request_id, reason]),
    [[one.facts.request_id, 'age']])
  await spool.add(captureOf(pictureOf(2)))
  const lowered = await spoolAt(dir, { clock, limits: { max_items: 1 } }).add(one)
  t.strictSame([lowered.outcome, lowered.counts.items, onDisk(dir).items], ['spooled', 1, 1])
  t.strictSame(lowered.evicted.map(({ reason }) => reason), ['items', 'items'])
  t.strictSame(await drained(spool), [one.facts.request_id])
})

t.test('S-039 what left by itself while it was sent is taken out without a failure, also as the last of its folder', async (t) => {
  const spool = spoolAt(temporaryFolder(t), { limits: { max_items: 2 } })
  for (let n = 0; n < 32; n += 1) await spool.add(captureOf(Buffer.from(`picture ${n}`)))
  const { entry } = await spool.front()
  t.equal(entry?.number, 31, 'alone in its folder: the next one begins another')
  t.equal((await spool.add(one)).evicted[0]?.request_id, entry?.requestId)
  await t.resolves(spool.remove(entry!))
  t.equal((await drained(spool)).length, 2)
  await t.resolves(spool.remove(entry!), 'nor is the folder of its folder there')
})

t.test('the record of evictions goes on counting behind a torn line and in a new file', async (t) => {
  const dir = temporaryFolder(t)
  const spool = spoolAt(dir, { limits: { max_items: 1 } })
  const add = async () => (await spool.add(captureOf(pictureOf(1)))).evicted[0]?.number
  t.equal(await add(), undefined)
  t.equal(await add(), 1)
  appendFileSync(join(dir, 'evictions.log'), '{"number":77,"at":"20')
  t.equal(await add(), 2)
  appendFileSync(join(dir, 'evictions.log'), `\n${'x'.repeat(1024 * 1024)}\n`)
  t.equal(await spool.add(captureOf(pictureOf(1))).then(({ evicted }) => evicted.length), 1)
  t.ok(nodeFiles.stat(join(dir, 'evictions.log.1'))!.size > 1024 * 1024)
  t.ok(nodeFiles.stat(join(dir, 'evictions.log'))!.size < 4096)
  const before = (await spool.look()).lastEviction?.number ?? 0
  t.equal(await add(), before + 1)
  // As a crash leaves it between the old file's other name and the new file's first line.
  renameSync(join(dir, 'evictions.log'), join(dir, 'evictions.log.1'))
  t.equal(await add(), before + 2, 'a number is never given twice')
  t.equal((await spool.look()).lastEviction?.number, before + 2)
})
