/** The ids of the edge: paired devices, the codes that pair them, and what they sent. */
import {
  eventsOf, idsOf, isOwn, smallIds, type ExplainedKind, type ExplainedKinds,
} from '../governance/explained.js'
import { deviceFacts } from './device-facts.js'
import { openCodes } from './pairing.js'
import { edgeCollections as c } from './edge-rows.js'

const deviceKind: ExplainedKind = {
  kind: 'paired device', short: async () => (await import('./own-ids.js')).deviceIds,
  find: (site, id) => {
    const row = site.view.get(c.devices, id)
    if (row === undefined || !isOwn(site, row.owner)) return undefined
    const { ended } = deviceFacts(site.view, row)
    return {
      state: ended === null ? 'paired' : ended.reason,
      text: ended === null ? 'It is paired, and may send.'
        : `Its pairing has ended (${ended.reason}): nothing of it is taken any more.`,
      facts: { items: row.stored.items, bytes: row.stored.bytes, last_sequence: row.last_sequence },
      related: idsOf(row.owner, ended?.root),
      events: eventsOf([row.paired_at, 'paired'], [row.last_upload_at, 'last upload'],
        [ended?.ended_at, 'ended']),
      next: [
        `sallyport edge artifacts --device ${id}`,
        ...(ended === null ? [`sallyport edge revoke ${id}`] : ['sallyport edge pair']),
      ],
    }
  },
}

const codeKind: ExplainedKind = {
  kind: 'pairing code',
  short: async () => smallIds('edge_code', c.codes, ({ owner }, session) =>
    owner === session?.principal.principal_id),
  find: (site, id) => {
    const code = site.view.get(c.codes, id)
    if (code === undefined || !isOwn(site, code.owner)) return undefined
    const isOpen = openCodes(site.view, site.gov).some(({ code_id: one }) => one === id)
    return {
      state: isOpen ? 'open' : 'expired',
      text: isOpen ? `It pairs one device until ${code.expires_at}.` : 'It pairs nothing any more.',
      facts: {}, related: idsOf(code.owner, code.root),
      events: eventsOf([code.issued_at, 'offered']),
      next: isOpen ? ['sallyport edge list'] : ['sallyport edge pair'],
    }
  },
}

const captureKind: ExplainedKind = {
  kind: 'stored capture', short: async () => (await import('./own-ids.js')).captureIds,
  find: (site, id) => {
    const row = site.view.get(c.artifacts, id)
    if (row === undefined || !isOwn(site, row.owner)) return undefined
    return {
      state: 'stored', text: 'It is stored, sealed.',
      facts: { bytes: row.ref.bytes, mime: row.mime, sequence: row.sequence },
      related: idsOf(row.device_id),
      events: eventsOf([row.captured_at, 'captured'], [row.received_at, 'received']),
      next: [`sallyport edge artifacts ${id} --out capture`, `sallyport explain ${row.device_id}`],
    }
  },
}

/** Their kinds. */
export const edgeExplained: ExplainedKinds = {
  edge_dev: deviceKind, edge_code: codeKind, edge_art: captureKind,
}
