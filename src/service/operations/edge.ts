/** Paired devices as their operator sees them: a list, and the end of a pairing. */
import {
  edgeArtifactList, edgeDevices, edgeOffer, edgePair, edgeRevoke,
} from '../../edge/contract.js'
import { listDevices, offerPairing, revokeDevice } from '../../edge/pairing.js'
import { edgeArtifacts } from '../../edge/read.js'
import { recoverState } from '../../fabric/recovery.js'
import { serviceIdentity } from '../../governance/service/identity.js'
import { jsonOf, smallBody, type Call, type Operation, type QueryField } from '../operation.js'
import { requestOfQuery } from '../query.js'

const revoke = async ({ gov, session, asked: { params } }: Call): Promise<unknown> => {
  const done = await revokeDevice(gov, session, params['device_id'] ?? '')
  if (done.recorded === null || done.recorded.why === null) await recoverState(gov)
  return edgeRevoke.answer(done)
}

const offer = async ({ gov, session, asked }: Call): Promise<unknown> => {
  const { name, limits } = edgePair.request(jsonOf(asked))
  const { origin, pin } = serviceIdentity(gov)
  return edgeOffer.answer(await offerPairing(gov, session, { origin, pin, name, limits }))
}

const artifactsPath = '/api/edge/artifacts'

const artifactFields: readonly QueryField[] = [
  { name: 'device', what: 'Only what this device sent.', kind: 'text' },
  { name: 'limit', what: 'At most so many (default 100).', kind: 'integer' },
  { name: 'before', what: 'Only those that came before this one.', kind: 'text' },
]

const artifacts = async ({ gov, session, asked }: Call): Promise<unknown> => {
  const request = edgeArtifactList.request(requestOfQuery(asked, artifactFields))
  const page = edgeArtifacts(gov.store.read(), session, request)
  const nextPage = page.next === null ? null
    : `${artifactsPath}?${new URLSearchParams({ ...asked.query, before: page.next }).toString()}`
  return edgeArtifactList.answer({ ...page, nextPage })
}

/** The operations. */
export const edgeOperations: readonly Operation[] = [
  {
    contract: edgeDevices, method: 'GET', path: '/api/edge/devices',
    summary: 'Your paired devices, newest first.', verb: 'edge list', mode: 'read', body: null,
    status: 200, where: 'here',
    run: async ({ gov, session }) =>
      edgeDevices.answer(listDevices(gov.store.read(), session)),
  },
  {
    contract: edgeRevoke, method: 'POST', path: '/api/edge/devices/{device_id}/revoke',
    summary: 'Ends the pairing of a device, at the next byte of what it sends.',
    verb: 'edge revoke', mode: 'write', body: null, status: 200, where: 'here', run: revoke,
  },
  {
    contract: edgeOffer, method: 'POST', path: '/api/edge/codes',
    summary: 'The line by which one device pairs itself: a secret of ten minutes.',
    verb: 'edge pair', mode: 'mutate', status: 201, where: 'here', run: offer,
    body: {
      shape: edgePair.input, name: edgePair.inputName, required: true, bytesMax: smallBody,
    },
  },
  {
    contract: edgeArtifactList, method: 'GET', path: artifactsPath,
    summary: 'What your devices sent, newest first: facts alone.', verb: 'edge artifacts',
    mode: 'read', body: null, query: artifactFields, status: 200, where: 'here', run: artifacts,
  },
]
