/** One look at what an operator has to know first; contacts nobody and changes no byte. */
import { isoFromMs } from '../../base/clock.js'
import { listedConnections } from '../../codehost/connections.js'
import { listDevices } from '../../edge/pairing.js'
import type { Gov, Session } from '../../governance/context.js'
import { balances } from '../../governance/ledger/find-reservation.js'
import { showPolicy } from '../../governance/policy/show.js'
import { deploymentProfile } from '../../governance/profile.js'
import { collections } from '../../governance/rows.js'
import { rootEndsMs } from '../../governance/session/live.js'
import { dayOf } from '../../shots/day.js'
import type { ShotsStatus } from '../../shots/status/shape.js'
import { readShotsStatus } from '../../shots/status/status.js'
import type { View } from '../../state/types.js'
import { shotsContext } from '../contexts/shots.js'
import { waitingOf } from '../waiting.js'
import type { World } from '../world.js'
import type { CurrentConsent, Overview, OverviewFolder } from './overview-contract.js'

const folderOf = ({ screenshot_folder: folder }: ShotsStatus): OverviewFolder => ({
  configured_folder: folder.configured_folder,
  configuration_source: folder.configuration_source,
  saved_folder: folder.saved_folder,
  editable: folder.editable,
  image_count: folder.image_count,
  local_scan_status: folder.local_scan_status,
  last_scan_at: folder.last_scan_at,
  last_scan_reason: folder.last_scan_reason,
  manual_scan_action: folder.manual_scan_action,
  inspection_endpoint: folder.inspection_endpoint,
  stored_artifact_type: folder.stored_artifact_type,
  newest_item_at: folder.newest_item_at,
  newest_item_age_seconds: folder.newest_item_age_seconds,
  failure: folder.summary_failure,
})

const spendOf = (view: View): Overview['spend'] => {
  if (view.all(collections.ledgerAccounts).length !== 1) return null
  const { ceiling_microusd, settled_microusd, held_microusd, unknown_microusd, available_microusd }
    = balances(view)
  return { ceiling_microusd, settled_microusd, held_microusd, unknown_microusd, available_microusd }
}

const policyConsents = (gov: Gov): readonly CurrentConsent[] =>
  showPolicy(gov).consents.filter(({ current }) => current).map(({ consent }) => ({
    kind: 'policy', id: consent.consent_id, purpose: consent.purpose, repository: null,
    granted_at: consent.granted_at, expires_at: consent.expires_at,
  }))

const writeConsents = (gov: Gov, session: Session): readonly CurrentConsent[] =>
  listedConnections(gov, session).flatMap(({ connection: { consent }, state, usedUp }) =>
    (consent === null || state !== 'issued' || usedUp === true ? [] : [{
      kind: 'codehost' as const, id: consent.consent_id, purpose: consent.actions.join(', '),
      repository: consent.repository, granted_at: consent.issued_at,
      expires_at: consent.expires_at,
    }]))

/** Reads it. Throws what reading throws. */
export const readOverview = async (gov: Gov, session: Session, world: World): Promise<Overview> => {
  const view = gov.store.read()
  const { head, usable, block } = showPolicy(gov).standing
  const ctx = shotsContext(world, gov)
  const shots = readShotsStatus({
    clock: gov.clock, stateDir: world.places.stateDir, state: { ctx },
  })
  return {
    checked_at: isoFromMs(gov.clock.wallMs()),
    owner: session.principal.name,
    profile: deploymentProfile(gov.store).name,
    session_ends_at: isoFromMs(rootEndsMs(view, gov, session.root.root_id)),
    policy: { state: head.state, revision: head.revision, usable, block },
    waiting: await waitingOf({ gov, view, session, world }),
    folder: folderOf(shots),
    spend: spendOf(view),
    day: dayOf(view, gov.clock.wallMs()),
    consents: [...policyConsents(gov), ...writeConsents(gov, session)],
    devices: listDevices(view, session),
  }
}
