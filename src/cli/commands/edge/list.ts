/** `sallyport edge list`: the operator's paired devices. */
import { edgeDevices } from '../../../edge/contract.js'
import { listDevices } from '../../../edge/pairing.js'
import { renderTable } from '../../table.js'
import { bytesText } from '../../text.js'
import { verb } from '../../verb.js'

export const list = verb(edgeDevices, {
  summary: 'your paired devices, newest first',
  description:
    'Lists the devices that you paired: what they stored, the last sequence that was accepted, '
    + 'when they last sent, how many captures left their spool unsent as far as they told, and '
    + 'whether their pairing has ended.',
  examples: ['$ sallyport edge list', '$ sallyport edge list --json'],
  session: 'required',
  damage: 'refuses',
  exits: ['unauthorized', 'no_state', 'damaged'],
  text: (devices, view) => (devices.length === 0
    ? 'No device is paired. Pair one: sallyport edge pair\n'
    : renderTable(view, ['device', 'name', 'last upload', 'last', 'stored', 'evicted', 'state'],
      devices.map((one) => [
        view.id(one.device_id), view.foreign(one.device_name), one.last_upload_at ?? 'never',
        String(one.last_sequence), `${one.stored.items}, ${bytesText(one.stored.bytes)}`,
        one.spool_evictions === null ? 'none told' : String(one.spool_evictions),
        one.revoked ? `ended (${one.ended_reason ?? 'revoked'})` : 'paired',
      ]))),
  run: async (_request, deps) => {
    const { gov, session } = await deps.login('read')
    return listDevices(gov.store.read(), session)
  },
})
