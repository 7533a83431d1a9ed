/**
 * Drives the program and the reference model side by side: each operation is done to both, what it
 * came to is compared with what it must come to, and after it every row that the model knows.
 */
import { revokeConsent, setMode } from '../../../../src/codehost/restrict.js'
import { closeWish, twins } from './closings.js'
import { compare } from './compare.js'
import { consent, login, narrow, rotate } from './consents.js'
import type { Deployment } from './deployment.js'
import { discard, inspect, retry } from './kept.js'
import { bodyText, Lived } from './lived.js'
import { adopt, approve, cancel, loseOne, prepare, runOn } from './lives.js'
import { observe, reconcile } from './looks.js'
import type { Operation } from './operations.js'
import { paused } from './paused.js'
import type { SentRequest } from './reference.js'

type OnJob = (job: number) => Promise<void>

const onJob = async ({ ids: { length } }: Lived, number: number, work: OnJob): Promise<void> => {
  if (length > 0) await work(length - 1 - number % length)
}

/** The job that occupies the connection, mostly. */
const onHolder = async (lived: Lived, number: number, work: OnJob): Promise<void> => {
  const { active } = lived.model
  await (active === null || number > 4 ? onJob(lived, number, work) : work(active))
}

/** A job that was closed, mostly. */
const onClosed = async (lived: Lived, number: number, work: OnJob): Promise<void> => {
  const closed = lived.model.jobs.findLastIndex((job) => job.closed !== null)
  await (closed === -1 || number > 5 ? onJob(lived, number, work) : work(closed))
}

const onKept = async (
  lived: Lived, number: number, work: (key: string) => Promise<void>,
): Promise<void> => {
  const keys = [...lived.model.pending.keys()].reverse()
  const key = keys[number % Math.max(1, keys.length)]
  if (key !== undefined) await work(key)
}

const onSent = async (
  lived: Lived, number: number, work: (job: number, request: SentRequest) => Promise<void>,
): Promise<void> => {
  const found = [...lived.sent].reverse()[number % Math.max(1, lived.sent.length)]
  if (found !== undefined) await work(found.job, found.request)
}

/** One history, as it is lived. */
export class Drive {
  readonly #lived: Lived

  constructor(at: Deployment) {
    this.#lived = new Lived(at, (operation) => this.#step(operation))
  }

  /** What the operations came to, counted. */
  get outcomes(): ReadonlyMap<string, number> {
    return this.#lived.outcomes
  }

  /** Does all of it; throws where program and model differ. */
  async live(history: readonly Operation[]): Promise<void> {
    for (const operation of history) await this.#step(operation)
  }

  async #step(operation: Operation): Promise<void> {
    try {
      await this.#do(operation)
      compare(this.#lived)
    } catch (error) {
      const at = JSON.stringify(operation)
      if (error instanceof Error && !error.message.includes('\nin ')) {
        error.message = `${error.message}\nin ${at}`
      }
      throw error
    }
  }

  async #do(one: Operation): Promise<void> {
    const lived = this.#lived
    const { connectionId } = lived.at
    switch (one.op) {
      // Somebody makes by hand what a job of that title would make.
      case 'made': return void lived.at.host.make({ title: one.title, body: bodyText })
      case 'prepare': return void await prepare(lived, one.title)
      case 'lost': return loseOne(lived, one.title, one.fault)
      case 'approve': return onJob(lived, one.job, (job) => approve(lived, job))
      case 'cancel': return onJob(lived, one.job, (job) => cancel(lived, job))
      case 'adopt': return onJob(lived, one.job, (job) => adopt(lived, job))
      case 'run': case 'resume':
        return onJob(lived, one.job, (job) => runOn(lived, one.op, job, one.fault, one.crash))
      case 'close': return onHolder(lived, one.job, (job) => closeWish(lived, job, one))
      case 'twins': return onHolder(lived, one.job, (job) => twins(lived, job, one.wish, one.keys))
      case 'retry': return onKept(lived, one.kept, (key) => retry(lived, key, one.crash))
      case 'inspect':
        return onSent(lived, one.kept, (job, request) => inspect(lived, job, request))
      case 'discard': return onKept(lived, one.kept, (key) => discard(lived, key))
      case 'reconcile': return onHolder(lived, one.job, (job) => reconcile(lived, job, one.read))
      case 'observe': return onClosed(lived, one.job, (job) => observe(lived, job, one))
      case 'paused': return paused(lived, one.title)
      case 'revoke': return narrow(lived, ({ gov, session }) =>
        revokeConsent(gov, session, connectionId))
      case 'disable': return narrow(lived, ({ gov, session }) =>
        setMode(gov, session, { connectionId, mode: 'disabled' }))
      case 'rotate': return rotate(lived)
      case 'login': return login(lived)
      case 'consent': return consent(lived)
    }
  }
}
