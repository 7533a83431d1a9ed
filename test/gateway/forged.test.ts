/** Rows that somebody altered between a proof's steps: the rule refuses, not the checksum. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { proofCollection } from '../../src/gateway/proof.js'
import { gatewayCollection } from '../../src/gateway/setup.js'
import { routeCollection } from '../../src/contact/routes.js'
import { collections } from '../../src/governance/rows.js'
import type { CollectionSpec, Tx } from '../../src/state/types.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World, type RoutesWorld } from '../world/world.js'

/** Changes every document of a collection that `pick` picks, as a transaction of its own. */
const alter = <T>(
  spec: CollectionSpec<T>, change: (doc: T) => T, pick: (doc: T) => boolean = () => true,
) => (tx: Tx): void => {
  for (const { id, doc } of tx.all(spec)) if (pick(doc)) tx.put(spec, id, change(doc))
}

const forge = async (rig: RoutesWorld, change: (tx: Tx) => void): Promise<void> => {
  await rig.open('write').transact('forge', change)
}

const isChat = ({ profile }: { profile: string | null }): boolean => profile === 'gateway.chat'

const ofOther = alter(claimCollection, (doc) => ({ ...doc, operation_id: 'op_other' }))

const forgeries: Readonly<Record<string, [(tx: Tx) => void, string, string?]>> = {
  'a decision that says something else': [
    alter(collections.decisions, (doc) => ({
      ...doc, request: { ...doc.request, amount_microusd: 1 },
    })), 'decision_not_genuine',
  ],
  'a decision of another operation': [
    alter(collections.decisions, (doc) => ({ ...doc, operation_id: 'op_other' })),
    'decision_not_genuine',
  ],
  'a route record that names an invented decision': [
    alter(routeCollection, (doc) => ({ ...doc, decision_id: 'dec_invented' })),
    'decision_missing',
  ],
  'a route record of another runtime': [
    alter(routeCollection, (doc) => ({ ...doc, runtime: 'alpha_text_native' as const })),
    'decision_not_genuine',
  ],
  'a reserve row of another runtime': [
    alter(
      collections.ledgerRows, (doc) => ({ ...doc, runtime: 'alpha_text_native' as const }), isChat,
    ), 'reservation_binding_mismatch',
  ],
  'a reservation with a lower bound': [
    alter(collections.openReservations, (doc) => ({ ...doc, bound_microusd: 1 })),
    'reservation_binding_mismatch',
  ],
  'a slot with another upstream': [
    alter(gatewayCollection, (doc) => ({
      ...doc,
      slots: {
        ...doc.slots, chat: doc.slots.chat && { ...doc.slots.chat, upstream_allow: ['evil-host'] },
      },
    })), 'slot_changed',
  ],
  'a route at another address': [
    alter(gatewayCollection, (doc) => ({ ...doc, api_base: 'https://127.0.0.1:9/api/v1' })),
    'url_mismatch',
  ],
  'another grant': [
    alter(gatewayCollection, (doc) => ({ ...doc, grant_id: 'grt_other' })), 'grant_mismatch',
  ],
  'a ceiling that is not the ledger\'s': [
    alter(gatewayCollection, (doc) => ({ ...doc, spend_ceiling_microusd: 5 })), 'ceiling_mismatch',
  ],
  'a consent to other words': [
    alter(
      collections.consents, (doc) => ({ ...doc, statement_sha256: '0'.repeat(64) }),
      ({ purpose }) => purpose === 'gateway.chat',
    ), 'consent_not_current',
  ],
  'a consent bound to another revision': [
    alter(
      collections.consents, (doc) => ({ ...doc, bound_revision: doc.bound_revision - 1 }),
      ({ purpose }) => purpose === 'gateway.cloud_egress',
    ), 'egress_not_acknowledged',
  ],
  'a key row with another fingerprint': [
    alter(
      collections.credentials, (doc) => ({ ...doc, fingerprint: 'ffffffffffffffff' }),
      ({ credential_ref: ref }) => ref === 'vault:gateway_api_key',
    ), 'credential_altered',
  ],
  'a key row that changes when the key is open': [
    alter(
      collections.credentials, (doc) => ({ ...doc, fingerprint: 'ffffffffffffffff' }),
      ({ credential_ref: ref }) => ref === 'vault:gateway_api_key',
    ), 'credential_mismatch', 'prove.before_resolve',
  ],
  'a claim that has another operation': [
    ofOther, 'call_ended',
  ],
  'a claim that has another operation once it was marked': [
    ofOther, 'call_ended', 'prove.contact_intent',
  ],
}

for (const [name, [change, reason, moment = 'prove.reserved']] of Object.entries(forgeries)) {
  t.test(`${name} stops a proof before a byte`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha().gateway()
    const ran = await rig.prove('chat', {
      at: async (step) => { if (step === moment) await forge(rig, change) },
    })
    t.not(ran.status, 0)
    // Where the closing record itself finds the forgery, it is refused under its own name.
    t.ok([ran.error().reason, ran.error().code].includes(reason), ran.stderr)
    t.equal(rig.calls().length, 0)
  })
}

t.test('a call whose claim is another\'s by the time of its decision holds nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const ran = await rig.prove('chat', {
    at: async (step) => { if (step === 'prove.claimed') await forge(rig, ofOther) },
  })
  t.equal(ran.error().code, 'call_ended')
  t.strictSame(rig.view().all(collections.openReservations), [])
  t.strictSame(rig.view().all(routeCollection), [])
})

t.test('without its witness the policy lets no proof go out', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  rmSync(join(rig.place.stateDir, 'witness.log'))
  const ran = await rig.prove('chat')
  t.equal(ran.status, 7)
  t.equal(ran.error().reason, 'witness_mismatch')
  t.equal(rig.calls().length, 0)
})

t.test('A-011 A-161 a stored selector that names alpha\'s model sends nothing anywhere', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const model = `gateway/${rig.sandbox.profile.provider.model_id}`
  await forge(rig, alter(gatewayCollection, (doc) => ({
    ...doc, slots: { ...doc.slots, chat: doc.slots.chat && { ...doc.slots.chat, model } },
  })))
  const ran = await rig.prove('chat')
  t.not(ran.status, 0)
  t.strictSame(rig.sandbox.log.all(), [])
})

t.test('A-160 a forged proof grants nobody anything', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  must(await rig.prove('chat'))
  await forge(rig, (tx) => {
    const proof = tx.all(proofCollection).at(-1)?.doc
    if (proof === undefined) throw new Error('there is a proof')
    tx.put(proofCollection, 'prf_forged', { ...proof, proof_id: 'prf_forged', slot: 'screenshot' })
  })
  must(await rig.run(['policy', 'revoke']))
  t.equal((await rig.prove('screenshot')).status, 4)
  t.equal((await rig.ask()).status, 4)
  t.equal(rig.calls().length + rig.inferences().length, 1, 'only the first proof ever went out')
})
