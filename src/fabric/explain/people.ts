/** Ids of people and of what they decided: owners, sessions, consents, saves, stops, the audit. */
import {
  eventsOf, idsOf, isOwn, smallIds, type ExplainedKind, type ExplainedKinds,
} from '../../governance/explained.js'
import { consentLapse, type ConsentLapse } from '../../governance/policy/consents.js'
import { policyStatus } from '../../governance/policy/policy-status.js'
import { isDisabledForGood } from '../../governance/principals.js'
import { collections, type SaveIntent } from '../../governance/rows.js'
import { sessionFacts } from '../../governance/session/live.js'

const everybodys = (): boolean => true

const ownerKind: ExplainedKind = {
  kind: 'owner', short: async () => smallIds('prn', collections.principals, everybodys),
  find: ({ view }, id) => {
    const owner = view.get(collections.principals, id)
    if (owner === undefined) return undefined
    const isDisabled = owner.disabled_at !== null
    return {
      state: isDisabled ? 'disabled' : 'enabled',
      text: isDisabled ? 'This owner is disabled: nobody logs in as them.'
        : 'This owner may log in.',
      facts: { name: owner.name }, related: [],
      events: eventsOf([owner.created_at, 'added'], [owner.disabled_at, 'disabled']),
      next: [
        'sallyport principal list',
        ...(isDisabled && !isDisabledForGood(owner) ? [`sallyport principal enable ${id}`] : []),
      ],
    }
  },
}

const sessionKind: ExplainedKind = {
  kind: 'session',
  short: async () => (await import('../../governance/own-ids.js')).sessionIds,
  find: (site, id) => {
    const { view, gov } = site
    const root = view.get(collections.roots, id) ?? view.get(collections.pastRoots, id)
    if (root === undefined || !isOwn(site, root.principal_id)) return undefined
    const { live, last_use_at: used, expires_at: expires } = sessionFacts(view, gov, root)
    const isThis = site.session.root.root_id === id
    return {
      state: live ? 'live' : 'ended',
      text: live ? `It is live until ${expires}${isThis ? ', and the one in use' : ''}.`
        : `It has ended (${root.ended?.reason ?? 'expired'}).`,
      facts: { in_use: isThis }, related: idsOf(root.principal_id),
      events: eventsOf([root.issued_at, 'logged in'], [used, 'last used'],
        [root.ended?.at ?? null, 'ended']),
      next: live ? [`sallyport session revoke ${id}`, 'sallyport session list']
        : ['sallyport session list --all'],
    }
  },
}

const lapseTexts: Readonly<Record<ConsentLapse, string>> = {
  not_current: 'It carries nothing any more: it was taken back, or something else was saved since.',
  expired: 'It has run out.',
  giver_missing: 'Whoever gave it is not known here any more.',
  giver_disabled: 'Whoever gave it is disabled.',
  suspended: 'A save is under way or was interrupted: nothing is sent on it until that has ended.',
}

const showOf = (purpose: string): string =>
  (purpose.startsWith('alpha') ? 'sallyport alpha show' : 'sallyport gateway show')

const consentKind: ExplainedKind = {
  kind: 'consent', short: async () => smallIds('con', collections.consents, everybodys),
  find: ({ view, gov }, id) => {
    const consent = view.get(collections.consents, id)
    if (consent === undefined) return undefined
    const standing = policyStatus(gov.store, view)
    const lapse = consentLapse(view, standing, consent, gov.clock.wallMs())
    return {
      state: lapse ?? consent.state,
      text: lapse === null ? 'It is current: its purpose may be used.' : lapseTexts[lapse],
      facts: {
        purpose: consent.purpose, route: consent.route, granted_revision: consent.granted_revision,
        bound_revision: consent.bound_revision, expires_at: consent.expires_at,
      },
      related: idsOf(consent.principal, consent.root),
      events: eventsOf([consent.granted_at, 'granted'], ...consent.acknowledgments
        .map(({ at }) => [at, 'acknowledged'] as const)),
      next: [showOf(consent.purpose), 'sallyport policy show'],
    }
  },
}

const phaseTexts: Readonly<Record<SaveIntent['phase'], string>> = {
  revoked: 'This save is under way: every route stands still.',
  credential: 'This save is under way: every route stands still.',
  accounting: 'This save is under way: every route stands still.',
  applied: 'This save came to its end.',
  rolled_back: 'This save was interrupted and rolled back.',
  superseded: 'Another save took the place of this one.',
}

const saveKind: ExplainedKind = {
  kind: 'save', short: async () => smallIds('int', collections.saveIntents, everybodys),
  find: ({ view }, id) => {
    const save = view.get(collections.saveIntents, id)
    return save === undefined ? undefined : {
      state: save.phase, text: phaseTexts[save.phase],
      facts: { route: save.route, base_revision: save.base_revision },
      related: idsOf(save.principal, save.root),
      events: eventsOf([save.created_at, 'begun'], [save.ended_at, 'ended']),
      next: ['sallyport policy show --history', 'sallyport policy show'],
    }
  },
}

const stopKind: ExplainedKind = {
  kind: 'stop',
  find: ({ view, gov }, id) => {
    const row = view.get(collections.stops, id)
    const lying = row === undefined ? gov.store.stops.lying().find((one) => one.id === id)
      : undefined
    const stop = row ?? lying
    if (stop === undefined) return undefined
    const outcome = row?.outcome ?? 'pending'
    return {
      state: outcome,
      text: {
        pending: 'It is in force; the next command that writes records it.',
        recorded: 'It was recorded: its effect is in the rows.',
        refused: `It was refused when it came to be recorded (${row?.reason ?? 'unknown'}).`,
      }[outcome],
      facts: { kind: stop.kind, verb: stop.by.verb },
      related: idsOf(stop.target, stop.by.principal, stop.by.root),
      events: eventsOf([stop.at, 'asked for'], [row?.recorded_at, outcome]),
      next: ['sallyport policy show', 'sallyport audit list --what stop'],
    }
  },
}

const pruneKind: ExplainedKind = {
  kind: 'prune', short: async () => smallIds('pru', collections.taskPrunes, everybodys),
  find: ({ view }, id) => {
    const prune = view.get(collections.taskPrunes, id)
    return prune === undefined ? undefined : {
      state: null, text: 'It removed tasks that had ended long before.',
      facts: {
        succeeded: prune.succeeded, failed: prune.failed, cancelled: prune.cancelled,
        before: prune.before,
      },
      related: idsOf(prune.principal),
      events: eventsOf([prune.at, 'begun'], [prune.last_at, 'ended']),
      next: ['sallyport audit list --what state'],
    }
  },
}

const auditKind: ExplainedKind = {
  kind: 'row of the audit',
  short: async () => (await import('../../governance/own-ids.js')).auditIds,
  find: ({ view }, id) => {
    const row = view.get(collections.audit, id)
    return row === undefined ? undefined : {
      state: null, text: `It notes that something happened: ${row.what}.`,
      facts: { what: row.what, number: row.number },
      related: idsOf(row.subject?.includes('_') ? row.subject : null, row.principal, row.root),
      events: eventsOf([row.at, row.what]),
      next: [`sallyport audit show ${id}`],
    }
  },
}

/** Their kinds. */
export const peopleKinds: ExplainedKinds = {
  prn: ownerKind, root: sessionKind, con: consentKind, int: saveKind, stp: stopKind,
  pru: pruneKind, aud: auditKind,
}
