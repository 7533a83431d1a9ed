import fc from 'fast-check'
import t from 'tap'
import { isoFromMs } from '../../../src/base/clock.js'
import { chargeRange, type ChargeRange } from '../../../src/gateway/usage/range.js'
import {
  forgetSince, keepReading, noteContact, noteEnd,
} from '../../../src/gateway/usage/usage-rows.js'
import { rowsInMemory } from '../../support/gateway/rows-in-memory.js'

/** A gateway that writes so many digits of what it has counted, however much that is. */
const byDigits = (digits: number) => (usd: number): string =>
  String(Number(usd.toPrecision(digits)))

const roundings: Readonly<Record<string, (usd: number) => string>> = {
  '6 digits': byDigits(6), '7 digits': byDigits(7),
  // As a data base writes numbers of single precision: as short as tells them apart.
  'single precision': (usd) => {
    const held = Math.fround(usd)
    const short = [6, 7, 8, 9].map((digits) => Number(held.toPrecision(digits)))
    return String(short.find((one) => Math.fround(one) === held))
  },
  'single precision, written as double': (usd) => String(Math.fround(usd)),
}

/** What the gateway has counted, in 10^-10 US dollars, and how it tells it. */
class Gateway {
  readonly charges: { readonly at: number; readonly amount: bigint }[] = []
  constructor(readonly decimals: number, readonly up: boolean, readonly lateMs: number) {}

  usage(nowMs: number): string {
    const sum = this.charges.filter(({ at }) => at + this.lateMs <= nowMs)
      .reduce((total, { amount }) => total + amount, 0n)
    const unit = 10n ** BigInt(10 - this.decimals)
    const units = sum / unit + (this.up && sum % unit > 0n ? 1n : 0n)
    const text = String(units * unit).padStart(11, '0')
    // As JSON writes a number: no zeros at the end.
    return String(Number(`${text.slice(0, -10)}.${text.slice(-10)}`))
  }
}

/** Calls and readings of one state beside a gateway, with a clock of their own. */
class Day {
  readonly tx = rowsInMemory()
  nowMs = Date.UTC(2026, 10, 2, 9)
  readonly unknown: { readonly id: string; readonly amount: bigint }[] = []
  #calls = 0

  constructor(readonly gateway: Gateway) {}

  pass(ms: number): void {
    this.nowMs += ms
  }

  read(usage = this.gateway.usage(this.nowMs), key = 'one'): void {
    keepReading(this.tx, {
      read_at: isoFromMs(this.nowMs), key_fingerprint: key, usage_usd: usage, elsewhere_usd: '0',
    })
  }

  /** A call; what it cost is told, or nobody knows. */
  call(amount: bigint, told: boolean): string {
    this.#calls += 1
    const id = `op_${this.#calls}`
    noteContact(this.tx, id, 20_000)
    this.pass(900)
    this.gateway.charges.push({ at: this.nowMs, amount })
    const micro = Number((amount + 9_999n) / 10_000n)
    noteEnd(this.tx, isoFromMs(this.nowMs), id, told ? micro : null)
    if (!told) this.unknown.push({ id, amount })
    return id
  }

  range(id: string): ChargeRange | null {
    return chargeRange(this.tx, id)
  }
}

const call = fc.record({
  amount: fc.bigInt({ min: 0n, max: 150_000_000n }), told: fc.boolean(),
})
const known = fc.array(fc.bigInt({ min: 20_000_000n, max: 90_000_000n }), {
  minLength: 1, maxLength: 4,
})

interface Told {
  readonly before: readonly bigint[]
  readonly calls: readonly { readonly amount: bigint; readonly told: boolean }[]
  readonly gapMs: number
}
const told = fc.record({
  before: known, calls: fc.array(call, { minLength: 1, maxLength: 5 }),
  gapMs: fc.integer({ min: 1_000, max: 600_000 }),
})

/** A pass whose charges are told, then the one that is looked at, then another look. */
const passes = (day: Day, { before, calls, gapMs }: Told): void => {
  day.read()
  for (const amount of before) day.call(amount, true)
  day.pass(200)
  day.read()
  day.pass(gapMs)
  day.read()
  for (const one of calls) day.call(one.amount, one.told)
  day.pass(200)
  day.read()
  day.pass(gapMs)
  day.read()
}

const holds = (range: ChargeRange | null, amount: bigint): boolean => {
  if (range === null || !range.bounding) return true
  const [low, high] = [BigInt(range.lowMicrousd), BigInt(range.highMicrousd)]
  return low * 10_000n <= amount && amount <= high * 10_000n
}

t.test('no range misses a charge of a gateway that only rounds what it tells', async (t) => {
  let ranges = 0
  fc.assert(fc.property(
    fc.constantFrom(2, 4, 6, 8, 10), fc.boolean(), told, (decimals, up, calls) => {
      const day = new Day(new Gateway(decimals, up, 0))
      passes(day, calls)
      for (const { id, amount } of day.unknown) {
        const range = day.range(id)
        if (range?.bounding === true) ranges += 1
        if (!holds(range, amount)) return false
      }
      return true
    },
  ), { numRuns: 500 })
  t.ok(ranges > 20, 'and there are ranges')
})

t.test('no range misses a charge of a gateway that rounds to digits, when the key has spent more than before', async (t) => {
  for (const [what, written] of Object.entries(roundings)) {
    let ranges = 0
    const amount = fc.integer({ min: 200_000, max: 20_000_000 })
    fc.assert(fc.property(
      fc.integer({ min: 1, max: 2_000 }), fc.array(amount, { minLength: 3, maxLength: 3 }), amount,
      (spent, told, open) => {
        const day = new Day(new Gateway(10, false, 0))
        let billed = 0
        const look = (afterMs: number): void => {
          day.pass(afterMs)
          day.read(written(billed / 1e9))
        }
        const pay = (nano: number, isTold: boolean): string => {
          billed += nano
          return day.call(BigInt(nano) * 10n, isTold)
        }
        billed = 12_345_678
        look(0)
        billed = spent * 100_000_000
        look(1_000)
        for (const nano of told) {
          pay(nano, true)
          look(200)
          look(60_000)
        }
        const id = pay(open, false)
        for (const ms of [200, 180_000, 60_000]) look(ms)
        const range = day.range(id)
        if (range?.bounding === true) ranges += 1
        return holds(range, BigInt(open) * 10n)
      },
    ), { numRuns: 500 })
    t.ok(ranges > 20, `and there are ranges with ${what}: ${ranges}`)
  }
})

t.test('no range misses a charge of a gateway that counts late, however late', async (t) => {
  const late = fc.integer({ min: 1, max: 2_000_000 })
  fc.assert(fc.property(late, told, (lateMs, calls) => {
    const day = new Day(new Gateway(8, false, lateMs))
    passes(day, calls)
    return day.unknown.every(({ id, amount }) => holds(day.range(id), amount))
  }), { numRuns: 500 })
  const day = new Day(new Gateway(8, false, 5_000))
  passes(day, { before: [50_000_000n], calls: [{ amount: 9n, told: false }], gapMs: 60_000 })
  t.strictSame(day.range('op_2'), { bounding: false, reason: 'no_reading_before' })
})

const quiet: Told = {
  before: [50_000_100n],
  calls: [{ amount: 40_000_000n, told: true }, { amount: 30_000_000n, told: false }],
  gapMs: 60_000,
}

t.test('a range has the times that it rests on, and one charge both of its ends', async (t) => {
  const day = new Day(new Gateway(8, false, 0))
  passes(day, quiet)
  t.strictSame(day.range('op_3'), {
    bounding: true, lowMicrousd: 2_997, highMicrousd: 3_003, of: 1,
    before: '2026-11-02T09:01:01.100Z', after: '2026-11-02T09:01:03.100Z',
    confirmed: '2026-11-02T09:02:03.100Z',
  })
  t.equal(day.range('op_2'), null, 'what was told has none')
})

t.test('what was read while the key had spent little is off by a place, whatever it spends later', async (t) => {
  const day = new Day(new Gateway(4, false, 0))
  const look = (): void => {
    day.pass(60_000)
    day.read()
  }
  look()
  day.call(500_060_000n, true)
  day.read()
  look()
  const id = day.call(30_900_000n, false)
  day.read()
  look()
  t.hasStrict(day.range(id), { bounding: true, lowMicrousd: 999, highMicrousd: 5_001 },
    'two digits were seen so far')
  day.call(1_230_001_000_000n, true)
  day.read()
  t.hasStrict(day.range(id), { bounding: true, lowMicrousd: 2_799, highMicrousd: 3_201 })
})

t.test('several unknown charges share what the key has spent', async (t) => {
  const day = new Day(new Gateway(8, false, 0))
  const more = { amount: 60_000_000n, told: false }
  passes(day, { ...quiet, calls: [...quiet.calls, more] })
  for (const id of ['op_3', 'op_4']) {
    t.hasStrict(day.range(id), { bounding: true, of: 2, lowMicrousd: 0, highMicrousd: 9_003 })
  }
})

t.test('more unknown charges than are kept between two readings have no range', async (t) => {
  const reasonOf = (calls: number): string => {
    const day = new Day(new Gateway(8, false, 0))
    const unknown = Array.from({ length: calls }, () => ({ amount: 30_000_000n, told: false }))
    passes(day, { ...quiet, calls: unknown })
    const range = day.range('op_2')
    return range === null || range.bounding ? String(range?.of) : range.reason
  }
  t.equal(reasonOf(64), '64')
  t.equal(reasonOf(65), 'too_coarse')
})

t.test('nothing is bounded without a reading before, behind, and one that confirms', async (t) => {
  const day = new Day(new Gateway(8, false, 0))
  day.read()
  const first = day.call(30_000_000n, false)
  t.strictSame(day.range(first), { bounding: false, reason: 'no_reading_after' })
  day.read()
  t.strictSame(day.range(first), { bounding: false, reason: 'no_reading_after' })
  day.pass(60_000)
  day.read()
  t.strictSame(day.range(first), { bounding: false, reason: 'no_reading_before' })
  const never = new Day(new Gateway(8, false, 0))
  t.equal(never.range(never.call(30_000_000n, false)), null, 'nor counted before the first one')
  const silent = new Day(new Gateway(8, false, 0))
  passes(silent, { ...quiet, before: [], calls: [{ amount: 30_000_000n, told: false }] })
  t.strictSame(silent.range('op_1'), { bounding: false, reason: 'not_confirmed' },
    'no charge was seen to be counted')
})

t.test('another user of the key, another key, a reset and a bill elsewhere bound nothing', async (t) => {
  const shared = new Day(new Gateway(8, false, 0))
  passes(shared, quiet)
  shared.gateway.charges.push({ at: shared.nowMs, amount: 10_000_000n })
  shared.pass(1_000)
  shared.read()
  t.strictSame(shared.range('op_3'), { bounding: false, reason: 'late_or_shared' })
  const told = (usage: string, key = 'one', elsewhere = '0'): ChargeRange | null => {
    const day = new Day(new Gateway(8, false, 0))
    passes(day, { ...quiet, calls: [] })
    const id = day.call(30_000_000n, false)
    keepReading(day.tx, {
      read_at: isoFromMs(day.nowMs), key_fingerprint: key, usage_usd: usage,
      elsewhere_usd: elsewhere,
    })
    day.pass(60_000)
    day.read(usage, key)
    return day.range(id)
  }
  t.hasStrict(told('0.00800001'), { bounding: true, lowMicrousd: 2_998, highMicrousd: 3_002 })
  t.strictSame(told('0.00800001', 'two'), { bounding: false, reason: 'another_key' })
  t.strictSame(told('0.001'), { bounding: false, reason: 'went_down' })
  t.strictSame(told('0.00800001', 'one', '0.5'), { bounding: false, reason: 'billed_elsewhere' })
  t.strictSame(told('0.5'), { bounding: false, reason: 'more_than_held' })
})

/** Charges were seen to be counted within five seconds, and are counted within four. */
const slow = (): Day => {
  const day = new Day(new Gateway(8, false, 4_000))
  day.read()
  day.call(50_000_100n, true)
  day.pass(5_000)
  day.read()
  return day
}

t.test('a charge from before the first reading that is counted behind it makes no range', async (t) => {
  const day = slow()
  day.call(60_000_000n, false)
  day.read()
  day.pass(100)
  day.read()
  const id = day.call(20_000_000n, false)
  day.pass(10_000)
  day.read()
  day.pass(60_000)
  day.read()
  t.strictSame(day.range(id), { bounding: false, reason: 'not_confirmed' })
})

t.test('a reading confirms only once a charge had as long as one that was seen to be counted', async (t) => {
  const day = slow()
  day.pass(60_000)
  day.read()
  const id = day.call(30_000_000n, false)
  day.read()
  day.pass(1_000)
  day.read()
  t.strictSame(day.range(id), { bounding: false, reason: 'not_confirmed' })
  day.pass(60_000)
  day.read()
  t.strictSame(day.range(id), { bounding: false, reason: 'late_or_shared' }, 'and then it shows')
})

t.test('what a dead process sent may be answered, and counted, for two minutes behind the reading that tells of it', async (t) => {
  const day = new Day(new Gateway(8, false, 0))
  passes(day, { ...quiet, calls: [] })
  noteContact(day.tx, 'op_dead', 20_000)
  day.gateway.charges.push({ at: day.nowMs, amount: 30_000_000n })
  day.pass(200)
  day.read()
  day.pass(119_000)
  day.read()
  t.strictSame(day.range('op_dead'), { bounding: false, reason: 'not_confirmed' })
  day.pass(2_000)
  day.read()
  t.hasStrict(day.range('op_dead'), { bounding: true, lowMicrousd: 2_998, highMicrousd: 3_002 })
})

t.test('whatever breaks the count begins a new row of readings', async (t) => {
  const day = new Day(new Gateway(8, false, 0))
  passes(day, quiet)
  forgetSince(day.tx)
  const lost = day.call(30_000_000n, false)
  day.read()
  day.pass(60_000)
  day.read()
  t.equal(day.range(lost), null)
  const next = day.call(30_000_000n, false)
  day.read()
  day.pass(60_000)
  day.read()
  t.strictSame(day.range(next), { bounding: false, reason: 'not_confirmed' },
    'readings of before the break are no evidence')
  const still = new Day(new Gateway(8, false, 0))
  passes(still, { ...quiet, calls: [] })
  forgetSince(still.tx)
  still.read()
  const after = still.call(30_000_000n, false)
  still.read()
  still.pass(60_000)
  still.read()
  t.strictSame(still.range(after), { bounding: false, reason: 'no_reading_before' })
})
