/** What somebody made at the sandbox's code host without any job: put there by hand. */
import type { HostIssue } from '../../../src/sandbox/codehost/shapes.js'
import type { Kept } from '../../../src/sandbox/codehost/store.js'
import { hostMark, type Working } from './working.js'

const second = 1_000

/** The repository that every job of these tests works on. */
export const hostOf = ({ sandbox }: Working): Kept => {
  const kept = sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('the sandbox has its repository')
  return kept
}

/** A time as the host tells it: in whole seconds. */
export const hostTime = (ms: number): string =>
  new Date(Math.floor(ms / second) * second).toISOString().replace('.000Z', 'Z')

/** An issue of the same title and body that somebody else's day has made; gives its number. */
export const plantIssue = (
  at: Working, createdAt: string, change: Partial<HostIssue> = {},
): number => {
  const kept = hostOf(at)
  const number = kept.issues.length + 1
  kept.issues.push({
    id: at.sandbox.codehost.newId(), number, user: at.sandbox.codehost.user('operator'),
    title: 'A title', body: hostMark, state: 'open', comments: 0, createdAt, pull: null, ...change,
  })
  return number
}
