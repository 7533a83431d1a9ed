/** Records behind an untrue one: which of them prove that they were there. */
import t from 'tap'
import { encodeRecord, firstChain, type LogBinding } from '../../../src/state/log/format.js'
import { evidenceBehind } from '../../../src/state/log/scan.js'
import { mendBytesMax, mendRecord } from '../../../src/state/log/mend.js'
import { bytesInMemory } from '../../support/state/records.js'

const storeId = '00000000-0000-4000-8000-000000000000'
const from = { sequence: 7, chain: firstChain(storeId) }
const formats = [2, 3] as const

for (const format of formats) {
  const binding: LogBinding = { storeId, epoch: 3, format }

  /** Records 8 to 13, one buffer each. */
  const six = ['{"a":1}', '{"b":2}', '{"c":3}', '{}', '{}', '{}']
  const records = (texts: readonly string[] = six) => {
    let { sequence, chain } = from
    return texts.map((text) => {
      sequence += 1
      const record = encodeRecord(binding, sequence, chain, text)
      chain = record.chain
      return Buffer.from(record.bytes)
    })
  }

  const found = (parts: readonly Buffer[], to = binding, piece?: number): number[] => {
    const bytes = bytesInMemory(Buffer.concat(parts))
    const start = { sequence: from.sequence, end: 0 }
    return [...evidenceBehind(to, bytes, start, piece)].map(({ sequence }) => sequence)
  }

  t.test(`format ${format}: records behind an untrue one prove themselves by the chain text stored before them`, async (t) => {
    const parts = records()
    parts[0]?.fill(0, 42, 46)
    t.strictSame(found(parts), [9, 10, 11, 12, 13])
    for (const piece of [1, 7, 64, 150]) {
      t.strictSame(found(parts, binding, piece), [9, 10, 11, 12, 13])
    }
  })

  t.test(`format ${format}: one whose chain text before is gone proves nothing; those behind it do`, async (t) => {
    const parts = records()
    parts[0]?.fill(0)
    parts[3]?.fill(0, 0, 3)
    t.strictSame(found(parts), [10, 12, 13])
  })

  t.test(`format ${format}: another store, another epoch, another payload, an earlier sequence: no evidence`, async (t) => {
    const parts = records()
    t.strictSame(found(parts, { ...binding, epoch: 4 }), [])
    t.strictSame(found(parts, { ...binding, storeId: storeId.replace(/0$/, '1') }), [])
    const [first, second, third, fourth] = parts as [Buffer, Buffer, Buffer, Buffer]
    t.strictSame(found([first, third, second, fourth]), [], 'none follows what lies before it')
    second.fill('x', 41, 43)
    t.strictSame(found([first, second, third, fourth]), [10, 11])
    t.strictSame(found([...records(), ...records()]), [9, 10, 11, 12, 13], 'nothing twice')
  })

  t.test(`format ${format}: a record that does not end is no evidence`, async (t) => {
    const parts = records()
    const last = parts.at(-1) ?? Buffer.alloc(0)
    t.strictSame(found([...parts.slice(0, -1), last.subarray(0, -1)]), [9, 10, 11, 12])
  })

  t.test(`format ${format}: a flipped bit is put right only where the sequence and the chain say so`, async (t) => {
    const [first, second] = records() as [Buffer, Buffer]
    const whole = Buffer.concat([first, second])
    const mended = (bytes: Buffer, start = 0, before = from): string => {
      const mend = mendRecord(binding, bytesInMemory(bytes), start, before)
      return mend === undefined ? 'nothing' : `${mend.at} ${mend.byte}`
    }
    const flipped = (at: number, bit: number): Buffer => {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      return bytes
    }
    for (let at = 0; at < first.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const answer = mended(flipped(at, bit))
        if (answer !== `${at} ${whole[at]}`) t.fail(`${at}.${bit}: ${answer}`)
      }
    }
    for (const at of [5, 45]) {
      t.equal(mended(flipped(at, 1), 0, { ...from, sequence: 6 }), 'nothing', 'another sequence')
    }
    const other = { ...from, chain: firstChain('x') }
    t.equal(mended(flipped(45, 1), 0, other), 'nothing', 'another chain')
    t.equal(mended(flipped(45, 1).subarray(0, first.length - 1)), 'nothing', 'not whole')
  })

  t.test(`format ${format}: a record of 16 KiB is put right, a longer one is not searched`, async (t) => {
    for (const [more, at] of [[0, '60 120'], [1, 'nothing']] as const) {
      const [record = Buffer.alloc(0)] = records([`"${'x'.repeat(mendBytesMax - 108 + more)}"`])
      t.equal(record.length, mendBytesMax + more)
      record[60] = 0x78 ^ 4
      const mend = mendRecord(binding, bytesInMemory(record), 0, from)
      t.equal(mend === undefined ? 'nothing' : `${mend.at} ${mend.byte}`, at)
    }
  })
}
