/** The ids of the code host: connections, jobs, their consents, readbacks and closures. */
import { connectionCollection, type Connection } from '../governance/connections/connection-rows.js'
import { grantStateAt, listConnections } from '../governance/connections/find-connection.js'
import type { GrantState } from '../governance/connections/grant.js'
import {
  eventsOf, idsOf, isOwn, smallIds, type Explained, type ExplainedKind, type ExplainedKinds,
  type ExplainSite,
} from '../governance/explained.js'
import { collections } from '../governance/rows.js'
import { rowsUnder } from '../state/indexes.js'
import {
  closureLabel, journalLabel, planLabel, producerLabel, publicationLabel, sourceLabel,
} from './constants.js'
import { closureCollection } from './jobs/closed/closed-job-rows.js'
import { receiptCollection } from './jobs/receipt.js'
import { jobCollection, jobsByOwner, standingCollection, type Job } from './jobs/job-rows.js'
import { nextStepNow } from './jobs/next-step-now.js'

/** Jobs of one owner that are looked through for an id that only they name, the newest. */
const jobsMax = 64

const newestJobs = ({ view, session }: ExplainSite): readonly Job[] =>
  rowsUnder(view, jobCollection, jobsByOwner, {
    under: [session.principal.principal_id], reverse: true, limit: jobsMax,
  }).map(({ doc }) => doc)

const ownJob = (site: ExplainSite, id: string): Job | undefined => {
  const job = site.view.get(jobCollection, id)
  return job !== undefined && isOwn(site, job.owner) ? job : undefined
}

const explainJob = (site: ExplainSite, job: Job): Explained => {
  const { text, command } = nextStepNow(site.gov, site.view, job)
  return {
    state: job.state, text,
    facts: {
      kind: job.native_kind, repository: job.repository, revision: job.revision,
      attempt: job.attempt, reason: job.reason, effects: job.plan.effects,
      contacted: job.contacted, created: job.created, remote_id: job.remote?.id ?? null,
    },
    related: idsOf(
      job.task_id, job.connection_id, job.consent.consent_id, job.approval?.standing_id,
      job.approval?.producer?.producer_id, job.receipt_id, job.closed?.closure_id, job.goal_id,
      job.plan.artifact_id, job.root),
    events: eventsOf([job.created_at, 'prepared'], [job.approval?.at, 'approved'],
      [job.closed?.at, 'capacity closed'], [job.updated_at, `last changed, ${job.state}`]),
    next: [...new Set([
      ...(command === null ? [] : [command]), `sallyport codehost jobs ${job.job_id}`,
    ])],
  }
}

const grantTexts: Readonly<Record<GrantState, string>> = {
  issued: 'It is given: its actions may be written.', expired: 'It has run out.',
  revoked: 'It was taken back.', stopped: 'It was ended by another session, mode or save.',
}

const grantOf = ({ gov, view }: ExplainSite, one: Connection): GrantState | null =>
  grantStateAt(gov, view, one, gov.store.stops.lying())

const connectionText = (one: Connection, state: GrantState | null): string => {
  const consent = state === null ? 'no consent was ever given' : `its consent is ${state}`
  return one.active_job_id === null
    ? `It is free, and ${consent}.` : `A job occupies it, and ${consent}.`
}

const connectionKind: ExplainedKind = {
  kind: 'connection', short: async () => (await import('../governance/own-ids.js')).connectionIds,
  find: (site, id) => {
    const one = site.view.get(connectionCollection, id)
    if (one === undefined || !isOwn(site, one.owner)) return undefined
    const job = one.active_job_id
    return {
      state: one.mode, text: connectionText(one, grantOf(site, one)),
      facts: { repository: one.repository, revision: one.revision, mode: one.mode },
      related: idsOf(job, one.consent?.consent_id),
      events: eventsOf([one.created_at, 'saved'], [one.consent?.issued_at, 'consent given'],
        [one.consent?.ended?.at, 'consent ended'], [one.updated_at, 'last changed']),
      next: [
        ...(job === null ? [] : [`sallyport explain ${job}`]), 'sallyport codehost connections',
        `sallyport codehost jobs --connection ${id}`,
      ],
    }
  },
}

/** A consent that no connection has any more is known by the jobs that were prepared under it. */
const earlierConsent = (site: ExplainSite, id: string): Explained | undefined => {
  const job = newestJobs(site).find(({ consent }) => consent.consent_id === id)
  return job === undefined ? undefined : {
    state: 'replaced', text: 'It is an earlier consent of a connection, which has another by now.',
    facts: { repository: job.repository, expires_at: job.consent.expires_at },
    related: idsOf(job.connection_id, job.job_id), events: [],
    next: [`sallyport explain ${job.connection_id}`, 'sallyport codehost connections --grants'],
  }
}

const consentKind: ExplainedKind = {
  kind: 'consent to writes',
  find: (site, id) => {
    const one = listConnections(site.view, site.session)
      .find(({ consent }) => consent?.consent_id === id)
    const consent = one?.consent ?? null
    if (one === undefined || consent === null) return earlierConsent(site, id)
    const state = grantOf(site, one) ?? 'stopped'
    return {
      state, text: grantTexts[state],
      facts: {
        repository: consent.repository, actions: consent.actions.join(', '),
        expires_at: consent.expires_at,
      },
      related: idsOf(one.connection_id, consent.root),
      events: eventsOf([consent.issued_at, 'given'], [consent.ended?.at, 'ended']),
      next: ['sallyport codehost connections --grants', ...(state === 'issued'
        ? [`sallyport codehost revoke ${one.connection_id}`] : [])],
    }
  },
}

const standingKind: ExplainedKind = {
  kind: 'standing authority',
  short: async () => smallIds('std', standingCollection, ({ owner }, session) =>
    owner === session?.principal.principal_id),
  find: (site, id) => {
    const one = site.view.get(standingCollection, id)
    if (one === undefined || !isOwn(site, one.owner)) return undefined
    return {
      state: null,
      text: `It stood for ${one.jobs.length} of ${one.jobs_max} jobs, until ${one.expires_at} or `
        + 'the end of its consent.',
      facts: { actions: one.actions.join(', '), jobs_max: one.jobs_max },
      related: idsOf(one.connection_id, one.consent_id, one.root, ...one.jobs),
      events: eventsOf([one.issued_at, 'given']), next: ['sallyport codehost connections --grants'],
    }
  },
}

const readbackKind: ExplainedKind = {
  kind: 'readback',
  find: (site, id) => {
    const row = site.view.get(receiptCollection, id)
    const job = row === undefined ? undefined : ownJob(site, row.job_id)
    if (row === undefined || job === undefined) return undefined
    const { receipt } = row
    return {
      state: null, text: 'It is the sealed proof of what was read back from the host.',
      facts: { effect: receipt.effect.number, action: receipt.effect.action },
      related: idsOf(job.job_id), events: eventsOf([receipt.read_at, 'read back']),
      next: [
        `sallyport codehost jobs ${job.job_id} --history reads`, `sallyport explain ${job.job_id}`,
      ],
    }
  },
}

const effectKind: ExplainedKind = {
  kind: 'effect of a job',
  find: (site, id) => {
    const jobs = newestJobs(site).filter(({ receipt_id: receipt }) => receipt !== null)
    const proofs = site.view.getMany(receiptCollection, jobs.map((job) => job.receipt_id ?? ''))
    const proof = proofs.find((row) => row?.receipt.effect.effect_id === id)
    return proof === undefined ? undefined : {
      state: 'read_back', text: 'It is what a job wrote on the host, and it was read back.',
      facts: { action: proof.receipt.effect.action, remote_id: proof.receipt.effect.remote_id },
      related: idsOf(proof.job_id, proof.readback_id),
      events: eventsOf([proof.receipt.read_at, 'read back']),
      next: [`sallyport explain ${proof.job_id}`],
    }
  },
}

const producerKind: ExplainedKind = {
  kind: 'producer',
  find: (site, id) => {
    const job = newestJobs(site).find(({ approval }) => approval?.producer?.producer_id === id)
    return job === undefined ? undefined : {
      state: job.state, text: 'It is the local work of a publication, which is done once only.',
      facts: { repository: job.repository }, related: idsOf(job.job_id),
      events: eventsOf([job.approval?.at, 'bound']), next: [`sallyport explain ${job.job_id}`],
    }
  },
}

const closureKind: ExplainedKind = {
  kind: 'closure', short: async () => (await import('./own-ids.js')).closureIds,
  find: (site, id) => {
    const one = site.view.get(closureCollection, id)
    if (one === undefined || !isOwn(site, one.owner)) return undefined
    return {
      state: null, text: 'It freed a connection from a job, by proof of what had happened.',
      facts: { fence: one.fence },
      related: idsOf(one.job_id, one.connection_id, one.root, one.artifact.artifact_id),
      events: eventsOf([one.closed_at, 'closed']),
      next: [`sallyport codehost recover closures ${id}`, `sallyport explain ${one.job_id}`],
    }
  },
}

const labels: ReadonlySet<string> = new Set([
  planLabel, journalLabel, publicationLabel, sourceLabel, producerLabel, closureLabel,
])

const artifactKind: ExplainedKind = {
  kind: 'sealed content of a job',
  find: (site, id) => {
    const row = site.view.get(collections.artifacts, id)
    const isTheirs = row !== undefined && row.task_id === null && labels.has(row.label)
    return !isTheirs || !isOwn(site, row.owner) ? undefined : {
      state: row.adopted ? 'adopted' : 'not_adopted',
      text: 'It is sealed content of one of your jobs: the verbs of the code host alone open it.',
      facts: { label: row.label, bytes: row.ref.bytes, sha256: row.ref.sha256 }, related: [],
      events: eventsOf([row.created_at, 'sealed']), next: ['sallyport codehost jobs'],
    }
  },
}

/** Their kinds. */
export const codehostExplained: ExplainedKinds = {
  job: {
    kind: 'job of the code host', short: async () => (await import('./own-ids.js')).jobIds,
    find: (site, id) => {
      const job = ownJob(site, id)
      return job === undefined ? undefined : explainJob(site, job)
    },
  },
  cnn: connectionKind, con: consentKind, std: standingKind, rdb: readbackKind,
  prd: producerKind, eff: effectKind, cls: closureKind, art: artifactKind,
}
