/**
 * May this be used, begun, decided, contacted, adopted? A route answers each of these questions
 * from one ordered list of named facts: the names of those that do not hold are the answer, the
 * first one is what is told. The list is the only place where a reason has its name, its class and
 * the questions that it counts in. Pure.
 */
import { SallyportError, type ErrorDetails, type ErrorKind } from '../../base/errors.js'

/**
 * What is asked. `status`: may the route be used, as the configuration read says it. `admit`: may
 * something new be taken on or begun now. `preflight`: may this exact request be decided, before
 * anything is sent. `contact`: does everything still stand, at the mark and around it. `adopt`: may
 * what came back be used.
 */
export type Phase = 'status' | 'admit' | 'preflight' | 'contact' | 'adopt'

/** Every question. */
export const always = ['status', 'admit', 'preflight', 'contact', 'adopt'] as const
/** Everything about one operation, from its beginning to what is made of its result. */
export const underWay = ['admit', 'preflight', 'contact', 'adopt'] as const
/** Up to the contact: what came back, once paid for, does not need it. */
export const untilContact = ['status', 'admit', 'preflight', 'contact'] as const
/** The exact request, when it is decided and when it goes out. */
export const ofRequest = ['preflight', 'contact'] as const

/** One fact that a permission rests on. `Case`: what it is judged on, loaded beforehand. */
export interface Fact<Case, Name extends string = string> {
  /** The reason that its absence is. Scripts match it. */
  readonly name: Name
  /** Class of the refusal: what a person can mend with a switch or a consent is `unauthorized`. */
  readonly kind: ErrorKind
  readonly phases: readonly Phase[]
  /** False denies. */
  readonly holds: (one: Case, phase: Phase) => boolean
}

/** A fact that does not hold. */
export type Denial<Name extends string = string> = Pick<Fact<never, Name>, 'name' | 'kind'>

/** Every fact of a phase that does not hold, each name once, in the order of the list. */
export const judge = <Case, Name extends string>(
  facts: readonly Fact<Case, Name>[], one: Case, phase: Phase,
): readonly Denial<Name>[] => {
  const denials = new Map<Name, Denial<Name>>()
  for (const { name, kind, phases, holds } of facts) {
    if (!phases.includes(phase) || denials.has(name) || holds(one, phase)) continue
    denials.set(name, { name, kind })
  }
  return [...denials.values()]
}

/**
 * The same facts for a larger case that has theirs as a part. Where the part is not there, they say
 * nothing: a status has no operation.
 */
export const within = <Case, Part, Name extends string>(
  part: (one: Case) => Part | null, facts: readonly Fact<Part, Name>[],
): readonly Fact<Case, Name>[] =>
  facts.map(({ holds, ...fact }) => ({
    ...fact,
    holds: (one, phase) => {
      const its = part(one)
      return its === null || holds(its, phase)
    },
  }))

/** Answers like `read`, or undefined when it refuses. A defect is not a refusal. */
export const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof SallyportError) return undefined
    throw error
  }
}

/** Other names under which one list's reasons have always been told, by the name in the list. */
type ToldAs = Readonly<Partial<Record<string, string>>>

export const toldName = ({ name }: Denial, toldAs: ToldAs): string => toldAs[name] ?? name

/** The error of a refusal: its class and reason are those of the first fact that does not hold. */
export const denied = (denials: readonly Denial[], parts: {
  readonly code: string
  readonly message: string
  readonly next: string
  readonly toldAs?: ToldAs
  readonly details?: ErrorDetails
}): SallyportError => {
  const { code, message, next, toldAs = {}, details } = parts
  const names = denials.map((one) => toldName(one, toldAs))
  return new SallyportError({
    kind: denials[0]?.kind ?? 'blocked', code, message, next,
    reason: names[0] ?? 'not_decided',
    details: { ...details, reasons: [...new Set(names)].join(',') },
  })
}
