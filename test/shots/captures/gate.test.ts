/** The whole rule of what of a device may leave, on rows alone. */
import t from 'tap'
import { endedDevices, everyEnd } from '../../../src/governance/devices.js'
import { collections } from '../../../src/governance/rows.js'
import type { CaptureStanding, StoredCaptures } from '../../../src/observations/captures.js'
import {
  captureReason, captureReasonNow, isFinalOfCapture, namesInForce, placeReason,
} from '../../../src/shots/captures/gate.js'
import {
  shotCollections, type CaptureOf,
} from '../../../src/shots/observations/observation-rows.js'
import { devicePlace } from '../../../src/shots/source/folder-digest.js'
import {
  settingsCollection, unsetSettings, type NamedDevices,
} from '../../../src/shots/source/settings.js'
import type { View } from '../../../src/state/types.js'

const named: NamedDevices = {
  consent_id: 'con_1', owner: 'prn_1', outlived: null,
  named: [{ device_id: 'edge_dev_1', above_sequence: 4 }],
}
const kept: CaptureOf = {
  owner: 'prn_1', device_id: 'edge_dev_1', device_name: 'camera', artifact_id: 'edge_art_1',
  sequence: 5,
}
const edge: CaptureOf = { ...kept, may_leave: true }

/** Rows of a state in which the capture may leave, and what is different. */
interface Rows {
  readonly devices?: NamedDevices | null
  readonly ended?: readonly string[]
  readonly disabled_at?: string | null
  readonly noOwner?: true
}

const viewOf = ({ devices = named, ended = [], disabled_at = null, noOwner }: Rows = {}): View => ({
  get: ({ name }: { readonly name: string }, id: string) => {
    if (name === settingsCollection.name) return { ...unsetSettings, devices }
    if (name === collections.defaults.name) return { principal_id: 'prn_1' }
    if (name === collections.principals.name) {
      return noOwner ? undefined : { principal_id: id, disabled_at }
    }
    if (name === shotCollections.folders.name) {
      return [devicePlace('edge_dev_1')].map(({ folder, folderDigest }) =>
        (id === folderDigest ? { root: folder } : undefined))[0]
    }
    if (name === endedDevices.name && ended.includes(id)) return { ended_at: 'then' }
    return undefined
  },
} as never)

t.test('S-042 S-043 a capture may leave where each of these holds, and stays for the want of any', async (t) => {
  t.equal(captureReason(viewOf(), edge, 'con_1'), null)
  for (const [reason, view, capture, consent] of [
    ['from_device', viewOf(), kept, 'con_1'],
    ['device_not_named', viewOf({ devices: null }), edge, 'con_1'],
    ['device_not_named', viewOf(), { ...edge, device_id: 'edge_dev_2' }, 'con_1'],
    ['device_not_named', viewOf(), { ...edge, owner: 'prn_2' }, 'con_1'],
    ['device_not_named', viewOf(), edge, 'con_2'],
    ['device_not_named', viewOf(), edge, null],
    ['before_device_named', viewOf(), { ...edge, sequence: 4 }, 'con_1'],
    ['device_ended', viewOf({ ended: ['edge_dev_1'] }), edge, 'con_1'],
    ['device_ended', viewOf({ ended: ['every'] }), edge, 'con_1'],
    ['device_ended', viewOf({ disabled_at: 'then' }), edge, 'con_1'],
    ['device_ended', viewOf({ noOwner: true }), edge, 'con_1'],
  ] as const) t.equal(captureReason(view, capture, consent), reason)
  const since = viewOf({ ended: ['every'], devices: { ...named, outlived: 'then' } })
  t.equal(everyEnd(since), 'then')
  t.equal(captureReason(since, edge, 'con_1'), null, 'named behind the end of all')
})

t.test('the rows of the edge themselves have the last word, and only of this very capture', async (t) => {
  const standing: CaptureStanding = {
    deviceId: 'edge_dev_1', owner: 'prn_1', sequence: 5, sha256: 'a', mayLeave: true, stands: true,
  }
  const reasonOf = (stored: CaptureStanding | null, view = viewOf()) => captureReasonNow(view, {
    shelf: { standing: () => stored } as unknown as StoredCaptures,
    row: { sha256: 'a', edge },
  }, 'con_1')
  t.equal(reasonOf(standing), null)
  t.equal(reasonOf(standing, viewOf({ devices: null })), 'device_not_named')
  t.equal(reasonOf(null), 'from_device')
  for (const other of [
    { deviceId: 'edge_dev_2' }, { owner: 'prn_2' }, { sequence: 6 }, { sha256: 'b' },
    { mayLeave: false },
  ]) t.equal(reasonOf({ ...standing, ...other }), 'from_device')
  t.equal(reasonOf({ ...standing, stands: false }), 'device_ended')
})

t.test('what nothing takes away from a capture is told apart from what another naming changes', async (t) => {
  for (const reason of ['from_device', 'before_device_named', 'device_ended']) {
    t.ok(isFinalOfCapture(reason))
  }
  for (const reason of ['device_not_named', 'analysis_off', null, undefined]) {
    t.notOk(isFinalOfCapture(reason))
  }
})

t.test('S-042 S-043 a name is in force, and the place of its device is open, under its consent and while its pairing stands', async (t) => {
  const open = (view: View, consent: string | null): readonly unknown[] => [
    namesInForce(view, consent).length,
    placeReason(view, devicePlace('edge_dev_1').folderDigest, consent),
  ]
  t.strictSame(open(viewOf(), 'con_1'), [1, null])
  for (const [reason, view, consent] of [
    ['device_not_named', viewOf({ devices: null }), 'con_1'],
    ['device_not_named', viewOf(), 'con_2'],
    ['device_not_named', viewOf(), null],
    ['device_ended', viewOf({ ended: ['edge_dev_1'] }), 'con_1'],
    ['device_ended', viewOf({ ended: ['every'] }), 'con_1'],
    ['device_ended', viewOf({ disabled_at: 'then' }), 'con_1'],
  ] as const) t.strictSame(open(view, consent), [0, reason])
  t.equal(placeReason(viewOf(), 'of-a-folder', null), null)
})
