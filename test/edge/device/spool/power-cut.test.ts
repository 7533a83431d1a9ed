/** The spool behind a power cut: what was answered is as it was answered. */
import t, { type Test } from 'tap'
import { devicePlaces } from '../../../../src/edge/device/folder.js'
import type { Capture } from '../../../../src/edge/device/spool/item.js'
import type { Spool } from '../../../../src/edge/device/spool/spool.js'
import { ensureDurableDirs } from '../../../../src/state/files.js'
import { captureOf, pictureOf, spoolAt } from '../../../support/edge/device.js'
import { MemFiles } from '../../../support/state/mem-files.js'
import { temporaryFolder } from '../../../world/place.js'

/** A spool on a disk that may lose power; its lock alone lies on a real one. */
const bench = (t: Test) => {
  const dir = temporaryFolder(t)
  const files = new MemFiles()
  const { queue, ids, aside, fresh } = devicePlaces(dir)
  for (const path of [queue, ids, aside, fresh]) ensureDurableDirs(files, path)
  return {
    spool: spoolAt(dir, { files }),
    /** The spool as a reboot would find it, each way that it may. */
    rebooted: () => [
      ...[1, 2, 3, 4].map((seed) => files.crash('garbled', seed)),
      files.crash('kept', 0), files.crash('dropped', 0),
    ].map((disk) => spoolAt(dir, { files: disk })),
  }
}

const firstOf = async (spool: Spool) => {
  const { entry } = await spool.front()
  if (entry === null) throw new Error('nothing waits')
  return entry
}

/** How many numbers lie in one folder; the first one is 1. */
const folder = 32
const captures = (count: number): Capture[] =>
  Array.from({ length: count }, (_, n) => captureOf(pictureOf(n)))

t.test('S-040 durability: a capture that was answered waits whole behind a power cut', async (t) => {
  const { spool, rebooted } = bench(t)
  const sent = captures(folder + 2)
  for (const [at, capture] of sent.entries()) {
    await spool.add(capture)
    if (at > 1 && at < folder - 2) continue
    for (const again of rebooted()) {
      const { counts } = await again.look()
      t.equal(counts.items, at + 1)
      t.strictSame(again.read(await firstOf(again)), sent[0], `whole, with ${at + 1}`)
    }
  }
})

t.test('S-037 durability: what was taken out stays out behind a power cut, also as the last of a folder', async (t) => {
  const { spool, rebooted } = bench(t)
  const sent = captures(folder + 2)
  for (const capture of sent) await spool.add(capture)
  for (const left of sent.keys()) {
    await spool.remove(await firstOf(spool))
    const next = sent[left + 1]?.facts.request_id ?? null
    for (const again of rebooted()) {
      const { entry } = await again.front()
      if (entry?.requestId !== (next ?? undefined)) t.fail(`${left + 1} were taken out`)
    }
  }
  t.equal((await spool.look()).counts.items, 0)
})

t.test('S-037 durability: what was put aside lies there behind a power cut, and nowhere else', async (t) => {
  const { spool, rebooted } = bench(t)
  const [refused, next] = [captureOf(pictureOf(1)), captureOf(pictureOf(2))]
  for (const [number, capture] of [refused, next].entries()) {
    await spool.add(capture)
    await spool.setAside(await firstOf(spool), 'mime_differs')
    for (const again of rebooted()) {
      const { counts: { items, aside } } = await again.look()
      t.strictSame({ items, aside }, { items: 0, aside: number + 1 })
    }
  }
})
