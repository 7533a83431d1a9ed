/** What may happen to a deployment, as plain values that fast-check makes and shrinks. */
import * as fc from 'fast-check'
import { readFaults, type ReadFault } from './host.js'

/** What goes wrong with the POST of a run; `readback_lost` with the read behind it. */
export const runFaults = [
  'reply_lost', 'request_lost', 'refused', 'unreachable', 'readback_lost',
] as const
export type RunFault = (typeof runFaults)[number]

/** How a request to close is made. Numbers without a meaning are taken modulo what there is. */
export interface CloseWish {
  readonly hint: 'none' | 'right' | 'wrong' | 'proved'
  readonly numbers: 'now' | 'job_past' | 'connection_past' | 'fence_past' | 'job_next'
  readonly key: 'new' | 'used'
  readonly read: ReadFault | null
  readonly skip: number
}

/** Where a line dies: at an announced step, or at a changing call of the disk. */
export interface CrashWish {
  readonly what: 'step' | 'call'
  readonly at: number
}

/** One thing that happens. */
export type Operation =
  | { readonly op: 'prepare' | 'made'; readonly title: string }
  | { readonly op: 'lost'; readonly title: string; readonly fault: RunFault }
  | { readonly op: 'approve' | 'cancel' | 'adopt'; readonly job: number }
  | {
    readonly op: 'run' | 'resume'
    readonly job: number
    readonly fault: RunFault | null
    readonly crash: CrashWish | null
  }
  | { readonly op: 'close'; readonly job: number; readonly wish: CloseWish
    readonly crash: CrashWish | null; readonly meanwhile: Operation | null }
  | { readonly op: 'twins'; readonly job: number; readonly wish: CloseWish; readonly keys: 1 | 2 }
  | { readonly op: 'retry'; readonly kept: number; readonly crash: CrashWish | null }
  | { readonly op: 'inspect' | 'discard'; readonly kept: number }
  | { readonly op: 'reconcile'; readonly job: number; readonly read: ReadFault | null }
  | { readonly op: 'observe'; readonly job: number; readonly read: ReadFault | null
    readonly numbers: 'now' | 'past'; readonly meanwhile: Operation | null }
  | { readonly op: 'paused'; readonly title: string }
  | { readonly op: 'revoke' | 'disable' | 'rotate' | 'login' | 'consent' }

const title = fc.constantFrom('Alike', 'Alike', 'Other')
const small = fc.nat({ max: 7 })
const rare = <T>(made: fc.Arbitrary<T>, weight = 1): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 5 }, { arbitrary: made, weight })
/** A closure announces fourteen steps, the last of them behind its record. */
const crash = rare(fc.oneof(
  fc.record({ what: fc.constant('step' as const), at: fc.integer({ min: 1, max: 14 }) }),
  fc.record({ what: fc.constant('step' as const), at: fc.integer({ min: 12, max: 14 }) }),
  fc.record({ what: fc.constant('call' as const), at: fc.integer({ min: 1, max: 24 }) }),
), 4)
const usually = <T extends string>(usual: T, ...others: T[]): fc.Arbitrary<T> => fc.oneof(
  { arbitrary: fc.constant(usual), weight: 4 },
  { arbitrary: fc.constantFrom(...others), weight: 1 })
const wish: fc.Arbitrary<CloseWish> = fc.record({
  hint: usually<CloseWish['hint']>('right', 'none', 'wrong', 'proved'),
  numbers: usually<CloseWish['numbers']>(
    'now', 'job_past', 'connection_past', 'fence_past', 'job_next'),
  key: usually<CloseWish['key']>('new', 'used'),
  read: fc.oneof({ arbitrary: fc.constant(null), weight: 3 },
    { arbitrary: fc.constantFrom(...readFaults), weight: 1 }),
  skip: fc.constantFrom(1, 1, 0),
})

const simple: fc.Arbitrary<Operation> = fc.record({
  op: fc.constantFrom(
    'revoke' as const, 'disable' as const, 'rotate' as const, 'login' as const,
    'consent' as const),
})
const lost: fc.Arbitrary<Operation> = fc.record({
  op: fc.constant('lost' as const), title, fault: fc.oneof(
    { arbitrary: fc.constantFrom<RunFault>('reply_lost', 'readback_lost'), weight: 4 },
    { arbitrary: fc.constantFrom<RunFault>('request_lost', 'refused', 'unreachable'), weight: 2 }),
})
const reconcile: fc.Arbitrary<Operation> = fc.record({
  op: fc.constant('reconcile' as const), job: small, read: rare(fc.constantFrom(...readFaults)),
})
/** No other closure: it would wait for the end of this one. */
const meanwhile: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: simple, weight: 4 }, { arbitrary: reconcile, weight: 1 },
  {
    arbitrary: fc.record({
      op: fc.constantFrom('cancel' as const, 'adopt' as const, 'approve' as const), job: small,
    }), weight: 1,
  })

const observe: fc.Arbitrary<Operation> = fc.record({
  op: fc.constant('observe' as const), job: small, read: rare(fc.constantFrom(...readFaults), 2),
  numbers: usually<'now' | 'past'>('now', 'past'), meanwhile: rare(meanwhile, 2),
})

const close: fc.Arbitrary<Operation> = fc.record({
  op: fc.constant('close' as const), job: small, wish, crash, meanwhile: rare(meanwhile, 2),
})
const twins: fc.Arbitrary<Operation> = fc.record({
  op: fc.constant('twins' as const), job: small, wish,
  keys: fc.constantFrom<1 | 2>(1, 2),
})

const weighted: readonly (readonly [number, fc.Arbitrary<Operation>])[] = [
  [5, lost],
  [1, fc.record({ op: fc.constantFrom('prepare' as const, 'made' as const), title })],
  [1, fc.record({
    op: fc.constantFrom('approve' as const, 'cancel' as const, 'adopt' as const), job: small,
  })],
  [2, fc.record({
    op: fc.constantFrom('run' as const, 'resume' as const), job: small,
    fault: rare(fc.constantFrom(...runFaults), 4), crash,
  })],
  [3, close],
  [1, twins],
  [3, fc.record({ op: fc.constant('retry' as const), kept: small, crash })],
  [2, fc.record({
    op: fc.constantFrom('inspect' as const, 'discard' as const), kept: small,
  })],
  [1, reconcile],
  [3, observe],
  [1, fc.record({ op: fc.constant('paused' as const), title })],
  [1, simple],
  [1, fc.constant({ op: 'consent' })],
]

const one = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** A history of a deployment: what has to be closed is often closed at once. */
export const histories: fc.Arbitrary<Operation[]> = fc.array(fc.oneof(
  { weight: 3, arbitrary: one.map((operation) => [operation]) },
  { weight: 2, arbitrary: fc.tuple(lost, fc.oneof(close, close, twins)) },
  { weight: 1, arbitrary: fc.tuple(lost, close, observe) },
), { minLength: 3, maxLength: 12, size: 'max' }).map((parts) => parts.flat())
