import type { Ran } from '../world/place.js'

const succeeded = (ran: Ran): Ran => {
  if (ran.status !== 0) throw new Error(`a line failed with ${ran.status}: ${ran.stderr}`)
  return ran
}

/** A run that is part of setting up: fails the test unless it succeeded. */
export function must(ran: Ran): Ran
export function must(ran: Promise<Ran>): Promise<Ran>
export function must(ran: Ran | Promise<Ran>): Ran | Promise<Ran> {
  return ran instanceof Promise ? ran.then(succeeded) : succeeded(ran)
}

/** What a failed run says of itself. */
export const failure = (ran: Ran): { status: number; code: string; out: string } =>
  ({ status: ran.status, code: ran.error().code, out: ran.stdout })
