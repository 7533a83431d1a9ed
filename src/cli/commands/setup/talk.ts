/** What is said at each step of `setup`, and the command that each answer stands for. */
import type { SetupStep } from '../../../fabric/setup/setup-contract.js'

/** An answer other than to leave it as it is. */
export interface Offer {
  readonly label: string
  readonly words: readonly string[]
  /** What has to run before it, and is left out where it runs already. */
  readonly needs?: 'sandbox'
}

/** One step. */
export interface Talk {
  readonly step: SetupStep
  /** Asked where it is not done. */
  readonly question: string
  /** Asked where it is; null where nothing of it can be changed. */
  readonly again: string | null
  /** One is a yes or no, several are chosen from. */
  readonly offers: readonly [Offer, ...Offer[]]
  /** A form tells the line that says the same by itself, once it is saved. */
  readonly isForm: boolean
  /** What its lines print is left out: how the step then stands says as much. */
  readonly isTerse?: true
}

/** The steps, in order. */
export const talks: readonly Talk[] = [
  {
    step: 'state', again: null, isForm: false, isTerse: true,
    question: 'Rehearse free, or use your own keys? Providers stay for good:',
    offers: [
      {
        label: 'a rehearsal: a local sandbox',
        words: ['init', '--profile', 'sandbox'], needs: 'sandbox',
      },
      { label: 'real: NEAR AI, OpenRouter, GitHub', words: ['init', '--profile', 'default'] },
    ],
  },
  {
    step: 'session', again: null, isForm: false, isTerse: true,
    question: 'Log in',
    offers: [{ label: 'log in', words: ['login'] }],
  },
  {
    step: 'alpha', isForm: true,
    question: 'Set up questions: limits, key, consent',
    again: 'Change limits, key or consent of questions',
    offers: [{ label: 'set up', words: ['alpha', 'setup'] }],
  },
  {
    step: 'gateway', isForm: true,
    question: 'Set up the gateway: models, limits, key, consents',
    again: 'Change models, limits, key or consents of the gateway',
    offers: [{ label: 'set up', words: ['gateway', 'setup'] }],
  },
  {
    step: 'shots', isForm: true,
    question: 'Set up screenshots: folder, what may leave it, budget',
    again: 'Change folder, gates or budget of screenshots',
    offers: [{ label: 'set up', words: ['shots', 'setup'] }],
  },
  {
    step: 'proof', isForm: false,
    question: 'Prove every slot now, by one small paid request each',
    again: 'Prove every slot anew, by one small paid request each',
    offers: [{ label: 'prove', words: ['gateway', 'prove', '--all'] }],
  },
  {
    step: 'timers', isForm: false,
    question: 'Run scan, analysis and digests on timers',
    again: 'Install the timers anew',
    offers: [{ label: 'install', words: ['timers', 'install'] }],
  },
]
