/** What left the spool is on record before it goes: no power cut takes a line of it. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { Evictions } from '../../../../src/edge/device/spool/evictions.js'
import { MemFiles } from '../../../support/state/mem-files.js'

t.test('S-039 durability: a power cut right behind an eviction leaves the line of it, whole', async (t) => {
  const files = new MemFiles()
  const path = '/tmp/evictions.jsonl'
  for (const number of [1, 2, 3]) {
    const at = `2026-01-02T03:04:0${number}.000Z`
    const given = {
      at, request_id: randomUUID(), bytes: 10 + number, reason: 'age' as const, spooled_at: at,
    }
    const made = new Evictions(files, path).add(given)
    t.strictSame(made, { number, ...given })
    for (const mode of ['kept', 'dropped', 'garbled'] as const) {
      t.strictSame(new Evictions(files.crash(mode, number), path).last(), made, `${mode} ${number}`)
    }
  }
})
