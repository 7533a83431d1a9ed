/** A device whose captures may leave, and what is looked at when they are asked about. */
import type { LimitWishes } from '../../../src/edge/edge-contract.js'
import type { Observation } from '../../../src/shots/observations/observation-rows.js'
import { forImages } from '../../world/gateway.js'
import { allowed } from '../../world/images.js'
import { World, type AnalysisWorld } from '../../world/world.js'
import { must } from '../must.js'
import { nextImage, sent } from '../shots.js'
import { cameraOf, captured, takeIn, type Camera } from './captured.js'

/** Both kinds of egress. */
export const bothEgress = { cloud_egress: true, model_egress: true } as const

/** A world in which an image of the folder would be sent. */
export const openWorld = async (test: Parameters<typeof World.in>[0]): Promise<AnalysisWorld> =>
  World.in(test).sandbox().state().session().gateway(forImages).images(allowed).proof('screenshot')

/** `shots setup --devices`, which must succeed. */
export const nameDevices = async (world: AnalysisWorld, ...ids: string[]): Promise<void> =>
  void must(await world.run(['shots', 'setup', '--json', '--devices', ...ids]))

/** A paired device that is named. */
export const namedCamera = async (
  world: AnalysisWorld, limits: LimitWishes = bothEgress,
): Promise<Camera> => {
  const camera = await cameraOf(world, limits)
  await nameDevices(world, camera.id)
  return camera
}

/** A capture that was uploaded with these wishes, and taken in. */
export const takenCapture = async (
  world: AnalysisWorld, camera: Camera, { afterMs, policy = bothEgress }: {
    readonly afterMs?: number
    readonly policy?: { readonly cloud_egress: boolean, readonly model_egress: boolean }
  } = {},
): Promise<Observation> => {
  const body = nextImage()
  const { artifact_id: id } = await camera.store(body, afterMs, { policy })
  await takeIn(world)
  const row = captured(world).find(({ edge }) => edge?.artifact_id === id)
  if (row === undefined) throw new Error('it is taken in')
  return row
}

/** The same row as it is now. */
export const rowNow = (world: AnalysisWorld, { observation_id: id }: Observation): Observation => {
  const row = world.rows().find((one) => one.observation_id === id)
  if (row === undefined) throw new Error('it is there')
  return row
}

const manual = ['--reason', 'manual_operator_request']

/** Every verb that could send a capture; gives how many pictures went out. */
export const askEveryWay = async (world: AnalysisWorld, row: Observation): Promise<number> => {
  const before = sent(world)
  for (const line of [
    ['shots', 'analyze'], ['shots', 'analyze', '--include', 'unsettled'],
    ['shots', 'reanalyze', row.observation_id, ...manual],
    ['shots', 'reanalyze', '--blocked', ...manual, '--yes'],
    ['shots', 'reanalyze', '--failed', '--reason', 'provider_failure_retry', '--yes'],
    ['shots', 'run', '--once'],
  ]) await world.run([...line, '--json'])
  return sent(world) - before
}
