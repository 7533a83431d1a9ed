/** What must hold of the rows of the paired edge. */
import type { Problem } from '../governance/context.js'
import { each } from '../state/each.js'
import type { View } from '../state/types.js'
import { edgeCollections, type EdgeDevice } from './edge-rows.js'

/** What the artifacts of a device add up to. */
export interface Counted {
  readonly items: number
  readonly bytes: number
  /** Highest sequence; 0 where there is none. */
  readonly last: number
}

const none: Counted = { items: 0, bytes: 0, last: 0 }

interface Tally {
  readonly counted: ReadonlyMap<string, Counted>
  readonly problems: readonly Problem[]
}

const tally = (view: View): Tally => {
  const counted = new Map<string, Counted>()
  const seen = new Set<string>()
  const problems: Problem[] = []
  for (const { id, doc } of each(view, edgeCollections.artifacts)) {
    const { device_id: device, request_id: request, sequence, ref: { bytes } } = doc
    const before = counted.get(device) ?? none
    counted.set(device, {
      items: before.items + 1, bytes: before.bytes + bytes, last: Math.max(before.last, sequence),
    })
    for (const key of [`${device}/${request}`, `${device}#${sequence}`]) {
      if (seen.has(key)) {
        const text = 'Two uploads of a device have one request id or one sequence.'
        problems.push({ code: 'edge_upload_doubled', subject: id, text })
      }
      seen.add(key)
    }
  }
  return { counted, problems }
}

/** What the artifacts of each device add up to, by its id. */
export const countArtifacts = (view: View): ReadonlyMap<string, Counted> => tally(view).counted

const ofDevice = (device: EdgeDevice, { items, bytes, last }: Counted): Problem[] => {
  const { device_id: subject, stored, last_sequence: sequence } = device
  const problems: Problem[] = []
  if (stored.items !== items || stored.bytes !== bytes) {
    const text = 'The counters of a device are not what its uploads add up to.'
    problems.push({ code: 'edge_counters_differ', subject, text })
  }
  if (sequence < last) {
    const text = 'An upload has a sequence above the last one that its device knows.'
    problems.push({ code: 'edge_sequence_ahead', subject, text })
  }
  return problems
}

/** Devices and their uploads tell the same; every upload has its device. */
export const verifyEdge = (view: View): readonly Problem[] => {
  const { counted, problems } = tally(view)
  const devices = view.all(edgeCollections.devices).map(({ doc }) => doc)
  const known = new Map(devices.map((device) => [device.device_id, device]))
  const orphans = [...counted.keys()].filter((id) => !known.has(id)).map((subject) => ({
    code: 'edge_device_missing', subject, text: 'Uploads belong to a device that is not there.',
  }))
  return [
    ...problems, ...orphans,
    ...devices.flatMap((device) => ofDevice(device, counted.get(device.device_id) ?? none)),
  ]
}
