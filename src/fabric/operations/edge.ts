import { edgeArtifactList, edgeDevices, edgeOffer, edgeRevoke } from '../../edge/edge-contract.js'
import { listDevices, offerPairing, revokeDevice } from '../../edge/pairing.js'
import { edgeArtifacts } from '../../edge/readback.js'
import { operation } from '../operation.js'

/** Paired devices as their operator sees them. */
export const edge = {
  list: operation(edgeDevices, 'read', ({ gov, session }) =>
    listDevices(gov.store.read(), session)),
  revoke: operation(edgeRevoke, 'stop', async ({ gov, session, stopped }, { device }) => {
    const done = await revokeDevice(gov, session, device)
    await stopped(done.recorded)
    return done
  }),
  pair: operation(edgeOffer, 'mutate', async ({ gov, session }, request) => {
    // Packed with the service, which a look at devices does not need.
    const { serviceIdentity } = await import('../../governance/service/identity.js')
    const { origin, public: elsewhere, pin } = serviceIdentity(gov)
    const { here, ...wishes } = request
    return offerPairing(gov, session, {
      ...wishes, pin, origin: here === true || elsewhere === null ? origin : elsewhere.origin,
    })
  }),
  artifacts: operation(edgeArtifactList, 'read', ({ gov, session, cut }, request) => {
    const page = edgeArtifacts(gov.store.read(), session, request)
    const nextPage = page.next === null ? null : cut({ field: 'before', value: page.next })
    return { ...page, nextPage }
  }),
}
