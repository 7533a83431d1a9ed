/**
 * The one rule of interrupts: what is left of an order that is interrupted at a step, whatever the
 * order and whatever the interrupt. The tests compare every cell with it.
 */

/** What an order is, as far as the rule goes. */
export interface Kind {
  /** It rests on the session of an operator, and not on a consent alone. */
  readonly session: boolean
  /** It works for a task, which has a goal, an owner and a cancel of its own. */
  readonly task: boolean
  /**
   * What tells the charge: the reply itself, or a bill that is asked for after it. Null for an
   * order without money: it holds nothing, and its task tells what came of it.
   */
  readonly charge: 'reply' | 'bill' | null
  /**
   * No cap is saved below its bound: the two are lowered together, and an order that holds nothing
   * yet holds the lower one.
   */
  readonly capWithBound: boolean
  /** It goes out under the key of then, where it is claimed and holds nothing yet. */
  readonly takesNewKey?: true
  /** It sends what a source may have switched off. */
  readonly switches?: true
}

/** What interrupts. */
export type Interrupt =
  | 'signal' | 'second signal' | 'revoke' | 'owner disabled' | 'route disabled' | 'another key'
  | 'switched off' | 'cap lowered' | 'session ended'
  | 'goal changed' | 'goal closed' | 'taken over' | 'deadline' | 'kill'

/** Every interrupt, in the order of the table's columns. */
export const interrupts: readonly Interrupt[] = [
  'signal', 'second signal', 'revoke', 'owner disabled', 'route disabled', 'another key',
  'switched off', 'cap lowered', 'session ended',
  'goal changed', 'goal closed', 'taken over', 'deadline', 'kill',
]

/** Those that end the process. */
export const endings: readonly Interrupt[] = ['second signal', 'kill']

/** How far an order has come at a step. */
export type Phase =
  /** It is claimed; no money is held. */
  | 'claimed'
  /** Its full bound is held, where it has one; nothing says that anybody was contacted. */
  | 'held'
  /** The contact mark is durable; no byte has left. */
  | 'marked'
  /** Request bytes have left. */
  | 'sent'
  /** The closing record is durable. */
  | 'closed'

/** The moment in which the host has the request and has not answered; no step of the program. */
export const atHost = 'the host has the request'
/** The moment after the last check, in which the first byte waits to be written. */
export const writeWaits = 'last check to first byte'
/** Interrupts that are stops: they reach a request that is on its way. */
const reaching: readonly Interrupt[] = [
  'revoke', 'owner disabled', 'route disabled', 'another key', 'switched off', 'session ended',
  'taken over',
]
/** The same for a bill. */
export const billAtHost = 'the host writes the bill'
/** The same for the bill that is asked for when the first one told nothing. */
export const secondBillAtHost = 'the host writes the second bill'

const phases: Readonly<Record<string, Phase>> = {
  claimed: 'claimed', admitted: 'claimed', queued: 'claimed', slot: 'claimed',
  reserved: 'held', before_resolve: 'held', before_dial: 'held', contact_begin: 'held',
  contact_intent: 'marked', before_first_byte: 'marked', [writeWaits]: 'sent',
  [atHost]: 'sent', replied: 'sent', billing_1: 'sent', billing_2: 'sent', [billAtHost]: 'sent',
  [secondBillAtHost]: 'sent',
  charge_known: 'sent', sealed: 'sent', answer_sealed: 'sent',
  finished: 'closed',
}

/** Phase of a step. Throws for one that the rule does not know: a new step needs a place in it. */
export const phaseOf = (step: string): Phase => {
  const phase = phases[step]
  if (phase === undefined) throw new Error(`the rule knows no step ${step}`)
  return phase
}

/** What is left. */
export interface Outcome {
  /** How the money ended; of an order without any, how its task did. Both may be unknown. */
  readonly end:
    | 'nothing held' | 'released' | 'settled' | 'held'
    | 'cancelled' | 'failed' | 'done' | 'open'
    | 'unknown'
  /** Whether what was paid for is there; null where nothing was paid. */
  readonly kept: boolean | null
  /** Requests that reached a host, without bills. */
  readonly requests: number
}

const unsent = (end: Outcome['end']): Outcome => ({ end, kept: null, requests: 0 })
const settled = (kept: boolean): Outcome => ({ end: 'settled', kept, requests: 1 })
const done: Outcome = { end: 'done', kept: null, requests: 1 }
const unknown = (requests: number): Outcome => ({ end: 'unknown', kept: null, requests })

const applies = (kind: Kind, interrupt: Interrupt): boolean => {
  switch (interrupt) {
    case 'goal changed':
    case 'goal closed':
    case 'taken over':
      return kind.task
    case 'session ended':
      return kind.session
    case 'switched off':
      return kind.switches === true
    case 'route disabled':
    case 'another key':
    case 'cap lowered':
      // What costs nothing rests on no route and no cap.
      return kind.charge !== null
    default:
      return true
  }
}

/** Whether the charge was told before the step; steps after the reply are in order of `steps`. */
const chargeTold = (kind: Kind, step: string): boolean =>
  kind.charge === 'reply'
    ? step !== atHost
    : ['charge_known', 'sealed', 'answer_sealed'].includes(step)

/** What an interrupt leaves of an order without money whose process goes on to its own end. */
const effectGoesOn = (phase: Phase, step: string, interrupt: Interrupt): Outcome => {
  if (phase === 'sent') return interrupt === 'deadline' && step === atHost ? unknown(1) : done
  return unsent(interrupt === 'signal' || interrupt === 'second signal' ? 'cancelled' : 'failed')
}

/** What an interrupt leaves whose process goes on to its own end. */
const goesOn = (kind: Kind, phase: Phase, step: string, interrupt: Interrupt): Outcome => {
  if (kind.charge === null) return effectGoesOn(phase, step, interrupt)
  if (phase === 'claimed') {
    const goesOnForLess = interrupt === 'cap lowered' && kind.capWithBound
    const goesOnAnew = interrupt === 'another key' && kind.takesNewKey === true
    return goesOnForLess || goesOnAnew ? settled(true) : unsent('nothing held')
  }
  if (phase === 'held' || phase === 'marked') return unsent('released')
  if (interrupt === 'deadline') return chargeTold(kind, step) ? settled(true) : unknown(1)
  if (interrupt === 'signal') return settled(!kind.task)
  if (interrupt === 'cap lowered' || interrupt === 'another key') return settled(true)
  return settled(false)
}

/**
 * What is left of an order of this kind that was interrupted at a step; null where the interrupt
 * does not apply to such an order.
 *
 * - After the closing record nothing changes anything.
 * - Before a request byte may have left, whatever interrupts: nothing is sent, nothing stays held.
 * - After it, who interrupts decides only whether the result is kept; the charge stands. It is
 *   unknown where nobody is left to read it: the process ended, or its time was over.
 * - A signal keeps what was paid for, where no task was there to be cancelled by it; a lowered cap
 *   and another key keep it too. Everybody else withdraws what the result rests on.
 * - A killed process proves nothing: from the contact mark on its charge is unknown.
 * - Without money the task says the same: nothing sent, it is cancelled by who asked to stop it and
 *   failed by everything else; sent, it tells what was seen, whoever withdraws what. It is unknown
 *   as above.
 */
export const expected = (kind: Kind, step: string, interrupt: Interrupt): Outcome | null => {
  if (!applies(kind, interrupt)) return null
  const phase = phaseOf(step)
  if (phase === 'closed') return kind.charge === null ? done : settled(true)
  if (step === writeWaits) {
    // Cut off in the middle of the write: nobody can prove that no byte had left.
    return reaching.includes(interrupt) ? unknown(0) : expected(kind, atHost, interrupt)
  }
  const ended = endings.includes(interrupt)
  if (ended && phase === 'sent') return unknown(1)
  if (interrupt === 'kill' && phase === 'marked') return unknown(0)
  return goesOn(kind, phase, step, interrupt)
}

/** How an outcome reads in the table. */
export const textOf = (outcome: Outcome | null): string => {
  if (outcome === null) return 'n/a'
  const { end, kept, requests } = outcome
  if (end === 'settled') return kept === true ? 'settled, kept' : 'settled, dropped'
  return requests === 0 ? `${end}, nothing sent` : end
}
